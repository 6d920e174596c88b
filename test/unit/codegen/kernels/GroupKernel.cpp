#include "GroupKernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"

#include <cstdlib>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {
/// 64-byte aligned memory with a canary behind it.
class Buffer {
public:
  explicit Buffer(int64_t bytes) : bytes(bytes), data(static_cast<char *>(std::aligned_alloc(64, padded(bytes)))) {
    std::memset(data, 0x5a, padded(bytes));
  }
  ~Buffer() { std::free(data); }
  Buffer(const Buffer &) = delete;

  bool intact() const {
    for (int64_t i = bytes; i < padded(bytes); ++i)
      if (data[i] != 0x5a)
        return false;
    return true;
  }
  char *get() const { return data; }
  int64_t size() const { return bytes; }

private:
  static int64_t padded(int64_t bytes) { return (bytes + 127) / 64 * 64; }
  int64_t bytes;
  char *data;
};

int64_t tensorBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * std::max(tensor.getElementTypeBitWidth(), 8u) / 8;
}

using RangeFunction = void (*)(void *const *, const int64_t *, int64_t, int64_t);

void runPhase(RangeFunction function, const KernelPhase &phase, int64_t split, void *const *pointers) {
  int64_t step = split ? (split + phase.multiple - 1) / phase.multiple * phase.multiple : phase.extent;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int64_t lo = 0; lo < phase.extent; lo += step)
    ranges.emplace_back(lo, std::min(lo + step, phase.extent));
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range)
    function(pointers, nullptr, range->first, range->second);
}

// func @whole(pointers): the kernel with all phases in line.
void emitInLine(ModuleOp module, dl::GroupOp group, unsigned operands, const CpuTraits &traits) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Location loc = b.getUnknownLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto function = func::FuncOp::create(b, loc, "whole", b.getFunctionType({pointer}, {}));
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  SmallVector<Value> pointers;
  for (unsigned i = 0; i <= operands; ++i) {
    Value slot =
        LLVM::GEPOp::create(b, loc, pointer, pointer, entry->getArgument(0), ArrayRef<LLVM::GEPArg>{int32_t(i)});
    pointers.push_back(LLVM::LoadOp::create(b, loc, pointer, slot));
  }
  b.setInsertionPoint(func::ReturnOp::create(b, loc));
  CpuKernelBuilder kernel(b, loc, ArrayRef(pointers).drop_back(), pointers.back(), traits);
  EXPECT_TRUE(succeeded(emitKernel(kernel, group, traits)));
}
} // namespace

std::vector<Bytes> runGroup(const std::string &text, const std::vector<Bytes> &inputs, const KernelRun &how) {
  DialectRegistry registry;
  registerCpuDialects(registry);
  registry.insert<dl::DlDialect, func::FuncDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "no module: " << text;
    return {};
  }
  dl::GroupOp group;
  module->walk([&](dl::GroupOp found) { group = found; });
  CpuTraits traits;
  traits.vectorBytes = how.vectorBytes;
  if (how.split)
    traits.serialNanoseconds = 0;
  unsigned operands = group.getNumOperands() + group.getNumResults();

  auto kernels = OwningOpRef<ModuleOp>(ModuleOp::create(UnknownLoc::get(&context)));
  CpuKernelBuilder kernel(*kernels, "k", group.getLoc(), operands, traits);
  if (how.inLine)
    emitInLine(*kernels, group, operands, traits);
  else
    EXPECT_TRUE(succeeded(emitKernel(kernel, group, traits)));
  if (failed(verify(*kernels))) {
    kernels->dump();
    ADD_FAILURE() << "the kernel does not verify";
    return {};
  }
  if (std::getenv("DLC_TEST_PRINT"))
    kernels->dump();
  StatusOr<std::string> object = compileToObject(*kernels, *CpuTarget::host());
  EXPECT_TRUE(object.ok()) << object.status().message();
  if (!object.ok())
    return {};
  auto code = JitCode::load(*object);
  EXPECT_TRUE(code.ok()) << code.status().message();

  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<void *> pointers;
  for (const Bytes &input : inputs) {
    buffers.push_back(std::make_unique<Buffer>(input.size()));
    std::memcpy(buffers.back()->get(), input.data(), input.size());
  }
  for (Type type : group.getResultTypes())
    buffers.push_back(std::make_unique<Buffer>(tensorBytes(type)));
  buffers.push_back(std::make_unique<Buffer>(workspaceBytes(group, traits)));
  for (auto &buffer : buffers)
    pointers.push_back(buffer->get());
  EXPECT_EQ(pointers.size(), operands + 1);

  if (how.inLine)
    symbol<void (*)(void *const *)>(*code, "whole")(pointers.data());
  else
    for (const KernelPhase &phase : kernel.getPhases())
      runPhase(symbol<RangeFunction>(*code, phase.symbol), phase, how.split, pointers.data());
  std::vector<Bytes> results;
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_TRUE(buffers[i]->intact()) << "operand " << i << " was written past its end";
    if (i >= inputs.size() && i + 1 < buffers.size())
      results.emplace_back(buffers[i]->get(), buffers[i]->get() + buffers[i]->size());
  }
  return results;
}
