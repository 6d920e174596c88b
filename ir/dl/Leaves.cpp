#include "Leaves.h"

#include "dlc/ir/Constant.h"
#include "dlc/ir/Shape.h"
#include "dlc/ir/TensorBuilder.h"

using namespace mlir;
using namespace dlc::dl;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Value dlc::dl::fillLeaves(OpBuilder &b, Value x, int64_t dim, LeafSplit leaves, TypedAttr filler) {
  RankedTensorType type = typeOf(x);
  SmallVector<int64_t> zeros(type.getRank(), 0), behind(zeros);
  behind[dim] = leaves.count * leaves.extent - type.getDimSize(dim);
  if (!behind[dim])
    return x;
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value value = ConstantOp::create(b, x.getLoc(), DenseElementsAttr::get(scalar, Attribute(filler)));
  return PadOp::create(b, x.getLoc(), x, value, zeros, behind, zeros);
}

Value dlc::dl::cutIntoLeaves(OpBuilder &b, Value x, int64_t dim, LeafSplit leaves, TypedAttr filler) {
  x = fillLeaves(b, x, dim, leaves, filler);
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape[dim] = leaves.extent;
  shape.insert(shape.begin() + dim, leaves.count);
  return b.createOrFold<ReshapeOp>(x.getLoc(), typeOf(x).clone(shape), x);
}

// Neighbours first: every other leaf is added to the one before it, until one is left.
Value dlc::dl::addLeaves(OpBuilder &b, Value x, int64_t dim) {
  Location location = x.getLoc();
  auto everyOther = [&](int64_t first) -> Value {
    SmallVector<int64_t> starts(typeOf(x).getRank(), 0), steps(starts.size(), 1);
    starts[dim] = first;
    steps[dim] = 2;
    return b.createOrFold<SliceOp>(location, x, starts, typeOf(x).getShape(), steps);
  };
  while (typeOf(x).getDimSize(dim) > 1)
    x = TensorBuilder(b, location).add(everyOther(0), everyOther(1));
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape.erase(shape.begin() + dim);
  return b.createOrFold<ReshapeOp>(location, typeOf(x).clone(shape), x);
}
