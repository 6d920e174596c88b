#include "dlc/runtime/Session.h"
#include "../../TestFile.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

using namespace dlc;

namespace {

// A program written by hand: variable w (f32[4]) += x, result = sum of w over 1000 ranges of a parallel loop.
void addRange(void *const *pointers, const int64_t *, int64_t lo, int64_t hi) {
  auto *counts = static_cast<int32_t *>(pointers[0]);
  for (int64_t i = lo; i < hi; ++i)
    ++counts[i];
}

int32_t step(const DlcFrame *frame) {
  auto *w = reinterpret_cast<float *>(frame->arenas[0]);
  auto *counts = reinterpret_cast<int32_t *>(frame->arenas[1]);
  const auto *x = static_cast<const float *>(frame->arguments[0].data);
  std::memset(counts, 0, 1000 * sizeof(int32_t));
  void *pointers[] = {counts};
  frame->api->parallelFor(frame->executor, 1000, 7, addRange, pointers, nullptr);
  float sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += w[i] += x[i];
  for (int i = 0; i < 1000; ++i)
    if (counts[i] != 1)
      return frame->api->fail(frame->executor, DLC_INTERNAL, 0, i);
  *static_cast<float *>(frame->results[0].data) = sum;
  return DLC_OK;
}

int32_t broken(const DlcFrame *frame) { return frame->api->fail(frame->executor, DLC_INTERNAL, 0, 5); }

constexpr DlcEntry kEntries[] = {step, broken};
constexpr std::array<float, 4> kInitial = {1, 2, 3, 4};

Manifest makeManifest() {
  Manifest manifest;
  manifest.compiler = "test";
  manifest.cpu = "x86-64-v3";
  manifest.arenas = {{"parameter.f32", "parameter", 64, 0}, {"activation", "activation", 4096, 0}};
  InitialValue init;
  init.kind = InitialValue::Kind::Data;
  manifest.variables = {{"w", {DType::F32, {4}}, "parameter", 0, 0, init}};
  manifest.entries = {{"step", {{"x", {DType::F32, {4}}}}, {{"loss", {DType::F32, {}}}}, 4160}, {"broken", {}, {}, 0}};
  manifest.sites = {{"dl.add", "model.cpp", 12, 3}};
  return manifest;
}

StatusOr<std::shared_ptr<const Executable>> makeExecutable(const Manifest &manifest) {
  struct Owned {
    std::string text;
    DlcImage image;
  };
  auto owned = std::make_shared<Owned>();
  owned->text = manifest.toJson();
  owned->image = {DLC_ABI_VERSION,
                  2,
                  owned->text.data(),
                  owned->text.size(),
                  kEntries,
                  kInitial.data(),
                  16,
                  nullptr,
                  nullptr,
                  0,
                  nullptr,
                  nullptr,
                  0};
  return Executable::fromImage(owned->image, owned);
}

struct SessionTest : testing::Test {
  std::unique_ptr<Session> session = Session::create({.threads = 3}).take();
  std::shared_ptr<Session::Program> program = session->attach(makeExecutable(makeManifest()).take()).take();

  float run(std::array<float, 4> x) {
    float loss = -1;
    DlcBuffer argument{x.data(), 16}, result{&loss, 4};
    Status status = program->call(0, {&argument, 1}, {&result, 1});
    EXPECT_TRUE(status.ok()) << status.message();
    return loss;
  }
};

TEST_F(SessionTest, StateLivesAcrossCalls) {
  EXPECT_EQ(run({1, 1, 1, 1}), 14);
  EXPECT_EQ(run({0, 0, 0, 1}), 15);
  EXPECT_EQ(session->find("w")->type.str(), "f32[4]");
  EXPECT_EQ(static_cast<const float *>(session->find("w")->data)[3], 6);
}

TEST_F(SessionTest, ManyParallelLoopsOnThreeThreads) {
  for (int i = 0; i < 2000; ++i)
    run({0, 0, 0, 0});
}

TEST_F(SessionTest, WrongSizesAreRefusedBeforeTheCall) {
  float loss = 0;
  DlcBuffer argument{&loss, 4}, result{&loss, 4};
  EXPECT_EQ(program->call(0, {&argument, 1}, {&result, 1}).message(),
            "step: argument 'x' is f32[4] of 16 bytes, got 4");
  EXPECT_EQ(program->call(0, {}, {&result, 1}).message(), "step: expected 1 arguments, got 0");
}

TEST_F(SessionTest, AFailedCallNamesTheSiteAndPoisonsTheSession) {
  EXPECT_EQ(program->call(1, {}, {}).message(), "model.cpp:12: dl.add: failed with code 3");
  EXPECT_EQ(program->call(1, {}, {}).message(),
            "broken: an earlier call failed in the middle of a step; load a checkpoint");
}

TEST_F(SessionTest, SaveAndLoadRestoreTheState) {
  test::TemporaryFolder folder;
  std::string path = folder.file("session.safetensors");
  ASSERT_TRUE(session->save(path).ok());
  run({10, 10, 10, 10});
  ASSERT_TRUE(session->load(path).ok());
  EXPECT_EQ(run({0, 0, 0, 0}), 10);
}

TEST_F(SessionTest, LoadListsAllFaultsAndChangesNothing) {
  test::TemporaryFolder folder;
  std::string path = folder.file("other.safetensors");
  std::array<float, 3> data = {7, 7, 7};
  std::vector<TensorView> tensors = {{"w", DType::F32, {3}, data.data()}, {"head.bias", DType::F32, {1}, data.data()}};
  ASSERT_TRUE(writeSafetensors(path, tensors).ok());
  Status status = session->load(path);
  EXPECT_EQ(status.code(), StatusCode::InvalidInput);
  EXPECT_NE(status.message().find("unexpected: head.bias"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("w is f32[4], the file has f32[3]"), std::string::npos) << status.message();
  EXPECT_EQ(run({0, 0, 0, 0}), 10);
}

TEST_F(SessionTest, ASecondProgramSharesStateOrIsRefused) {
  std::shared_ptr<Session::Program> first = program;
  auto second = session->attach(makeExecutable(makeManifest()).take());
  ASSERT_TRUE(second.ok());
  run({1, 0, 0, 0});
  program = second.take();
  EXPECT_EQ(run({0, 0, 0, 0}), 11);
  Manifest moved = makeManifest();
  moved.variables[0].type.shape = {2, 2};
  EXPECT_EQ(session->attach(makeExecutable(moved).take()).status().message(),
            "state layout differs at variable 'w': f32[4] in the session, in this program f32[2,2]");
}

TEST_F(SessionTest, ScratchGrowsForAllPrograms) {
  Manifest larger = makeManifest();
  larger.arenas[1].bytes = 1 << 20;
  ASSERT_TRUE(session->attach(makeExecutable(larger).take()).ok());
  EXPECT_EQ(run({0, 0, 0, 0}), 10);
}

TEST(Session, RefusesMoreMemoryThanThereIs) {
  Manifest manifest = makeManifest();
  manifest.arenas[1].bytes = int64_t(1) << 45;
  auto session = Session::create({.threads = 1}).take();
  Status status = session->attach(makeExecutable(manifest).take()).status();
  EXPECT_EQ(status.code(), StatusCode::LimitExceeded);
  EXPECT_NE(status.message().find("out of memory: arena 'activation' needs 35184372088832 bytes"), std::string::npos);
}

// An image of ABI 1.0 ends before the tables of devices; the address sanitizer sees who reads on.
TEST(Executable, OlderImagesAreReadNoFurtherThanTheyGo) {
  std::string text = makeManifest().toJson();
  constexpr size_t kSize = offsetof(DlcImage, deviceEntries);
  std::shared_ptr<void> memory(std::malloc(kSize), std::free);
  DlcImage image{};
  image.abi = 1U << 16U;
  image.entryCount = 2;
  image.manifest = text.data();
  image.manifestBytes = text.size();
  image.entries = kEntries;
  image.initial = kInitial.data();
  image.initialBytes = 16;
  std::memcpy(memory.get(), &image, kSize);
  auto executable = Executable::fromImage(*static_cast<const DlcImage *>(memory.get()), memory);
  ASSERT_TRUE(executable.ok()) << executable.status().message();
  EXPECT_FALSE((*executable)->hasDeviceEntries());
  EXPECT_TRUE((*executable)->simKernels().empty());
  EXPECT_TRUE((*executable)->deviceCode().empty());
  EXPECT_TRUE(Session::create({.threads = 1}).value()->attach(*executable).ok());
}

TEST(Executable, RefusesAManifestWithMoreKernelsThanTheImage) {
  Manifest manifest = makeManifest();
  manifest.targets = {"sim"};
  manifest.kernels.resize(2);
  manifest.kernels[0].name = "k0_0";
  manifest.kernels[1].name = "k1_0";
  std::string text = manifest.toJson();
  constexpr DlcSimKernel kKernels[] = {[](void *const *) {}};
  const DlcSimApi *services = nullptr;
  DlcImage image{};
  image.abi = DLC_ABI_VERSION;
  image.entryCount = 2;
  image.manifest = text.data();
  image.manifestBytes = text.size();
  image.deviceEntries = kEntries;
  image.initial = kInitial.data();
  image.initialBytes = 16;
  image.simKernels = kKernels;
  image.simKernelCount = 1;
  image.simApi = &services;
  EXPECT_EQ(Executable::fromImage(image, nullptr).status().message(), "the manifest names 2 kernels, the image has 1");
}

TEST(Executable, RefusesAFileThatIsNoArtifact) {
  test::TemporaryFolder folder;
  std::string path = folder.file("not-an-artifact.so");
  FILE *file = std::fopen(path.c_str(), "w");
  std::fputs("hello", file);
  std::fclose(file);
  EXPECT_EQ(Executable::load(path).status().message(),
            path + ": not a dlc artifact: expected an ELF file, found 5 bytes of something else");
}

TEST(Executable, RefusesASharedObjectThatIsNotSelfContained) {
  Status status = Executable::load(DLC_RUNTIME_LIBRARY).status();
  EXPECT_NE(status.message().find("not a dlc artifact: it has an undefined symbol"), std::string::npos)
      << status.message();
}

} // namespace
