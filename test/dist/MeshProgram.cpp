#include "MeshProgram.h"

#include <array>
#include <cstring>
#include <string>

namespace dlc::test {

namespace {

enum Arena { kParameters, kCoordinates, kScratch };
enum Collective : uint32_t { kSum, kGather };

int64_t bytesOf(const DlcFrame *frame) { return frame->arguments[0].bytes; }

// The same text for both kinds of devices: `copy` is all that differs.
template <typename Copy>
int32_t step(const DlcFrame *frame, bool reversed, Copy copy) {
  const DlcApi &api = *frame->api;
  char *sum = frame->arenas[kScratch], *w = frame->arenas[kParameters];
  if (int32_t code = copy(sum, frame->arguments[0].data, bytesOf(frame)))
    return code;
  auto start = [&](Collective which) {
    return which == kSum
               ? api.collectiveStart(frame->executor, kSum, sum, sum)
               : api.collectiveStart(frame->executor, kGather, frame->arguments[0].data, frame->results[0].data);
  };
  if (int32_t code = start(reversed ? kGather : kSum))
    return code;
  if (int32_t code = start(reversed ? kSum : kGather))
    return code;
  if (int32_t code = api.collectiveWait(frame->executor, kGather))
    return code;
  if (int32_t code = api.collectiveWait(frame->executor, kSum))
    return code;
  if (int32_t code = copy(w, sum, bytesOf(frame)))
    return code;
  return copy(frame->results[1].data, frame->arenas[kCoordinates], 8);
}

template <bool Reversed>
int32_t stepOnCpu(const DlcFrame *frame) {
  return step(frame, Reversed, [](void *to, const void *from, int64_t bytes) {
    std::memcpy(to, from, size_t(bytes));
    return int32_t(DLC_OK);
  });
}

template <bool Reversed>
int32_t stepOnDevice(const DlcFrame *frame) {
  return step(frame, Reversed, [&](void *to, const void *from, int64_t bytes) {
    return frame->api->copy(frame->executor, to, from, bytes);
  });
}

int32_t broken(const DlcFrame *frame) {
  char *sum = frame->arenas[kScratch];
  if (int32_t code = frame->api->collectiveStart(frame->executor, kSum, sum, sum))
    return code;
  return frame->api->fail(frame->executor, DLC_INTERNAL, 2, 7);
}

constexpr std::array<DlcEntry, 2> kCpu = {stepOnCpu<false>, broken}, kCpuReversed = {stepOnCpu<true>, broken};
constexpr std::array<DlcEntry, 2> kDevice = {stepOnDevice<false>, broken},
                                  kDeviceReversed = {stepOnDevice<true>, broken};

Manifest manifestOf(const MeshProgram &program) {
  int64_t n = program.members, bytes = (4 * program.count + 63) / 64 * 64;
  Manifest manifest;
  manifest.compiler = "test";
  manifest.cpu = "x86-64-v3";
  manifest.targets = {"cpu", "sim"};
  manifest.arenas = {{"parameter.f32", "parameter", bytes, 0},
                     {"coordinate", "coordinate", 64, 0},
                     {"activation", "activation", bytes, 0}};
  InitialValue uniform{InitialValue::Kind::Uniform, -1, 1, 3, nullptr};
  manifest.variables = {{"w", {DType::F32, {program.count}}, "parameter", kParameters, 0, uniform},
                        {"mesh.data", {DType::I64, {}}, "coordinate", kCoordinates, 0, {}}};
  DimSharding split{{"data"}, {}};
  for (int64_t i = 0; i <= n; ++i)
    split.borders.push_back(i * program.count);
  ValueInfo x{"x", {DType::F32, {program.count}}, ShardingInfo{{n * program.count}, {split}}};
  manifest.entries = {{"step", {x}, {{"y", {DType::F32, {n * program.count}}}, {"index", {DType::I64, {}}}}, 0},
                      {"broken", {}, {}, 0}};
  manifest.sites = {
      {"dl.add", "model.cpp", 10, 3}, {"dl.reshard", "model.cpp", 20, 3}, {"dl.gather", "model.cpp", 30, 3}};
  manifest.mesh.axes = {{"data", n}};
  CollectiveInfo sum{
      .axes = {"data"}, .dtype = DType::F32, .count = program.count, .tensors = {"fc1.weight", "fc1.bias"}};
  CollectiveInfo gather = sum;
  gather.kind = CollectiveKind::AllGather;
  gather.channel = program.oneChannel ? 0 : 1;
  gather.tensors = {"logits"};
  gather.site = 1;
  manifest.collectives = {sum, gather};
  manifest.fingerprint = Fingerprint{std::string(64, program.otherProgram ? 'b' : 'a'), std::string(64, 'c')};
  return manifest;
}

} // namespace

StatusOr<std::shared_ptr<const Executable>> MeshProgram::make() const {
  struct Owned {
    std::string text;
    DlcImage image{};
  };
  auto owned = std::make_shared<Owned>();
  owned->text = manifestOf(*this).toJson();
  DlcImage &image = owned->image;
  image.abi = DLC_ABI_VERSION;
  image.entryCount = kCpu.size();
  image.manifest = owned->text.data();
  image.manifestBytes = owned->text.size();
  image.entries = (reversed ? kCpuReversed : kCpu).data();
  image.deviceEntries = (reversed ? kDeviceReversed : kDevice).data();
  return Executable::fromImage(image, owned);
}

} // namespace dlc::test
