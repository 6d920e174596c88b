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
    : builder(module.getContext()), location(location), traits(traits), module(module), name(name), operands(operands) {
}

CpuKernelBuilder::CpuKernelBuilder(OpBuilder &at, Location location, ValueRange given, Value workspace,
                                   const CpuTraits &traits)
    : builder(at.getContext()), location(location), traits(traits), operands(given.size()),
      pointers(given.begin(), given.end()) {
  builder.setInsertionPoint(at.getInsertionBlock(), at.getInsertionPoint());
  pointers.push_back(workspace);
}

static Type memoryType(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

static int64_t bytesOf(Type element) { return std::max(element.getIntOrFloatBitWidth(), 8u) / 8; }

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
  ModuleOp parent = module;
  if (!parent) {
    Operation *op = builder.getInsertionBlock()->getParentOp();
    parent = op->getParentOfType<ModuleOp>();
  }
  Type element = values.getElementType();
  int64_t count = values.getNumElements();
  auto type = RankedTensorType::get({count}, memoryType(element));
  DenseElementsAttr data = values.reshape(RankedTensorType::get({count}, element));
  if (element.isInteger(1)) {
    SmallVector<int8_t> bytes;
    for (bool value : values.getValues<bool>())
      bytes.push_back(value);
    data = DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes));
  }
  OpBuilder global = OpBuilder::atBlockBegin(parent.getBody());
  std::string symbol;
  for (unsigned n = 0; symbol.empty() || parent.lookupSymbol(symbol); ++n)
    symbol = "dlc_constant_" + std::to_string(n);
  auto array = LLVM::LLVMArrayType::get(memoryType(element), count);
  LLVM::GlobalOp::create(global, location, array, /*isConstant=*/true, LLVM::Linkage::Internal, symbol, data, 64);
  Value pointer = LLVM::AddressOfOp::create(builder, location, LLVM::LLVMPointerType::get(builder.getContext()),
                                            FlatSymbolRefAttr::get(builder.getContext(), symbol));
  return {pointer, element};
}

Value CpuKernelBuilder::i64(int64_t value) {
  return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value));
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

Value CpuKernelBuilder::address(Memory memory, Value offset) {
  return LLVM::GEPOp::create(builder, location, memory.pointer.getType(), memoryType(memory.element), memory.pointer,
                             ArrayRef<LLVM::GEPArg>{offset}, LLVM::GEPNoWrapFlags::inbounds);
}

Value CpuKernelBuilder::fromMemory(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  auto vector = dyn_cast<VectorType>(value.getType());
  dl::ScalarBuilder scalar(builder, location, vector ? vector.getNumElements() : 0);
  return scalar.ne(value, scalar.constant(int64_t(0), builder.getI8Type()));
}

Value CpuKernelBuilder::loadVector(Memory memory, Value offset, int64_t width, Value mask) {
  auto type = VectorType::get({width}, memoryType(memory.element));
  auto align = unsigned(bytesOf(memory.element));
  Value from = address(memory, offset);
  if (!mask)
    return LLVM::LoadOp::create(builder, location, type, from, align);
  Value zero = arith::ConstantOp::create(builder, location, cast<TypedAttr>(builder.getZeroAttr(type)));
  return LLVM::MaskedLoadOp::create(builder, location, type, from, mask, zero, align);
}

// Every other of 2 * width - 1 elements: the second half starts one element early, so that nothing past the last lane
// is read.
Value CpuKernelBuilder::loadEveryOther(Memory memory, Value offset, const Lane &lane) {
  int64_t width = lane.width;
  Value half = i64(width - 1);
  Value behind = arith::AddIOp::create(builder, location, offset, half);
  Value lowMask, highMask;
  SmallVector<int64_t> picks, low, high;
  for (int64_t i = 0; i < width; ++i) {
    picks.push_back(i < width / 2 ? 2 * i : 2 * i + 1);
    low.push_back(i % 2 ? width : i / 2);
    high.push_back(i % 2 ? (width - 1 + i) / 2 : width);
  }
  if (lane.mask) {
    Value none =
        arith::ConstantOp::create(builder, location, cast<TypedAttr>(builder.getZeroAttr(lane.mask.getType())));
    lowMask = vector::ShuffleOp::create(builder, location, lane.mask, none, low);
    highMask = vector::ShuffleOp::create(builder, location, lane.mask, none, high);
  }
  Value first = loadVector(memory, offset, width, lowMask), second = loadVector(memory, behind, width, highMask);
  return vector::ShuffleOp::create(builder, location, first, second, picks);
}

Value CpuKernelBuilder::load(Memory memory, Value offset, int64_t stride, const Lane &lane) {
  Type stored = memoryType(memory.element);
  auto scalarAt = [&](Value at) -> Value {
    return LLVM::LoadOp::create(builder, location, stored, address(memory, at), unsigned(bytesOf(memory.element)));
  };
  auto plus = [&](int64_t elements) -> Value {
    Value add = i64(elements);
    return arith::AddIOp::create(builder, location, offset, add);
  };
  if (!lane.width)
    return fromMemory(scalarAt(offset), memory.element);
  auto type = VectorType::get({lane.width}, stored);
  if (stride == 0)
    return fromMemory(vector::BroadcastOp::create(builder, location, type, scalarAt(offset)), memory.element);
  if (stride == 1)
    return fromMemory(loadVector(memory, offset, lane.width, lane.mask), memory.element);
  if (stride == 2 && lane.width % 2 == 0)
    return fromMemory(loadEveryOther(memory, offset, lane), memory.element);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < lane.width; ++i)
    elements.push_back(scalarAt(i ? plus(i * stride) : offset));
  return fromMemory(vector::FromElementsOp::create(builder, location, type, elements), memory.element);
}

void CpuKernelBuilder::store(Memory memory, Value offset, const Lane &lane, Value value) {
  if (memory.element.isInteger(1)) {
    Type byte = builder.getI8Type();
    value = arith::ExtUIOp::create(builder, location, lane.width ? VectorType::get({lane.width}, byte) : byte, value);
  }
  auto align = unsigned(bytesOf(memory.element));
  Value to = address(memory, offset);
  if (lane.mask)
    LLVM::MaskedStoreOp::create(builder, location, value, to, lane.mask, align);
  else
    LLVM::StoreOp::create(builder, location, value, to, align);
}
