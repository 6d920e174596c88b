#include "targets/cpu/CpuKernelBuilder.h"

#include "dlc/ir/ScalarBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace dlc::codegen;

// A range is worth some microseconds; below that the hand-over costs more than it saves.
static constexpr double rangeNanoseconds = 4000;

CpuKernelBuilder::CpuKernelBuilder(ModuleOp module, StringRef name, Location location, unsigned operands,
                                   const CpuTraits &traits)
    : PointerKernelBuilder(module.getContext(), location), traits(traits), module(module), name(name),
      operands(operands) {}

CpuKernelBuilder::CpuKernelBuilder(OpBuilder &at, Location location, ValueRange given, Value workspace,
                                   const CpuTraits &traits)
    : PointerKernelBuilder(at.getContext(), location), traits(traits), operands(given.size()),
      pointers(given.begin(), given.end()) {
  builder.setInsertionPoint(at.getInsertionBlock(), at.getInsertionPoint());
  pointers.push_back(workspace);
}

int64_t CpuKernelBuilder::lanesOf(Type element) { return traits.vectorBytes / std::max<int64_t>(bytesOf(element), 4); }

static Block &entryOf(OpBuilder &builder) {
  Operation *op = builder.getInsertionBlock()->getParentOp();
  while (!isa<FunctionOpInterface>(op))
    op = op->getParentOp();
  return cast<FunctionOpInterface>(op).getFunctionBody().front();
}

Value CpuKernelBuilder::pointerAt(unsigned i) {
  if (!pointers[i]) {
    OpBuilder::InsertionGuard guard(builder);
    Block &entry = entryOf(builder);
    builder.setInsertionPointToStart(&entry);
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
    Value slot = LLVM::GEPOp::create(builder, location, pointer, pointer, entry.getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)}, LLVM::GEPNoWrapFlags::inbounds);
    pointers[i] = LLVM::LoadOp::create(builder, location, pointer, slot, 8);
  }
  return pointers[i];
}

Memory CpuKernelBuilder::operand(unsigned i, Type element) { return {pointerAt(i), element}; }

Memory CpuKernelBuilder::workspace(int64_t offset, Type element) {
  Value base = pointerAt(operands);
  if (offset) {
    Value bytes = i64(offset);
    base = LLVM::GEPOp::create(builder, location, base.getType(), builder.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{bytes}, LLVM::GEPNoWrapFlags::inbounds);
  }
  return {base, element};
}

Memory CpuKernelBuilder::scratch(int64_t elements, Type element) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&entryOf(builder));
  Value count = i64(elements);
  Value pointer = LLVM::AllocaOp::create(builder, location, LLVM::LLVMPointerType::get(builder.getContext()),
                                         memoryType(element), count, 64);
  return {pointer, element};
}

Memory CpuKernelBuilder::constantData(DenseElementsAttr values) {
  Operation *parent = module;
  if (!parent) {
    Operation *op = builder.getInsertionBlock()->getParentOp();
    parent = op->getParentOfType<ModuleOp>();
  }
  return constantIn(parent, values, 0);
}

void CpuKernelBuilder::parallelRange(int64_t extent, int64_t multiple, double nanoseconds,
                                     llvm::function_ref<void(Value, Value)> body) {
  double whole = nanoseconds * double(extent);
  total += whole;
  auto grain = int64_t(std::ceil(rangeNanoseconds / std::max(nanoseconds, 1e-3)));
  grain = (std::max<int64_t>(grain, 1) + multiple - 1) / multiple * multiple;
  bool serial = whole < traits.serialNanoseconds;
  std::string symbol;
  if (!module) {
    body(i64(0), i64(extent));
  } else {
    symbol = name + "_" + std::to_string(phases.size());
    builder.setInsertionPointToEnd(module.getBody());
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), integer = builder.getI64Type();
    auto type = builder.getFunctionType({pointer, pointer, integer, integer}, {});
    auto function = func::FuncOp::create(builder, location, symbol, type);
    Block *entry = function.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    pointers.assign(operands + 1, Value());
    // Terminator first: the entry block has an end while the body is emitted before it.
    builder.setInsertionPoint(func::ReturnOp::create(builder, location));
    if (serial) // always called with the whole range: its bounds are constants
      body(i64(0), i64(extent));
    else
      body(entry->getArgument(2), entry->getArgument(3));
  }
  phases.push_back({symbol, extent, multiple, grain, serial});
}
