// Each entry point of libcuda fails once, in a program that uses them all: one message that says where, and the device
// works afterwards.
#include "../../../../conformance/Program.h"

#include "dlc/runtime/Session.h"
#include "drivers/Driver.h"
#include "drivers/cuda/CudaApi.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

using namespace dlc;
using namespace dlc::runtime;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

constexpr int64_t kBytes = 4 * test::Program::kCount;

/// Sets variables of the environment for as long as it lives.
class Setting {
public:
  Setting(const char *name, const std::string &value) : name(name) { setenv(name, value.c_str(), 1); }
  ~Setting() { unsetenv(name); }
  Setting(const Setting &) = delete;
  Setting &operator=(const Setting &) = delete;

private:
  const char *name;
};

StatusOr<std::unique_ptr<Device>> open(int index = 0) {
  setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 0);
  setenv("DLCFAKE_DEVICES", "2", 0);
  StatusOr<int> count = kCudaDriver.count();
  if (!count.ok())
    return count.status();
  return kCudaDriver.open(index);
}

/// The first failure of a list of calls.
struct First {
  Status status;
  template <typename Call>
  First &then(Call call) {
    if (status.ok())
      status = call();
    return *this;
  }
};

/// Fills, adds by a kernel, copies around and brings back; everything it makes is gone when it returns.
Status work(Device &device) {
  std::vector<float> ones(test::Program::kCount, 1);
  StatusOr<Arena> one = device.allocate("one", kBytes), two = device.allocate("two", kBytes);
  StatusOr<HostMemory> between = device.allocateHost(kBytes);
  StatusOr<std::unique_ptr<Stream>> stream = device.createStream(), other = device.createStream();
  StatusOr<std::unique_ptr<Event>> event = device.createEvent();
  StatusOr<std::unique_ptr<Kernels>> kernels = device.load(test::Program::make().take());
  for (const Status &status : {one.status(), two.status(), between.status(), stream.status(), other.status(),
                               event.status(), kernels.status()})
    if (!status.ok())
      return status;
  void *operands[] = {one->base(), two->base()};
  std::unique_ptr<Graph> graph;
  First first;
  first.then([&] { return (*stream)->fill(one->base(), 0, kBytes); })
      .then([&] { return (*stream)->copyToDevice(two->base(), ones.data(), kBytes); })
      .then([&] {
        auto made = (*stream)->capture([&] { return (*kernels)->launch(**stream, 0, operands, "step"); });
        if (made.ok())
          graph = made.take();
        return made.status();
      })
      .then([&] { return (*stream)->launch(*graph); })
      .then([&] { return (*stream)->record(**event); })
      .then([&] { return (*other)->wait(**event); })
      .then([&] { return (*other)->copy(two->base(), one->base(), kBytes); })
      .then([&] { return (*other)->copyToHost(between->get(), two->base(), kBytes); })
      .then([&] { return (*event)->query().status(); })
      .then([&] { return (*event)->synchronize(); })
      .then([&] { return (*other)->synchronize(); });
  if (first.status.ok() && !std::equal(ones.begin(), ones.end(), reinterpret_cast<const float *>(between->get())))
    return {StatusCode::Internal, "wrong numbers"};
  return first.status;
}

/// From one device to another, in the order of their streams.
Status exchange(Device &device, Device &peer) {
  StatusOr<Arena> here = device.allocate("here", kBytes), there = peer.allocate("there", kBytes);
  StatusOr<std::unique_ptr<Stream>> stream = device.createStream(), other = peer.createStream();
  for (const Status &status : {here.status(), there.status(), stream.status(), other.status()})
    if (!status.ok())
      return status;
  std::vector<unsigned char> back(kBytes);
  First first;
  first.then([&] { return (*other)->fill(there->base(), 7, kBytes); })
      .then([&] { return (*stream)->copyFrom(**other, here->base(), there->base(), kBytes).status(); })
      .then([&] { return (*other)->fill(there->base(), 9, kBytes); })
      .then([&] { return (*stream)->copyToHost(back.data(), here->base(), kBytes); })
      .then([&] { return (*other)->synchronize(); })
      .then([&] { return (*stream)->synchronize(); });
  if (first.status.ok() && back != std::vector<unsigned char>(kBytes, 7))
    return {StatusCode::Internal, "wrong bytes"};
  return first.status;
}

/// Opening, working, and what the device says of what failed where nobody could be told.
Status everything() {
  StatusOr<std::unique_ptr<Device>> device = open(), peer = open(1);
  for (const Status &status : {device.status(), peer.status()})
    if (!status.ok())
      return status;
  Status status = work(**device);
  if (status.ok())
    status = exchange(**device, **peer);
  if (status.ok())
    status = (*device)->failure();
  // As a program would go on: everything is gone, the device starts anew.
  Status again = (*device)->reset();
  return status.ok() ? again : status;
}

class CudaFailure : public testing::TestWithParam<const char *> {};

TEST_P(CudaFailure, OneMessageAndTheDeviceWorksAgain) {
  std::string name = GetParam();
  Status status;
  {
    Setting failing("DLCFAKE_FAIL", name + ":1");
    status = everything();
  }
  // Nobody asks for a version, free memory or names where nothing else failed, nor whether the end worked.
  const std::vector<std::string> silent = {"cuDriverGetVersion", "cuMemGetInfo", "cuDeviceGetPCIBusId",
                                           "cuGetErrorName", "cuDevicePrimaryCtxRelease"};
  if (std::find(silent.begin(), silent.end(), name) != silent.end())
    EXPECT_TRUE(status.ok()) << status.message();
  else
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr(name + ": CUDA_ERROR_OPERATING_SYSTEM: see the system's log"),
                      AnyOf(StartsWith("cu"), StartsWith("kernel"), StartsWith("PTX for sm_80: cuda:0"))));
  EXPECT_EQ(std::count(status.message().begin(), status.message().end(), '\n'), 0);
  Status after = everything();
  EXPECT_TRUE(after.ok()) << after.message();
}

const char *const kNames[] = {
#define DLC_CUDA_NAME(name, symbol, ...) #name,
    DLC_CUDA_API(DLC_CUDA_NAME)
#undef DLC_CUDA_NAME
};
INSTANTIATE_TEST_SUITE_P(Of, CudaFailure, testing::ValuesIn(kNames), [](const auto &info) { return info.param; });

// A failed kernel comes back from any later call.
TEST(CudaErrors, AKernelsFailureIsLocatedWhereverItComesBack) {
  for (const char *function : {"cuStreamSynchronize", "cuEventRecord", "cuEventQuery", "cuMemcpyDtoHAsync"}) {
    StatusOr<std::unique_ptr<Device>> device = open();
    ASSERT_TRUE(device.ok()) << device.status().message();
    Setting failing("DLCFAKE_FAIL", std::string(function) + ":1:700");
    std::string message = work(**device).message();
    EXPECT_EQ(message, "cuda:0: step: model.cpp:10: dl.add: kernel 'k0': " + std::string(function) +
                           ": CUDA_ERROR_ILLEGAL_ADDRESS: run under compute-sanitizer, or on sim with accesses checked "
                           "(--sim-check)");
    EXPECT_EQ((*device)->failure().message(), message);
    Status reset = (*device)->reset();
    EXPECT_TRUE(reset.ok()) << reset.message();
    Status after = work(**device);
    EXPECT_TRUE(after.ok()) << after.message();
  }
}

TEST(CudaErrors, SeveralKernelsAreNamedFromWhereToWhere) {
  StatusOr<std::unique_ptr<Device>> device = open();
  ASSERT_TRUE(device.ok()) << device.status().message();
  {
    Arena one = (*device)->allocate("one", kBytes).take(), two = (*device)->allocate("two", kBytes).take();
    std::unique_ptr<Stream> stream = (*device)->createStream().take();
    std::unique_ptr<Kernels> kernels = (*device)->load(test::Program::make().take()).take();
    void *add[] = {one.base(), two.base()}, *stuck[] = {one.base()};
    EXPECT_TRUE(kernels->launch(*stream, 0, add, "step").ok());
    EXPECT_TRUE(kernels->launch(*stream, 0, add, "step").ok());
    EXPECT_TRUE(kernels->launch(*stream, 3, stuck, "stuck").ok());
    EXPECT_THAT(stream->synchronize().message(),
                StartsWith("cuda:0: one of 3 kernels (step: model.cpp:10: dl.add: kernel 'k0' to stuck: model.cpp:30: "
                           "dl.gather: kernel 'k3'); DLC_CUDA_SYNC=1 tells which: cuStreamSynchronize: "
                           "CUDA_ERROR_LAUNCH_FAILED: "));
  }
  EXPECT_TRUE((*device)->reset().ok());
}

TEST(CudaErrors, WaitingForEachKernelFindsTheOne) {
  Setting synchronous("DLC_CUDA_SYNC", "1");
  StatusOr<std::unique_ptr<Device>> device = open();
  ASSERT_TRUE(device.ok()) << device.status().message();
  {
    Arena one = (*device)->allocate("one", kBytes).take(), two = (*device)->allocate("two", kBytes).take();
    std::unique_ptr<Stream> stream = (*device)->createStream().take();
    std::unique_ptr<Kernels> kernels = (*device)->load(test::Program::make().take()).take();
    void *add[] = {one.base(), two.base()}, *stuck[] = {one.base()};
    EXPECT_TRUE(kernels->launch(*stream, 0, add, "step").ok());
    EXPECT_THAT(kernels->launch(*stream, 3, stuck, "stuck").message(),
                StartsWith("cuda:0: stuck: model.cpp:30: dl.gather: kernel 'k3': cuStreamSynchronize: "));
  }
  EXPECT_TRUE((*device)->reset().ok());
}

TEST(CudaErrors, OutOfMemoryAtEachAllocation) {
  StatusOr<std::unique_ptr<Device>> device = open();
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (int call : {1, 2}) {
    Setting failing("DLCFAKE_FAIL", "cuMemAlloc:" + std::to_string(call) + ":2");
    Status status = work(**device);
    EXPECT_EQ(status.code(), StatusCode::LimitExceeded);
    EXPECT_THAT(status.message(), StartsWith("out of memory: arena '" + std::string(call == 1 ? "one" : "two") +
                                             "' needs 4000 bytes, cuda:0 has "));
    EXPECT_THAT(status.message(), HasSubstr("this program's " + std::string(call == 1 ? "0 arenas take 0"
                                                                                      : "1 arenas "
                                                                                        "take 4")));
    EXPECT_TRUE((*device)->failure().ok());
    EXPECT_EQ((*device)->memoryStats().count, 0);
    Status after = work(**device);
    EXPECT_TRUE(after.ok()) << after.message();
  }
}

/// The program in a session: binds it where that is still to do, then makes a step that adds 1 to its state.
Status train(Session &session, std::shared_ptr<Session::Program> &program) {
  if (!program) {
    auto bound = session.attach(test::Program::make().take());
    if (!bound.ok())
      return bound.status();
    program = bound.take();
  }
  std::vector<float> x(test::Program::kCount, 1), y(test::Program::kCount);
  DlcBuffer argument{x.data(), kBytes}, result{y.data(), kBytes};
  return program->call(test::Program::kStep, {&argument, 1}, {&result, 1});
}

std::vector<float> stateOf(const Session &session) {
  std::vector<float> w(test::Program::kCount);
  EXPECT_TRUE(session.read("w", std::as_writable_bytes(std::span(w))).ok());
  return w;
}

// What was bound stays, what was not leaves nothing behind, and the same session goes on when there is memory again.
TEST(CudaErrors, OutOfMemoryAtEachAllocationOfASessionLeavesItsState) {
  setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 0);
  constexpr uint64_t kSeed = 11;
  std::vector<float> expected(test::Program::kCount);
  InitialValue uniform{InitialValue::Kind::Uniform, -1, 1, 3, nullptr};
  ASSERT_TRUE(fill(expected.data(), DType::F32, std::ssize(expected), uniform, kSeed).ok());
  for (float &w : expected)
    w += 1;
  for (const char *function : {"cuMemAlloc", "cuMemHostAlloc"}) {
    for (int call = 1;; ++call) {
      SCOPED_TRACE(std::string(function) + ":" + std::to_string(call));
      auto session = Session::create({.seed = kSeed, .device = {"cuda", 0}});
      ASSERT_TRUE(session.ok()) << session.status().message();
      int64_t before = (*session)->device().memoryStats().count;
      std::shared_ptr<Session::Program> program;
      Status status;
      {
        Setting failing("DLCFAKE_FAIL", std::string(function) + ":" + std::to_string(call) + ":2");
        status = train(**session, program);
      }
      if (status.ok()) {
        EXPECT_GE(call, function == std::string("cuMemAlloc") ? 5 : 2);
        EXPECT_EQ(stateOf(**session), expected);
        break;
      }
      EXPECT_EQ(status.code(), StatusCode::LimitExceeded);
      EXPECT_THAT(status.message(), StartsWith("out of memory: "));
      EXPECT_EQ(std::count(status.message().begin(), status.message().end(), '\n'), 0);
      if (!program && function == std::string("cuMemAlloc")) {
        EXPECT_THAT(status.message(), HasSubstr("; step, reverse, refused, stuck, outside, branch plans "));
        EXPECT_EQ((*session)->device().memoryStats().count, before);
      }
      Status after = train(**session, program);
      ASSERT_TRUE(after.ok()) << after.message();
      EXPECT_EQ(stateOf(**session), expected);
    }
  }
}

} // namespace
