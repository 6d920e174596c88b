// Kernels of fusion groups on the simulated device against the reference evaluator.
#include "targets/sim/SimKernels.h"

#include "dlc/ir/Dl.h"
#include "dlc/ir/Program.h"
#include "dlc/ir/Reference.h"
#include "gpu/GpuKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"

#include <random>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

/// A tensor as a kernel sees it: i1 is one byte.
template <typename T>
std::vector<char> bytesAs(const dl::ReferenceTensor &tensor) {
  std::vector<T> values(tensor.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = T(tensor.at(int64_t(i)));
  auto *bytes = reinterpret_cast<const char *>(values.data());
  return std::vector<char>(bytes, bytes + values.size() * sizeof(T));
}

template <typename T>
std::vector<double> valuesAs(const std::vector<char> &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return std::vector<double>(values.begin(), values.end());
}

std::vector<char> toBytes(const dl::ReferenceTensor &tensor) {
  Type element = tensor.type.getElementType();
  if (element.isF64())
    return bytesAs<double>(tensor);
  if (element.isF32())
    return bytesAs<float>(tensor);
  return element.isInteger(64) ? bytesAs<int64_t>(tensor) : bytesAs<int8_t>(tensor);
}

std::vector<double> toValues(Type element, const std::vector<char> &bytes) {
  if (element.isF64())
    return valuesAs<double>(bytes);
  if (element.isF32())
    return valuesAs<float>(bytes);
  return element.isInteger(64) ? valuesAs<int64_t>(bytes) : valuesAs<int8_t>(bytes);
}

SmallVector<dl::ReferenceTensor> draw(func::FuncOp function) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> values(-2, 2);
  SmallVector<dl::ReferenceTensor> arguments;
  for (Type type : function.getArgumentTypes()) {
    dl::ReferenceTensor tensor(cast<RankedTensorType>(type));
    for (double &value : tensor.floats)
      value = values(random);
    for (int64_t &value : tensor.integers)
      value = random() % 8 != 0;
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

/// A group of groups.mlir, emitted for a GPU.
struct GroupKernel {
  std::string text; ///< the gpu.module
  SmallVector<GpuLaunch> launches;
  SmallVector<int64_t> inPlace; ///< for each result the input it is written over, or -1
  int64_t workspace;
};

class GroupKernels : public testing::Test {
protected:
  GroupKernels() : context(registry(), MLIRContext::Threading::DISABLED) {
    loadGpuDialects(context);
    module = parseSourceFile<ModuleOp>(DLC_GPU_GROUPS, &context);
  }

  static DialectRegistry registry() {
    DialectRegistry registry;
    registerGpuDialects(registry);
    registry.insert<dl::DlDialect, func::FuncDialect>();
    return registry;
  }

  FailureOr<GroupKernel> emit(func::FuncOp function) {
    auto group = *function.getOps<dl::GroupOp>().begin();
    OpBuilder builder(&context);
    OwningOpRef<ModuleOp> owner = ModuleOp::create(builder, builder.getUnknownLoc());
    builder.setInsertionPointToEnd(owner->getBody());
    auto kernels = gpu::GPUModuleOp::create(builder, builder.getUnknownLoc(), "kernels");
    GroupKernel kernel{{}, {}, SmallVector<int64_t>(group.getNumResults(), -1), gpuWorkspaceBytes(group)};
    if (std::optional<ArrayRef<int64_t>> inPlace = group.getInPlace())
      kernel.inPlace.assign(inPlace->begin(), inPlace->end());
    auto launches = emitGpuKernel(kernels, "k", group, kernel.workspace);
    if (failed(launches) || failed(owner->verify()))
      return failure();
    kernel.launches = *launches;
    llvm::raw_string_ostream(kernel.text) << *owner;
    return kernel;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

SimOptions inOrder(SimOrder order, bool check) {
  SimOptions options;
  options.order = order;
  options.check = check;
  options.threads = 2;
  return options;
}

/// The results' bytes.
void run(const GroupKernel &kernel, const SimKernels &code, const SimOptions &options,
         ArrayRef<std::vector<char>> inputs, MutableArrayRef<std::vector<char>> results) {
  SimEngine engine(options);
  std::vector<std::vector<char>> memory(inputs.begin(), inputs.end());
  std::vector<SimOperand> operands;
  for (const auto &input : inputs)
    operands.push_back({int64_t(input.size()), SimAccess::Read});
  for (const auto &result : results) {
    memory.emplace_back(result.size(), char(0xFF));
    operands.push_back({int64_t(result.size()), SimAccess::ReadWrite});
  }
  memory.emplace_back(kernel.workspace, char(0xFF));
  if (kernel.workspace)
    operands.push_back({kernel.workspace, SimAccess::Workspace});
  std::vector<void *> pointers;
  for (auto &bytes : memory)
    pointers.push_back(bytes.data());
  for (auto [result, input] : llvm::enumerate(kernel.inPlace))
    if (input >= 0) {
      pointers[inputs.size() + result] = pointers[input];
      operands[input].access = SimAccess::ReadWrite;
    }
  GlobalShadow known;
  for (auto [i, bytes] : llvm::enumerate(memory)) {
    if (i < inputs.size())
      known.markWritten(bytes.data(), bytes.size());
    else
      known.markUnwritten(bytes.data(), bytes.size());
  }
  for (const GpuLaunch &launch : kernel.launches) {
    SimKernel grid{launch.symbol, code.find(launch.symbol), {}, {}, operands};
    llvm::copy(launch.grid, grid.grid.begin());
    llvm::copy(launch.block, grid.block.begin());
    Status status = engine.run(grid, pointers.data(), &known);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  for (auto [i, result] : llvm::enumerate(results)) {
    const auto *bytes = static_cast<const char *>(pointers[inputs.size() + i]);
    result.assign(bytes, bytes + result.size());
  }
}

TEST_F(GroupKernels, EqualTheReference) {
  ASSERT_TRUE(module);
  for (auto function : module->getOps<func::FuncOp>()) {
    SCOPED_TRACE(function.getName().str());
    SmallVector<dl::ReferenceTensor> arguments = draw(function);
    dl::ReferenceState state;
    auto expected = dl::evaluateFunction(function, arguments, state);
    FailureOr<GroupKernel> kernel = emit(function);
    ASSERT_TRUE(succeeded(expected) && succeeded(kernel));
    std::vector<std::vector<char>> inputs, first;
    for (const dl::ReferenceTensor &argument : arguments)
      inputs.push_back(toBytes(argument));
    for (SimOrder order : {SimOrder::Warp, SimOrder::Reverse, SimOrder::Forward}) {
      bool check = order == SimOrder::Forward;
      auto code = SimKernels::load(kernel->text, check);
      ASSERT_TRUE(code);
      std::vector<std::vector<char>> results;
      for (const dl::ReferenceTensor &one : *expected)
        results.emplace_back(toBytes(one).size());
      run(*kernel, *code, inOrder(order, check), inputs, results);
      // The order of threads changes no bit.
      if (first.empty())
        first = results;
      EXPECT_EQ(first, results);
    }
    for (auto [one, bytes] : llvm::zip(*expected, first)) {
      std::vector<double> values = toValues(one.type.getElementType(), bytes);
      double tolerance = one.type.getElementType().isF64() ? 1e-13 : 1e-5;
      for (size_t i = 0; i < values.size(); ++i)
        if (double error = std::fabs(values[i] - one.at(i)); !(error <= tolerance * (1 + std::fabs(one.at(i))))) {
          ADD_FAILURE() << "element " << i << ": expected " << one.at(i) << ", got " << values[i];
          break;
        }
    }
  }
}

} // namespace
