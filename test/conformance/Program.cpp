#include "Program.h"

#include "ProgramPtx.h"

#include "dlc/runtime/SimAbi.h"

#include <array>
#include <cstring>
#include <iterator>

namespace dlc::test {

namespace {

constexpr int64_t kCount = Program::kCount, kOdd = Program::kOdd, kBytes = 4 * kCount;
enum Arena { kParameters, kBuffers, kScratch, kConstants };
enum Kernel { kAdd, kScale, kBackwards, kDeadlock };

// The cpu's entries.

void scaleRange(void *const *pointers, const int64_t *, int64_t lo, int64_t hi) {
  for (int64_t i = lo; i < hi; ++i)
    static_cast<float *>(pointers[2])[i] =
        *static_cast<const float *>(pointers[1]) * static_cast<const float *>(pointers[0])[i];
}

int32_t stepOnCpu(const DlcFrame *frame) {
  auto *w = reinterpret_cast<float *>(frame->arenas[kParameters]);
  const auto *x = static_cast<const float *>(frame->arguments[0].data);
  for (int64_t i = 0; i < kCount; ++i)
    w[i] += x[i];
  void *pointers[] = {w, frame->arenas[kConstants], frame->results[0].data};
  frame->api->parallelFor(frame->executor, kCount, 8, scaleRange, pointers, nullptr);
  return DLC_OK;
}

int32_t reverseOnCpu(const DlcFrame *frame) {
  for (int64_t i = 0; i < kOdd; ++i)
    static_cast<char *>(frame->results[0].data)[i] = static_cast<const char *>(frame->arguments[0].data)[kOdd - 1 - i];
  return DLC_OK;
}

int32_t refused(const DlcFrame *frame) { return frame->api->fail(frame->executor, DLC_INTERNAL, 2, 7); }
int32_t nothing(const DlcFrame *) { return DLC_OK; }

int32_t branchOnCpu(const DlcFrame *frame) {
  auto *w = reinterpret_cast<float *>(frame->arenas[kParameters]);
  const auto *x = static_cast<const float *>(frame->arguments[0].data);
  bool positive = w[0] + x[0] > 0;
  for (int64_t i = 0; i < kCount; ++i) {
    float next = w[i] + x[i];
    w[i] = positive ? 2 * next : next + x[i];
  }
  std::memcpy(frame->results[0].data, w, kBytes);
  return DLC_OK;
}

constexpr DlcEntry kEntries[] = {stepOnCpu, reverseOnCpu, refused, nothing, nothing, branchOnCpu};

// Those of devices.

int32_t stepOnDevice(const DlcFrame *frame) {
  void *w = frame->arenas[kParameters], *scratch = frame->arenas[kScratch];
  void *add[] = {w, frame->arguments[0].data};
  if (int32_t code = frame->api->launch(frame->executor, kAdd, add))
    return code;
  if (int32_t code = frame->api->copy(frame->executor, scratch, w, kBytes))
    return code;
  void *scale[] = {scratch, frame->arenas[kConstants], frame->results[0].data};
  return frame->api->launch(frame->executor, kScale, scale);
}

int32_t reverseOnDevice(const DlcFrame *frame) {
  void *pointers[] = {frame->arguments[0].data, frame->results[0].data};
  return frame->api->launch(frame->executor, kBackwards, pointers);
}

int32_t stuck(const DlcFrame *frame) {
  void *pointers[] = {frame->arguments[0].data};
  return frame->api->launch(frame->executor, kDeadlock, pointers);
}

int32_t outside(const DlcFrame *frame) {
  void *pointers[] = {frame->arenas[kParameters] + 64, frame->arenas[kScratch]};
  return frame->api->launch(frame->executor, kAdd, pointers);
}

// Both branches begin with the same copy.
int32_t branchOnDevice(const DlcFrame *frame) {
  const DlcApi &api = *frame->api;
  void *w = frame->arenas[kParameters], *scratch = frame->arenas[kScratch], *y = frame->results[0].data;
  void *add[] = {w, frame->arguments[0].data};
  void *scale[] = {scratch, frame->arenas[kConstants], w};
  float first = 0;
  int32_t code = api.launch(frame->executor, kAdd, add);
  if (code == DLC_OK)
    code = api.copy(frame->executor, scratch, w, kBytes);
  if (code == DLC_OK)
    code = api.fetch(frame->executor, &first, scratch, 4);
  if (code == DLC_OK)
    code = api.copy(frame->executor, scratch, w, kBytes);
  if (code == DLC_OK)
    code = first > 0 ? api.launch(frame->executor, kScale, scale) : api.launch(frame->executor, kAdd, add);
  return code == DLC_OK ? api.copy(frame->executor, y, w, kBytes) : code;
}

constexpr DlcEntry kDeviceEntries[] = {stepOnDevice, reverseOnDevice, refused, stuck, outside, branchOnDevice};

// The kernels for sim; one call is one thread.

const DlcSimApi *services = nullptr;

int64_t indexOf(const DlcSimThread *self) { return int64_t(self->block[0]) * self->blockSize[0] + self->thread[0]; }

void add(void *const *pointers) {
  int64_t i = indexOf(services->self());
  if (i < kCount)
    static_cast<float *>(pointers[0])[i] += static_cast<const float *>(pointers[1])[i];
}

void scale(void *const *pointers) {
  int64_t i = indexOf(services->self());
  if (i < kCount)
    scaleRange(pointers, nullptr, i, i + 1);
}

// Through shared memory: each thread of the one block brings bytes and takes others' after a barrier.
void backwards(void *const *pointers) {
  DlcSimThread *self = services->self();
  auto *bytes = static_cast<char *>(services->shared(self, kOdd));
  for (int64_t i = self->thread[0]; i < kOdd; i += self->blockSize[0])
    bytes[i] = static_cast<const char *>(pointers[0])[i];
  services->barrier(self, nullptr);
  for (int64_t i = self->thread[0]; i < kOdd; i += self->blockSize[0])
    static_cast<char *>(pointers[1])[i] = bytes[kOdd - 1 - i];
}

void deadlock(void *const *) {
  DlcSimThread *self = services->self();
  if (self->thread[0] != 5)
    services->barrier(self, nullptr);
}

constexpr DlcSimKernel kSimKernels[] = {add, scale, backwards, deadlock};

constexpr DlcDeviceCode kCudaCode = {"sm_80", "ptx", kProgramPtx, sizeof kProgramPtx - 1};

struct Initial {
  alignas(64) std::array<float, 16> c = {2};
  std::array<float, 4> b = {1, 2, 3, 4};
};
constexpr Initial kInitial;

Manifest makeManifest(Program::Targets targets) {
  Manifest manifest;
  manifest.compiler = "test";
  manifest.cpu = "x86-64-v3";
  manifest.targets.clear();
  if (targets.cpu)
    manifest.targets.emplace_back("cpu");
  if (targets.sim)
    manifest.targets.emplace_back("sim");
  if (targets.cuda)
    manifest.targets.emplace_back("sm_80");
  manifest.arenas = {{"parameter.f32", "parameter", 4032, 0},
                     {"buffer.f32", "buffer", 128, 0},
                     {"activation", "activation", 4032, 0},
                     {"constant", "constant", 64, 0}};
  InitialValue uniform{InitialValue::Kind::Uniform, -1, 1, 3, nullptr};
  InitialValue given{InitialValue::Kind::Data, 0, 0, offsetof(Initial, b), nullptr};
  manifest.variables = {{"w", {DType::F32, {kCount}}, "parameter", kParameters, 0, uniform},
                        {"b", {DType::F32, {4}}, "buffer", kBuffers, 64, given}};
  TensorType floats{DType::F32, {kCount}}, bytes{DType::I8, {kOdd}};
  manifest.entries = {{"step", {{"x", floats}}, {{"y", floats}}, 0},
                      {"reverse", {{"x", bytes}}, {{"y", bytes}}, 0},
                      {"refused", {}, {}, 0},
                      {"stuck", {{"x", {DType::F32, {4}}}}, {}, 0},
                      {"outside", {}, {}, 0},
                      {"branch", {{"x", floats}}, {{"y", floats}}, 0}};
  manifest.sites = {{"dl.add", "model.cpp", 10, 3}, {"dl.mul", "model.cpp", 20, 3}, {"dl.gather", "model.cpp", 30, 3}};
  if (targets.sim || targets.cuda)
    manifest.kernels = {
        {"k0", {4, 1, 1}, {256, 1, 1}, 0, {{kBytes, Access::ReadWrite}, {kBytes, Access::Read}}, 0},
        {"k1", {4, 1, 1}, {256, 1, 1}, 0, {{kBytes, Access::Read}, {4, Access::Read}, {kBytes, Access::Write}}, 1},
        {"k2", {1, 1, 1}, {100, 1, 1}, kOdd, {{kOdd, Access::Read}, {kOdd, Access::Write}}, 1},
        {"k3", {1, 1, 1}, {64, 1, 1}, 0, {{16, Access::Read}}, 2}};
  return manifest;
}

} // namespace

StatusOr<std::shared_ptr<const Executable>> Program::make(Targets targets) {
  struct Owned {
    std::string text;
    DlcImage image{};
  };
  auto owned = std::make_shared<Owned>();
  Manifest manifest = makeManifest(targets);
  owned->text = manifest.toJson();
  DlcImage &image = owned->image;
  image.abi = DLC_ABI_VERSION;
  image.entryCount = uint32_t(manifest.entries.size());
  image.manifest = owned->text.data();
  image.manifestBytes = owned->text.size();
  image.initial = &kInitial;
  image.initialBytes = sizeof kInitial;
  if (targets.cpu)
    image.entries = kEntries;
  if (targets.sim || targets.cuda)
    image.deviceEntries = kDeviceEntries;
  if (targets.cuda) {
    image.deviceCode = &kCudaCode;
    image.deviceCodeCount = 1;
  }
  if (targets.sim) {
    image.simKernels = kSimKernels;
    image.simKernelCount = std::size(kSimKernels);
    image.simApi = &services;
  }
  return Executable::fromImage(image, owned);
}

} // namespace dlc::test
