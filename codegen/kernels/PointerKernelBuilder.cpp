#include "kernels/PointerKernelBuilder.h"

#include "dlc/ir/ScalarBuilder.h"
#include "dlc/ir/Widen.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

Type PointerKernelBuilder::memoryType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return dl::hasNarrowFloats(element) ? IntegerType::get(element.getContext(), 16) : element;
}

int64_t PointerKernelBuilder::bytesOf(Type element) { return std::max(element.getIntOrFloatBitWidth(), 8u) / 8; }

unsigned PointerKernelBuilder::alignmentOf(const Memory &memory, int64_t) { return unsigned(bytesOf(memory.stored())); }

Memory PointerKernelBuilder::constantIn(Operation *symbols, DenseElementsAttr values, unsigned addressSpace) {
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
  OpBuilder global = OpBuilder::atBlockBegin(&symbols->getRegion(0).front());
  std::string symbol;
  for (unsigned n = 0; symbol.empty() || SymbolTable::lookupSymbolIn(symbols, symbol); ++n)
    symbol = "dlc_constant_" + std::to_string(n);
  if (dl::hasNarrowFloats(element))
    data = data.bitcast(memoryType(element));
  auto array = LLVM::LLVMArrayType::get(memoryType(element), count);
  LLVM::GlobalOp::create(global, location, array, /*isConstant=*/true, LLVM::Linkage::Internal, symbol, data, 64,
                         addressSpace);
  Value pointer =
      LLVM::AddressOfOp::create(builder, location, LLVM::LLVMPointerType::get(builder.getContext(), addressSpace),
                                FlatSymbolRefAttr::get(builder.getContext(), symbol));
  return {pointer, element};
}

Value PointerKernelBuilder::i64(int64_t value) {
  return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value));
}

Value PointerKernelBuilder::address(const Memory &memory, Value offset) {
  return LLVM::GEPOp::create(builder, location, memory.pointer.getType(), memoryType(memory.stored()), memory.pointer,
                             ArrayRef<LLVM::GEPArg>{offset}, LLVM::GEPNoWrapFlags::inbounds);
}

/// The scalar or vector type with another element type.
static Type withElement(Type shaped, Type element) {
  auto vector = dyn_cast<VectorType>(shaped);
  return vector ? Type(vector.clone(element)) : element;
}

Value PointerKernelBuilder::fromMemory(Value value, const Memory &memory) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (memory.element.isInteger(1)) {
    dl::ScalarBuilder scalar(builder, location, vector ? vector.getNumElements() : 0);
    return scalar.ne(value, scalar.constant(int64_t(0), builder.getI8Type()));
  }
  if (dl::hasNarrowFloats(memory.stored()))
    value = arith::BitcastOp::create(builder, location, withElement(value.getType(), memory.stored()), value);
  if (memory.narrow)
    value = arith::ExtFOp::create(builder, location, withElement(value.getType(), memory.element), value);
  return value;
}

Value PointerKernelBuilder::toMemory(Value value, const Memory &memory) {
  Type stored = memory.stored();
  if (stored.isInteger(1))
    return arith::ExtUIOp::create(builder, location, withElement(value.getType(), memoryType(stored)), value);
  if (!dl::hasNarrowFloats(stored))
    return value;
  if (getElementTypeOrSelf(value.getType()) != stored)
    value = arith::TruncFOp::create(builder, location, withElement(value.getType(), stored), value);
  return arith::BitcastOp::create(builder, location, withElement(value.getType(), memoryType(stored)), value);
}

Value PointerKernelBuilder::loadVector(const Memory &memory, Value offset, int64_t width, Value mask) {
  auto type = VectorType::get({width}, memoryType(memory.stored()));
  unsigned align = alignmentOf(memory, width);
  Value from = address(memory, offset);
  if (!mask)
    return LLVM::LoadOp::create(builder, location, type, from, align);
  Value zero = arith::ConstantOp::create(builder, location, cast<TypedAttr>(builder.getZeroAttr(type)));
  return LLVM::MaskedLoadOp::create(builder, location, type, from, mask, zero, align);
}

// Every other of 2 * width - 1 elements: the second half starts one element early, so that nothing past the last lane
// is read.
Value PointerKernelBuilder::loadEveryOther(const Memory &memory, Value offset, const Lane &lane) {
  int64_t width = lane.width;
  Value half = i64(width - 1);
  Value behind = arith::AddIOp::create(builder, location, offset, half);
  Memory odd = memory;
  odd.divisor = 1;
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
  Value first = loadVector(memory, offset, width, lowMask), second = loadVector(odd, behind, width, highMask);
  return vector::ShuffleOp::create(builder, location, first, second, picks);
}

Value PointerKernelBuilder::load(Memory memory, Value offset, int64_t stride, const Lane &lane) {
  Type stored = memoryType(memory.stored());
  auto scalarAt = [&](Value at) -> Value {
    return LLVM::LoadOp::create(builder, location, stored, address(memory, at), unsigned(bytesOf(memory.stored())));
  };
  auto plus = [&](int64_t elements) -> Value {
    Value add = i64(elements);
    return arith::AddIOp::create(builder, location, offset, add);
  };
  if (!lane.width)
    return fromMemory(scalarAt(offset), memory);
  auto type = VectorType::get({lane.width}, stored);
  if (stride == 0)
    return fromMemory(vector::BroadcastOp::create(builder, location, type, scalarAt(offset)), memory);
  if (stride == 1)
    return fromMemory(loadVector(memory, offset, lane.width, lane.mask), memory);
  if (stride == 2 && lane.width % 2 == 0)
    return fromMemory(loadEveryOther(memory, offset, lane), memory);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < lane.width; ++i)
    elements.push_back(scalarAt(i ? plus(i * stride) : offset));
  return fromMemory(vector::FromElementsOp::create(builder, location, type, elements), memory);
}

void PointerKernelBuilder::store(Memory memory, Value offset, const Lane &lane, Value value) {
  value = toMemory(value, memory);
  unsigned align = alignmentOf(memory, lane.width);
  Value to = address(memory, offset);
  if (lane.mask)
    LLVM::MaskedStoreOp::create(builder, location, value, to, lane.mask, align);
  else
    LLVM::StoreOp::create(builder, location, value, to, align);
}
