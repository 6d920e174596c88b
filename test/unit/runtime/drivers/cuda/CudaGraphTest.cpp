// Steps in graphs between branches, where graphs fail: a message that says where, and then either the device has
// failed, or the session wants its state back, as after any step that ended in the middle.
#include "../../../../conformance/Program.h"
#include "../../../TestFile.h"

#include "dlc/runtime/Session.h"

#include <gmock/gmock.h>

#include <cstdlib>

using namespace dlc;
using namespace dlc::runtime;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

constexpr size_t kCount = test::Program::kCount;

/// Whose argument and result lie in one of several places of device memory.
struct Trainer {
  static constexpr size_t kPlaces = 12;

  Trainer() {
    setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 0);
    session = Session::create({.seed = 3, .device = {"cuda", 0}}).take();
    program = session->attach(test::Program::make().take()).take();
    memory = session->device().allocate("arguments", 8 * kPlaces * kCount).take();
    EXPECT_TRUE(session->write("w", std::as_bytes(std::span(w))).ok());
  }

  /// One step of the entry that fetches, and whether its values are right.
  Status step(float by, size_t place = 0) {
    std::vector<float> x(kCount, by), y(kCount, -1);
    char *base = memory.base() + place * 8 * kCount;
    DlcBuffer argument{base, 4 * kCount}, result{base + 4 * kCount, 4 * kCount};
    float next = w[0] + by;
    std::fill(w.begin(), w.end(), next > 0 ? 2 * next : next + by);
    Status status = session->upload(argument.data, x.data(), argument.bytes);
    if (status.ok())
      status = program->callOnDevice(test::Program::kBranch, {&argument, 1}, {&result, 1});
    if (status.ok())
      status = session->download(y.data(), result.data, result.bytes);
    return status.ok() && y != w ? Status(StatusCode::Internal, "wrong numbers") : status;
  }

  /// Both branches by turns and in rows, up to the first failure.
  Status steps(size_t places = 1) {
    Status status;
    for (size_t i = 0; i < 3 * places && status.ok(); ++i)
      for (float by : {8.0F, -64.0F, 64.0F, 1.0F, -256.0F, -1.0F, 512.0F})
        if (status.ok())
          status = step(by, i % places);
    return status;
  }

  Device &device() const { return session->device(); }

  std::unique_ptr<Session> session;
  std::shared_ptr<Session::Program> program;
  Arena memory;
  std::vector<float> w = std::vector<float>(kCount, 1); ///< expected
};

/// Runs with a failure of the fake driver.
Status stepsWith(Trainer &trainer, const std::string &failure, size_t places) {
  setenv("DLCFAKE_FAIL", failure.c_str(), 1);
  Status status = trainer.steps(places);
  unsetenv("DLCFAKE_FAIL");
  return status;
}

/// After a failure: what goes on without a new session, or with the device started anew.
void expectEndOrRecovery(Trainer &trainer, const Status &failed, const std::string &checkpoint) {
  Status device = trainer.device().failure(), next = trainer.step(1);
  if (!device.ok()) {
    EXPECT_EQ(next.message(), device.message());
    return;
  }
  EXPECT_EQ(next.message(), "branch: an earlier call failed in the middle of a step; load a checkpoint")
      << failed.message();
  ASSERT_TRUE(trainer.session->load(checkpoint).ok());
  std::fill(trainer.w.begin(), trainer.w.end(), 1.0F);
  EXPECT_EQ(trainer.steps().message(), "");
}

class CudaGraphs : public testing::TestWithParam<const char *> {};

TEST_P(CudaGraphs, AFailureOfAnEntryPointEndsAStepAndNoMore) {
  std::string name = GetParam(), checkpoint;
  test::TemporaryFolder folder;
  checkpoint = folder.file("start.safetensors");
  // Graphs are given back when others take their places.
  size_t places = name == "cuGraphExecDestroy" ? Trainer::kPlaces : 1;
  for (const char *result : {"304", "719"}) // its own, the device's
    for (int call = 1; call <= 3; ++call) { // of the segment before the fetch, and of each branch
      SCOPED_TRACE(std::to_string(call) + ":" + result);
      Device *device = nullptr;
      {
        Trainer trainer;
        device = &trainer.device();
        ASSERT_TRUE(trainer.session->save(checkpoint).ok());
        Status failed = stepsWith(trainer, name + ":" + std::to_string(call) + ":" + result, places);
        EXPECT_THAT(failed.message(), StartsWith("cuda:0: "));
        EXPECT_THAT(failed.message(), HasSubstr(name + ": CUDA_ERROR_"));
        expectEndOrRecovery(trainer, failed, checkpoint);
      }
      EXPECT_EQ(device->reset().message(), "");
      EXPECT_EQ(Trainer().steps().message(), "");
    }
}

INSTANTIATE_TEST_SUITE_P(Of, CudaGraphs,
                         testing::Values("cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate",
                                         "cuGraphLaunch", "cuGraphDestroy", "cuGraphExecDestroy"),
                         [](const auto &info) { return info.param; });

// The driver tells of a kernel in a graph when the host waits; the log begins again at each wait.
TEST(CudaSegments, AKernelsFailureIsLocatedInItsSegment) {
  Device *device = nullptr;
  {
    Trainer trainer;
    device = &trainer.device();
    ASSERT_EQ(trainer.steps().message(), "");
    setenv("DLCFAKE_FAIL", "cuStreamSynchronize:1:700", 1); // the fetch
    Status failed = trainer.step(1);
    unsetenv("DLCFAKE_FAIL");
    EXPECT_THAT(failed.message(), StartsWith("cuda:0: branch: model.cpp:10: dl.add: kernel 'k0': cuStreamSynchronize: "
                                             "CUDA_ERROR_ILLEGAL_ADDRESS"));
    EXPECT_EQ(trainer.step(1).message(), failed.message());
    EXPECT_FALSE(device->reset().ok());
  }
  EXPECT_EQ(device->reset().message(), "");
  EXPECT_EQ(Trainer().steps().message(), "");
}

// A failure that comes back while a graph is captured is one of work given before.
TEST(CudaSegments, WhatIsCapturedIsNotSuspected) {
  Device *device = nullptr;
  {
    Trainer trainer;
    device = &trainer.device();
    char *base = trainer.memory.base();
    DlcBuffer argument{base, 4 * kCount}, result{base + 4 * kCount, 4 * kCount};
    auto step = [&] { return trainer.program->callOnDevice(test::Program::kStep, {&argument, 1}, {&result, 1}); };
    ASSERT_EQ(step().message(), "");
    setenv("DLCFAKE_FAIL", "cuStreamEndCapture:1:700", 1);
    Status failed = step();
    unsetenv("DLCFAKE_FAIL");
    EXPECT_THAT(failed.message(),
                StartsWith("cuda:0: one of 2 kernels (step: model.cpp:10: dl.add: kernel 'k0' to step: model.cpp:20: "
                           "dl.mul: kernel 'k1'); DLC_CUDA_SYNC=1 tells which: cuStreamEndCapture: "));
  }
  EXPECT_EQ(device->reset().message(), "");
}

// However many pointers a step is called with, at most eight graphs a segment stay.
TEST(CudaSegments, PointersThatTakeTurnsKeepTheirValues) {
  Trainer trainer;
  EXPECT_EQ(trainer.steps(2).message(), "");
  EXPECT_EQ(trainer.steps(Trainer::kPlaces).message(), "");
  for (int round = 0; round < 3; ++round)
    for (size_t place = 0; place < Trainer::kPlaces; ++place)
      ASSERT_EQ(trainer.step(round % 2 ? -4096 : 4096, place).message(), "");
}

} // namespace
