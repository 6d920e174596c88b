#include "dlc/runtime/Session.h"
#include "../unit/TestFile.h"
#include "Conformance.h"
#include "Program.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstring>
#include <thread>

using testing::HasSubstr;
using testing::StartsWith;

namespace dlc::test {

namespace {

constexpr size_t kCount = Program::kCount;
constexpr uint64_t kSeed = 11;

/// The program on one device, and what it must compute.
class Trainer {
public:
  explicit Trainer(const std::string &device)
      : session(Session::create({.threads = 2, .seed = kSeed, .device = DeviceId::parse(device).take()}).take()),
        program(session->attach(Program::make().take()).take()), w(kCount) {
    InitialValue uniform{InitialValue::Kind::Uniform, -1, 1, 3, nullptr};
    EXPECT_TRUE(done(fill(w.data(), DType::F32, int64_t(kCount), uniform, kSeed)));
  }

  /// One step on host memory; whether results and state are exactly what they must be.
  Status step(float by) {
    std::vector<float> x(kCount), y(kCount, -1);
    for (size_t i = 0; i < kCount; ++i)
      w[i] += x[i] = by * float(i);
    DlcBuffer argument{x.data(), 4 * kCount}, result{y.data(), 4 * kCount};
    if (Status status = program->call(Program::kStep, {&argument, 1}, {&result, 1}); !status.ok())
      return status;
    for (size_t i = 0; i < kCount; ++i)
      if (y[i] != 2 * w[i])
        return {StatusCode::Internal,
                "y[" + std::to_string(i) + "] is " + std::to_string(y[i]) + ", expected " + std::to_string(2 * w[i])};
    return {};
  }

  /// The same by the entry whose branch depends on the state.
  Status branch(float by) {
    std::vector<float> x(kCount, by), y(kCount, -1);
    bool positive = w[0] + by > 0;
    for (float &each : w)
      each = positive ? 2 * (each + by) : each + by + by;
    DlcBuffer argument{x.data(), 4 * kCount}, result{y.data(), 4 * kCount};
    if (Status status = program->call(Program::kBranch, {&argument, 1}, {&result, 1}); !status.ok())
      return status;
    return y == w ? Status() : Status(StatusCode::Internal, "wrong numbers");
  }

  std::vector<float> state() const {
    std::vector<float> values(kCount);
    EXPECT_TRUE(done(session->read("w", std::as_writable_bytes(std::span(values)))));
    return values;
  }

  std::unique_ptr<Session> session;
  std::shared_ptr<Session::Program> program;
  std::vector<float> w; ///< expected
};

} // namespace

TEST_P(Conformance, InitialValuesAreEverywhereTheSame) {
  Trainer trainer(GetParam());
  EXPECT_EQ(trainer.state(), trainer.w);
  std::array<float, 4> b{};
  ASSERT_TRUE(done(trainer.session->read("b", std::as_writable_bytes(std::span(b)))));
  EXPECT_EQ(b, (std::array<float, 4>{1, 2, 3, 4}));
}

TEST_P(Conformance, StepsChangeTheState) {
  Trainer trainer(GetParam());
  for (float by : {0.25F, -1.0F, 0.0F, 3.5F})
    ASSERT_TRUE(done(trainer.step(by)));
  EXPECT_EQ(trainer.state(), trainer.w);
}

// By turns and in rows, among calls of another entry.
TEST_P(Conformance, BranchesGoTheWayOfTheState) {
  Trainer trainer(GetParam());
  for (int round = 0; round < 3; ++round)
    for (float by : {8.0F, -64.0F, 64.0F, 1.0F, -256.0F, -1.0F, -1.0F, 512.0F, -1024.0F}) {
      ASSERT_TRUE(done(trainer.branch(by)));
      ASSERT_TRUE(done(trainer.step(by / 1024)));
    }
  EXPECT_EQ(trainer.state(), trainer.w);
}

TEST_P(Conformance, OddSizesGoThroughKernels) {
  Trainer trainer(GetParam());
  std::vector<std::byte> x = pattern(Program::kOdd, 4), y(Program::kOdd);
  DlcBuffer argument{x.data(), Program::kOdd}, result{y.data(), Program::kOdd};
  ASSERT_TRUE(done(trainer.program->call(Program::kReverse, {&argument, 1}, {&result, 1})));
  EXPECT_TRUE(std::equal(y.begin(), y.end(), x.rbegin()));
}

TEST_P(Conformance, CallsOnDeviceMemoryFollowEachOther) {
  Trainer trainer(GetParam());
  runtime::Arena memory = allocate(8192);
  std::vector<float> x(kCount, 0.5F), y(kCount);
  DlcBuffer argument{memory.base(), 4 * kCount}, result{memory.base() + 4096, 4 * kCount};
  ASSERT_TRUE(done(trainer.session->upload(argument.data, x.data(), argument.bytes)));
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(done(trainer.program->callOnDevice(Program::kStep, {&argument, 1}, {&result, 1})));
  ASSERT_TRUE(done(trainer.session->stream().copyToHost(y.data(), result.data, result.bytes)));
  ASSERT_TRUE(done(trainer.session->synchronize()));
  for (size_t i = 0; i < kCount; ++i) {
    for (int step = 0; step < 10; ++step)
      trainer.w[i] += 0.5F;
    ASSERT_EQ(y[i], 2 * trainer.w[i]);
  }
  EXPECT_EQ(trainer.state(), trainer.w);
}

TEST_P(Conformance, StateIsWrittenSavedAndLoaded) {
  test::TemporaryFolder folder;
  std::string path = folder.file("state.safetensors");
  Trainer trainer(GetParam());
  for (size_t i = 0; i < kCount; ++i)
    trainer.w[i] = float(i) / 8;
  ASSERT_TRUE(done(trainer.session->write("w", std::as_bytes(std::span(trainer.w)))));
  ASSERT_TRUE(done(trainer.session->save(path)));
  std::vector<float> saved = trainer.w;
  ASSERT_TRUE(done(trainer.step(1)));
  ASSERT_TRUE(done(trainer.session->load(path)));
  EXPECT_EQ(trainer.state(), saved);
  Trainer onCpu("cpu"); // a checkpoint knows no device
  ASSERT_TRUE(done(onCpu.session->load(path)));
  EXPECT_EQ(onCpu.state(), saved);
}

TEST_P(Conformance, WrongSizesAreRefused) {
  Trainer trainer(GetParam());
  float one = 0;
  EXPECT_EQ(trainer.session->read("w", std::as_writable_bytes(std::span(&one, 1))).message(),
            "variable 'w' is f32[1000] of 4000 bytes, got 4");
  EXPECT_EQ(trainer.session->write("v", {}).message(), "no variable is named 'v'");
  DlcBuffer small{&one, 4};
  EXPECT_EQ(trainer.program->call(Program::kStep, {&small, 1}, {&small, 1}).message(),
            "step: argument 'x' is f32[1000] of 4000 bytes, got 4");
  EXPECT_EQ(trainer.program->callOnDevice(Program::kStep, {}, {&small, 1}).message(),
            "step: expected 1 arguments, got 0");
}

TEST_P(Conformance, AFailedEntryNamesItsLineAndEndsTheSession) {
  Trainer trainer(GetParam());
  EXPECT_EQ(trainer.program->call(Program::kRefused, {}, {}).message(), "model.cpp:30: dl.gather: failed with code 3");
  EXPECT_EQ(trainer.step(0).message(), "step: an earlier call failed in the middle of a step; load a checkpoint");
}

TEST_P(Conformance, ProgramsWithoutCodeForTheDeviceAreRefused) {
  auto session = Session::create({.threads = 1, .device = device->id()}).take();
  Program::Targets other =
      device->isHost() ? Program::Targets{false, true, false} : Program::Targets{true, false, false};
  std::string expected = device->isHost() ? "cpu: the program was compiled for sim; compile it with --target=cpu"
                                          : device->id().str() +
                                                ": the program was compiled for cpu; compile it with "
                                                "--target=" +
                                                device->compileTargets().front();
  EXPECT_EQ(session->attach(Program::make(other).take()).status().message(), expected);
}

TEST_P(Conformance, AFailedKernelStaysUntilTheDeviceIsReset) {
  if (device->isHost())
    GTEST_SKIP() << "the cpu has no kernels that fail later";
  std::string message;
  {
    Trainer trainer(GetParam()), bystander("cpu");
    std::unique_ptr<runtime::Event> mark = event();
    float x[4] = {};
    DlcBuffer argument{x, sizeof x};
    Status failed = trainer.program->call(Program::kStuck, {&argument, 1}, {});
    message = failed.message();
    EXPECT_THAT(message, StartsWith(std::string(GetParam()) + ": stuck: model.cpp:30: dl.gather: kernel 'k3'"));
    EXPECT_EQ(trainer.step(1).message(), message);
    EXPECT_EQ(trainer.session->synchronize().message(), message);
    EXPECT_EQ(trainer.session->read("w", std::as_writable_bytes(std::span(trainer.w))).message(), message);
    EXPECT_EQ(trainer.session->stream().fill(trainer.session->arena("activation"), 0, 4).message(), message);
    EXPECT_EQ(trainer.session->stream().record(*mark).message(), message);
    EXPECT_EQ(mark->synchronize().message(), message);
    EXPECT_EQ(mark->query().status().message(), message);
    EXPECT_EQ(device->allocate("more", 64).status().message(), message);
    EXPECT_EQ(device->createStream().status().message(), message);
    EXPECT_EQ(device->load(Program::make().take()).status().message(), message);
    EXPECT_EQ(device->failure().message(), message);
    EXPECT_THAT(device->reset().message(), HasSubstr("arenas use it"));
    EXPECT_TRUE(done(bystander.step(1)));
  }
  ASSERT_TRUE(done(device->reset()));
  Trainer again(GetParam());
  EXPECT_TRUE(done(again.step(1)));
}

TEST_P(Conformance, AFailureOfQueuedWorkComesBackFromTheWait) {
  if (device->isHost())
    GTEST_SKIP() << "the cpu has no kernels that fail later";
  {
    Trainer trainer(GetParam());
    runtime::Arena memory = allocate(16);
    ASSERT_TRUE(done(trainer.session->stream().fill(memory.base(), 0, 16)));
    DlcBuffer argument{memory.base(), 16};
    Status queued = trainer.program->callOnDevice(Program::kStuck, {&argument, 1}, {});
    Status waited = trainer.session->synchronize();
    EXPECT_THAT(waited.message(), HasSubstr("stuck: model.cpp:30: dl.gather: kernel 'k3'"));
    EXPECT_TRUE(queued.ok() || queued.message() == waited.message()) << queued.message();
  }
  ASSERT_TRUE(done(device->reset()));
}

TEST_P(Conformance, OperandsOutsideAnArenaAreRefusedBeforeTheLaunch) {
  if (device->isHost())
    GTEST_SKIP() << "the cpu launches no kernels";
  Trainer trainer(GetParam());
  EXPECT_EQ(trainer.program->call(Program::kOutside, {}, {}).message(),
            std::string(GetParam()) + ": outside: model.cpp:10: dl.add: kernel 'k0': operand 0: 4000 bytes from byte "
                                      "64 of arena 'parameter.f32', which has 4032");
  EXPECT_TRUE(done(device->failure()));
}

TEST_P(Conformance, DevicesWorkAtOnce) {
  std::vector<std::thread> threads;
  threads.reserve(std::size(kBackends) + 1);
  std::vector<Status> results(std::size(kBackends) + 1);
  auto train = [&](const char *name, size_t i) {
    Trainer trainer(name);
    for (int step = 0; step < 100 && results[i].ok(); ++step)
      results[i] = trainer.step(float(step));
  };
  for (size_t i = 0; i < std::size(kBackends); ++i)
    threads.emplace_back(train, kBackends[i], i);
  threads.emplace_back(train, GetParam(), std::size(kBackends)); // two sessions of one device
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &result : results)
    EXPECT_TRUE(done(result));
}

// In the order of both: what the source becomes later is not seen, whichever way the bytes take.
TEST_P(Conformance, SessionsCopyFromEachOther) {
  DeviceId id = device->id(), next{id.kind, 1 - id.index};
  StatusOr<runtime::Device *> second = runtime::Device::open(id.kind == "cpu" ? id : next);
  if (!second.ok())
    GTEST_SKIP() << second.status().message();
  auto one = Session::create({.threads = 1, .device = id}).take();
  auto other = Session::create({.threads = 1, .device = (*second)->id()}).take();
  constexpr int64_t kBytes = 10007;
  runtime::Arena here = allocate(kBytes), there = (*second)->allocate("there", kBytes).take();
  std::vector<std::byte> first = pattern(kBytes, 1), later = pattern(kBytes, 2), got(kBytes);
  ASSERT_TRUE(done(other->upload(there.base(), first.data(), kBytes)));
  ASSERT_TRUE(done(one->copyFrom(*other, here.base(), there.base(), kBytes)));
  ASSERT_TRUE(done(other->upload(there.base(), later.data(), kBytes)));
  ASSERT_TRUE(done(one->download(got.data(), here.base(), kBytes)));
  EXPECT_EQ(got, first);
  ASSERT_TRUE(done(other->copyFrom(*one, there.base(), here.base(), kBytes)));
  ASSERT_TRUE(done(other->download(got.data(), there.base(), kBytes)));
  EXPECT_EQ(got, first);
}

} // namespace dlc::test
