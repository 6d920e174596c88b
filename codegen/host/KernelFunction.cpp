#include "host/KernelFunction.h"

#include "dlc/runtime/Abi.h"
#include "host/LowerProgram.h"
#include "kernels/Kernels.h"
#include "targets/cpu/CpuKernelBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cstddef>

using namespace mlir;

namespace dlc::codegen {

namespace {

/// Calls of the phases, in the function of the kernel.
class PhaseCalls {
public:
  PhaseCalls(OpBuilder &builder, Location location, Value api, Value executor, Value pointers)
      : b(builder), loc(location), pointerType(LLVM::LLVMPointerType::get(builder.getContext())), api(api),
        executor(executor), pointers(pointers), dims(LLVM::ZeroOp::create(builder, location, pointerType)) {}

  void call(const KernelPhase &phase) {
    Type i64 = b.getI64Type(), none = LLVM::LLVMVoidType::get(b.getContext());
    Value extent = constant(phase.extent);
    if (phase.serial) {
      auto type = LLVM::LLVMFunctionType::get(none, {pointerType, pointerType, i64, i64});
      LLVM::CallOp::create(b, loc, type, phase.symbol, ValueRange{pointers, dims, constant(0), extent});
      return;
    }
    Value function = LLVM::AddressOfOp::create(b, loc, pointerType, phase.symbol);
    auto type = LLVM::LLVMFunctionType::get(none, {pointerType, i64, i64, pointerType, pointerType, pointerType});
    LLVM::CallOp::create(b, loc, type,
                         ValueRange{parallelFor(), executor, extent, constant(phase.grain), function, pointers, dims});
  }

private:
  Value constant(int64_t value) { return LLVM::ConstantOp::create(b, loc, b.getI64Type(), value); }

  Value parallelFor() {
    Value slot = LLVM::GEPOp::create(b, loc, pointerType, b.getI8Type(), api,
                                     ArrayRef<LLVM::GEPArg>{int32_t(offsetof(DlcApi, parallelFor))},
                                     LLVM::GEPNoWrapFlags::inbounds);
    return LLVM::LoadOp::create(b, loc, pointerType, slot, 8);
  }

  OpBuilder &b;
  Location loc;
  Type pointerType;
  Value api, executor, pointers, dims;
};

} // namespace

LogicalResult emitKernelFunction(rt::KernelOp kernel, const CpuTraits &traits) {
  auto module = kernel->getParentOfType<ModuleOp>();
  std::string symbol = kernelSymbol(kernel.getSymName());
  dl::GroupOp group = kernel.getGroup();
  CpuKernelBuilder builder(module, symbol, kernel.getLoc(), unsigned(group.getInputs().size() + group.getNumResults()),
                           traits);
  if (failed(emitKernel(builder, group, traits)))
    return failure();
  // In a module with the host programs the function is declared already.
  if (auto declared = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol))
    declared.erase();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointerType, pointerType, pointerType});
  auto function = LLVM::LLVMFuncOp::create(b, kernel.getLoc(), symbol, type);
  function.setVisibility_(LLVM::Visibility::Hidden);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  PhaseCalls calls(b, kernel.getLoc(), entry->getArgument(0), entry->getArgument(1), entry->getArgument(2));
  for (const KernelPhase &phase : builder.getPhases())
    calls.call(phase);
  LLVM::ReturnOp::create(b, kernel.getLoc(), ValueRange());
  kernel.erase();
  return success();
}

} // namespace dlc::codegen
