// Calls of libraries among what else a device does: captured, after failures, and each entry point failing once.
#include "../../../../conformance/Program.h"
#include "CallMachine.h"

#include "drivers/cuda/CublasLtApi.h"
#include "drivers/cuda/CudnnApi.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

using namespace dlc;
using namespace dlc::runtime;
using namespace dlc::test;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

/// Sets a variable of the environment for as long as it lives.
class Setting {
public:
  Setting(const char *name, const std::string &value) : name(name) { setenv(name, value.c_str(), 1); }
  ~Setting() { unsetenv(name); }
  Setting(const Setting &) = delete;
  Setting &operator=(const Setting &) = delete;

private:
  const char *name;
};

constexpr int64_t kSize = 8, kCount = kSize * kSize;

// result = left * right + bias, of two matrices of 4 x 8 and one of 8 x 8.
LibraryCall productCall() {
  MatMulCall product;
  product.batch = 2;
  product.rows = kSize / 2;
  product.columns = product.terms = kSize;
  product.left = {0, 0, DType::F32, kSize, 1, kCount / 2};
  product.right = {1, 0, DType::F32, kSize, 1, 0};
  product.result = {2, 0, DType::F32, kSize, 1, kCount / 2};
  product.epilogue = MatMulCall::Epilogue::Bias;
  product.bias = 3;
  LibraryCall call;
  call.what = product;
  call.workspace = 4;
  call.workspaceBytes = 4096;
  return call;
}
std::vector<Elements> productOperands() {
  return {Elements::filled(DType::F32, kCount, 1), Elements::filled(DType::F32, kCount, 2),
          Elements::filled(DType::F32, kCount, 0), Elements::filled(DType::F32, kSize, 0.5),
          Elements::filled(DType::F32, 1024, 0)};
}
constexpr double kProduct = kSize * 1 * 2 + 0.5;

LibraryCall convolutionCall(ConvCall::Kind kind) {
  ConvCall conv;
  conv.kind = kind;
  conv.input = {0, 0, {1, 1, 8, 8}, {64, 64, 8, 1}};
  conv.weight = {1, 0, {1, 1, 1, 1}, {1, 1, 1, 1}};
  conv.output = {2, 0, {1, 1, 8, 8}, {64, 64, 8, 1}};
  conv.strides = conv.dilation = {1, 1};
  conv.padding = {0, 0};
  LibraryCall call;
  call.what = conv;
  call.workspace = 3;
  call.workspaceBytes = 4096;
  return call;
}

/// Runs one call of each kind on a device; wrong numbers are a failure.
Status everyCall(Device &device) {
  std::vector<Elements> operands = productOperands();
  if (Status status = runCall(device, productCall(), operands, 2); !status.ok())
    return status;
  if (operands[2].values != std::vector<double>(kCount, kProduct))
    return {StatusCode::Internal, "wrong numbers of a product"};
  for (auto [kind, written, right] : {std::tuple{ConvCall::Kind::Forward, size_t(2), 6.0},
                                      {ConvCall::Kind::InputGrad, size_t(0), 15.0},
                                      {ConvCall::Kind::WeightGrad, size_t(1), 2.0 * 5 * kCount}}) {
    operands = {Elements::filled(DType::F32, kCount, 2), Elements::filled(DType::F32, 1, 3),
                Elements::filled(DType::F32, kCount, 5), Elements::filled(DType::F32, 1024, 0)};
    if (Status status = runCall(device, convolutionCall(kind), operands, written); !status.ok())
      return status;
    if (std::any_of(operands[written].values.begin(), operands[written].values.end(),
                    [right = right](double each) { return each != right; }))
      return {StatusCode::Internal, "wrong numbers of a convolution"};
  }
  return {};
}

class LibraryFailure : public testing::TestWithParam<const char *> {};

TEST_P(LibraryFailure, OneMessageAndTheDeviceWorksAgain) {
  std::string name = GetParam();
  StatusOr<std::unique_ptr<Device>> device = openCallDevice();
  ASSERT_TRUE(device.ok()) << device.status().message();
  Status status;
  {
    Setting failing("DLCFAKE_FAIL", name + ":1");
    status = everyCall(**device);
  }
  bool isSilent = name.find("Destroy") != std::string::npos || name.find("Error") != std::string::npos ||
                  name.find("StatusName") != std::string::npos;
  if (isSilent)
    EXPECT_TRUE(status.ok()) << status.message();
  else if (name == "cublasLtCreate" || name == "cudnnCreate")
    EXPECT_THAT(status.message(),
                AllOf(StartsWith("cuda:0: the program calls cu"), HasSubstr(": " + name + ": CU"),
                      HasSubstr("_STATUS_NOT_INITIALIZED"), HasSubstr("the driver may be older than the library")));
  else if (name.find("WorkspaceSize") != std::string::npos)
    EXPECT_TRUE(status.ok()) << status.message(); // the next algorithm
  else
    EXPECT_THAT(status.message(), AllOf(AnyOf(StartsWith("cuda:0: model.cpp:10: dl.dot_general: kernel 'k0': "),
                                              StartsWith("cuda:0: step: model.cpp:10: dl.dot_general: kernel 'k0': ")),
                                        HasSubstr(": " + name + ": CU"), HasSubstr("_STATUS_")));
  EXPECT_EQ(std::count(status.message().begin(), status.message().end(), '\n'), 0);
  EXPECT_TRUE((*device)->failure().ok()) << (*device)->failure().message();
  Status after = everyCall(**device);
  EXPECT_TRUE(after.ok()) << after.message();
}

const char *const kNames[] = {
#define DLC_NAME(result, name, ...) #name,
    DLC_CUBLASLT_API(DLC_NAME) DLC_CUDNN_API(DLC_NAME)
#undef DLC_NAME
};
INSTANTIATE_TEST_SUITE_P(Of, LibraryFailure, testing::ValuesIn(kNames), [](const auto &info) { return info.param; });

/// A program of two products, the second of the first one's result, and its memory.
struct Chain {
  std::unique_ptr<Device> device = openCallDevice().take();
  std::unique_ptr<Stream> stream = device->createStream().take();
  std::vector<Elements> operands = productOperands();
  std::vector<DeviceElements> memory;
  std::unique_ptr<Kernels> kernels;

  Chain() {
    operands.push_back(operands[2]);
    for (const Elements &each : operands)
      memory.push_back(DeviceElements::make(*device, *stream, each).take());
    KernelInfo first = callKernel(productCall(), productOperands(), 2), second = first;
    second.name = "k1";
    kernels = device->load(makeCalls({first, second}).take()).take();
  }
  Status give() {
    auto at = [&](size_t i) { return memory[i].base(); };
    void *first[] = {at(0), at(1), at(2), at(3), at(4)}, *second[] = {at(2), at(1), at(5), at(3), at(4)};
    Status status = kernels->launch(*stream, 0, first, "step");
    return status.ok() ? kernels->launch(*stream, 1, second, "step") : status;
  }
  double result() {
    Status status = memory[5].fetch(*stream, operands[5]);
    EXPECT_TRUE(status.ok()) << status.message();
    return operands[5].values[0];
  }
};

TEST(LibraryCalls, AreCapturedAndDoneAgain) {
  Chain chain;
  ASSERT_TRUE(chain.give().ok());
  constexpr double kTwice = kSize * kProduct * 2 + 0.5;
  EXPECT_EQ(chain.result(), kTwice);
  StatusOr<std::unique_ptr<Graph>> graph = chain.stream->capture([&] { return chain.give(); });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (float left : {1.0F, 3.0F}) {
    std::vector<float> values(kCount, left);
    ASSERT_TRUE(chain.stream->copyToDevice(chain.memory[0].base(), values.data(), 4 * kCount).ok());
    ASSERT_TRUE(chain.stream->fill(chain.memory[5].base(), 0, 4 * kCount).ok());
    ASSERT_TRUE(chain.stream->launch(**graph).ok());
    EXPECT_EQ(chain.result(), kSize * (kSize * double(left) * 2 + 0.5) * 2 + 0.5);
  }
}

// Each with a stream and operands of its own, among them the bias, whose address is part of a descriptor.
TEST(LibraryCalls, AreMadeByManyThreadsAtOnce) {
  std::unique_ptr<Device> device = openCallDevice().take();
  std::unique_ptr<Kernels> products =
      device->load(makeCalls({callKernel(productCall(), productOperands(), 2)}).take()).take();
  auto work = [&](double bias, double &result) {
    std::unique_ptr<Stream> stream = device->createStream().take();
    std::vector<Elements> operands = productOperands();
    operands[3] = Elements::filled(DType::F32, kSize, bias);
    std::vector<DeviceElements> memory;
    std::vector<void *> pointers;
    for (const Elements &each : operands) {
      memory.push_back(DeviceElements::make(*device, *stream, each).take());
      pointers.push_back(memory.back().base());
    }
    result = kSize * 2 + bias;
    for (int round = 0; round < 50 && result == kSize * 2 + bias; ++round) {
      bool given = products->launch(*stream, 0, pointers.data(), "step").ok();
      result = given && memory[2].fetch(*stream, operands[2]).ok() ? operands[2].values[0] : -1;
    }
  };
  std::vector<double> results(3);
  std::vector<std::thread> threads;
  threads.reserve(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&, i] { work(double(i), results[i]); });
  for (std::thread &each : threads)
    each.join();
  EXPECT_EQ(results, (std::vector<double>{kSize * 2, kSize * 2 + 1, kSize * 2 + 2}));
}

// The name that DLC_CUDA_SYNC=1 gives is that of the call; an operand outside its memory is refused before.
TEST(LibraryCalls, AreNamedInMessages) {
  Setting synchronous("DLC_CUDA_SYNC", "1");
  Chain chain;
  EXPECT_TRUE(chain.give().ok());
  {
    Setting failing("DLCFAKE_FAIL", "cuStreamSynchronize:1:700");
    EXPECT_THAT(chain.give().message(),
                StartsWith("cuda:0: step: model.cpp:10: dl.dot_general: kernel 'k0': cuStreamSynchronize: "
                           "CUDA_ERROR_ILLEGAL_ADDRESS: "));
  }
}

TEST(LibraryCalls, AnOperandOutsideItsMemoryIsRefused) {
  Chain chain;
  auto at = [&](size_t i) { return chain.memory[i].base(); };
  void *outside[] = {at(0), at(1), at(3), at(3), at(4)}; // the bias is no place for a result
  EXPECT_THAT(chain.kernels->launch(*chain.stream, 0, outside, "step").message(),
              StartsWith("cuda:0: step: model.cpp:10: dl.dot_general: kernel 'k0': operand 2: "));
  EXPECT_TRUE(chain.give().ok());
}

// A library gives an earlier kernel's failure as one of its own.
TEST(LibraryCalls, AnEarlierKernelsFailureIsTheDevices) {
  Chain chain;
  std::unique_ptr<Kernels> program = chain.device->load(Program::make().take()).take();
  void *stuck[] = {chain.memory[0].base()};
  EXPECT_TRUE(program->launch(*chain.stream, 3, stuck, "stuck").ok());
  // What runs work at once has failed by now, and the library's call is the first to be told.
  Status status = chain.give();
  if (status.ok())
    status = chain.stream->synchronize();
  EXPECT_THAT(status.message(),
              AllOf(StartsWith("cuda:0: "), HasSubstr("stuck: model.cpp:30: dl.gather: kernel 'k3'")));
  EXPECT_EQ(chain.device->failure().message(), status.message());
}

TEST(LibraryCalls, WhatIsNotInstalledIsOneSentence) {
  // Nothing of the vendor's is looked up again in a process that has found it; so this one asks first.
  std::unique_ptr<Device> device = openCallDevice().take();
  setenv("DLC_GPU_LIBRARY", "/nowhere.so", 1);
  std::vector<Elements> operands = productOperands();
  Status status = runCall(*device, productCall(), operands, 2);
  setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 1);
  if (status.ok())
    GTEST_SKIP() << "was found by an earlier test";
  EXPECT_THAT(status.message(), StartsWith("cuda:0: the program calls cuBLASLt: DLC_GPU_LIBRARY: /nowhere.so: "));
  EXPECT_EQ(device->libraries(), (std::vector<std::string>{"cudnn"}));
}

} // namespace
