#include "dlc/ir/Random.h"

#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Shape.h"

#include <cmath>

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Random.cpp.inc"

void DlDialect::addRandomOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Random.cpp.inc"
      >();
}

LogicalResult PhiloxOp::verify() {
  if (getIndex().getType().getShape() != getType().getShape())
    return emitOpError("expects a result of the operands' shape, got ") << getIndex().getType() << " and " << getType();
  return success();
}

namespace {
/// 32-bit words in 64-bit lanes: the product of two words is one multiplication.
struct Words {
  ScalarBuilder &b;
  Type i64;

  Value constant(uint64_t value) { return b.constant(int64_t(value), i64); }
  Value low(Value x) { return b.bitAnd(x, constant(0xFFFFFFFF)); }
  Value high(Value x) { return b.shrUnsigned(x, constant(32)); }
};
} // namespace

Value PhiloxOp::emitScalar(ScalarBuilder &b, ValueRange args) {
  Words w{b, b.getBuilder().getI64Type()};
  Value key0 = w.low(args[0]), key1 = w.high(args[0]);
  Value c0 = w.low(args[2]), c1 = w.high(args[2]), c2 = w.low(args[1]), c3 = w.high(args[1]);
  for (int round = 0; round < 10; ++round) {
    Value product0 = b.mul(c0, w.constant(0xD2511F53)), product1 = b.mul(c2, w.constant(0xCD9E8D57));
    c0 = b.bitXor(b.bitXor(w.high(product1), c1), key0);
    c1 = w.low(product1);
    c2 = b.bitXor(b.bitXor(w.high(product0), c3), key1);
    c3 = w.low(product0);
    key0 = w.low(b.add(key0, w.constant(0x9E3779B9)));
    key1 = w.low(b.add(key1, w.constant(0xBB67AE85)));
  }
  if (getType().getElementType().isInteger(32))
    return b.cast(c0, getType().getElementType());
  return b.bitOr(b.shl(c0, w.constant(32)), c1);
}
unsigned PhiloxOp::getScalarCost() { return 130; }

LogicalResult RandomBitsOp::verify() {
  if (!getType().hasStaticShape())
    return emitOpError("expects a static result shape, got ") << getType();
  return success();
}

SmallVector<Value> RandomBitsOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, getLoc());
  RankedTensorType type = getType().clone(builder.getI64Type());
  Value index;
  int64_t stride = 1;
  for (int64_t axis = type.getRank(); axis-- > 0; stride *= type.getDimSize(axis)) {
    Value along = IotaOp::create(builder, getLoc(), type, axis);
    Value scaled = stride == 1 ? along : t.mul(along, t.splat(double(stride), type));
    index = index ? t.add(scaled, index) : scaled;
  }
  if (!index)
    index = t.splat(0.0, type);
  Value seed = BroadcastOp::create(builder, getLoc(), type, getSeed(), ArrayRef<int64_t>{});
  Value offset = BroadcastOp::create(builder, getLoc(), type, getOffset(), ArrayRef<int64_t>{});
  return {PhiloxOp::create(builder, getLoc(), getType(), seed, offset, index)};
}

LogicalResult DropoutOp::verify() {
  double p = getP().convertToDouble();
  if (!(p >= 0 && p <= 1))
    return emitOpError("expects p in [0, 1], got ") << p;
  if (!getType().hasStaticShape())
    return emitOpError("expects a static shape, got ") << getType();
  return success();
}

SmallVector<Value> DropoutOp::decompose(OpBuilder &builder) {
  TensorBuilder t(builder, getLoc());
  double p = getP().convertToDouble();
  Value zero = t.splat(0.0, getType());
  if (p == 1)
    return {zero};
  // Words ordered as unsigned numbers: with the upper bit flipped, as signed ones.
  RankedTensorType words = getType().clone(builder.getI32Type());
  Value drawn = RandomBitsOp::create(builder, getLoc(), words, getSeed(), getOffset());
  Value order = XorOp::create(builder, getLoc(), drawn, t.splat(-0x1p31, words));
  double bound = std::min(std::round(p * 0x1p32), 0x1p32 - 1) - 0x1p31;
  return {t.select(t.ge(order, t.splat(bound, words)), t.mul(getX(), 1 / (1 - p)), zero)};
}

LogicalResult DropoutOp::buildAdjoint(AdjointBuilder &b) { // dy through the same mask, drawn again
  Cotangent g = b.cotangent();
  Value offset = getOffset();
  g.value = DropoutOp::create(b.getBuilder(), getLoc(), g.value, getSeed(), offset, getPAttr());
  b.addTo(0, g);
  return success();
}
