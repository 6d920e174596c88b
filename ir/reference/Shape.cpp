#include "dlc/ir/Shape.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

using Index = ArrayRef<int64_t>;

static void copyElement(const ReferenceTensor &from, int64_t i, ReferenceTensor &to, int64_t j) {
  if (to.isFloat())
    to.floats[j] = from.floats[i];
  else
    to.integers[j] = from.integers[i];
}

static int64_t position(Index index, Index strides) {
  int64_t sum = 0;
  for (auto [i, stride] : llvm::zip_equal(index, strides))
    sum += i * stride;
  return sum;
}

static void reshape(ReshapeOp, ReferenceOperands x, ReferenceResults y) {
  for (int64_t i = 0; i < y[0].size(); ++i)
    copyElement(x[0], i, y[0], i);
}

// The remaining moves go through the elements of the operand (transpose, pad, concat, reverse), or of the result.

static void transpose(TransposeOp op, ReferenceOperands x, ReferenceResults y) {
  SmallVector<int64_t> strides = rowMajorStrides(y[0].shape()), moved(strides.size());
  forEachIndex(x[0].shape(), [&](Index index, int64_t i) {
    for (auto [to, from] : llvm::enumerate(op.getPermutation()))
      moved[to] = index[from];
    copyElement(x[0], i, y[0], position(moved, strides));
  });
}

static void broadcast(BroadcastOp op, ReferenceOperands x, ReferenceResults y) {
  SmallVector<int64_t> strides = rowMajorStrides(x[0].shape()), from(strides.size());
  forEachIndex(y[0].shape(), [&](Index index, int64_t i) {
    for (auto [dim, to] : llvm::enumerate(op.getDims()))
      from[dim] = x[0].shape()[dim] == 1 ? 0 : index[to];
    copyElement(x[0], position(from, strides), y[0], i);
  });
}

static void slice(SliceOp op, ReferenceOperands x, ReferenceResults y) {
  SmallVector<int64_t> strides = rowMajorStrides(x[0].shape()), from(strides.size());
  forEachIndex(y[0].shape(), [&](Index index, int64_t i) {
    for (size_t dim = 0; dim < from.size(); ++dim)
      from[dim] = op.getStarts()[dim] + index[dim] * op.getStrides()[dim];
    copyElement(x[0], position(from, strides), y[0], i);
  });
}

static void pad(PadOp op, ReferenceOperands x, ReferenceResults y) {
  for (int64_t i = 0; i < y[0].size(); ++i)
    copyElement(x[1], 0, y[0], i);
  SmallVector<int64_t> strides = rowMajorStrides(y[0].shape()), to(strides.size());
  forEachIndex(x[0].shape(), [&](Index index, int64_t i) {
    for (size_t dim = 0; dim < to.size(); ++dim)
      to[dim] = op.getLo()[dim] + index[dim] * (1 + op.getInterior()[dim]);
    copyElement(x[0], i, y[0], position(to, strides));
  });
}

static void concat(ConcatOp op, ReferenceOperands x, ReferenceResults y) {
  SmallVector<int64_t> strides = rowMajorStrides(y[0].shape());
  int64_t axis = op.getAxis(), offset = 0;
  for (const ReferenceTensor &input : x) {
    forEachIndex(input.shape(), [&](Index index, int64_t i) {
      copyElement(input, i, y[0], position(index, strides) + offset * strides[axis]);
    });
    offset += input.shape()[axis];
  }
}

static void reverse(ReverseOp op, ReferenceOperands x, ReferenceResults y) {
  SmallVector<int64_t> strides = rowMajorStrides(x[0].shape());
  forEachIndex(x[0].shape(), [&](Index index, int64_t i) {
    SmallVector<int64_t> to(index);
    for (int64_t axis : op.getAxes())
      to[axis] = x[0].shape()[axis] - 1 - to[axis];
    copyElement(x[0], i, y[0], position(to, strides));
  });
}

static void iota(IotaOp op, ReferenceOperands, ReferenceResults y) {
  forEachIndex(y[0].shape(), [&](Index index, int64_t i) {
    if (y[0].isFloat())
      y[0].floats[i] = double(index[op.getAxis()]);
    else
      y[0].integers[i] = index[op.getAxis()];
  });
}

void dlc::dl::registerReferenceShape(ReferenceRegistry &registry) {
  registry.add<ReshapeOp>(reshape);
  registry.add<TransposeOp>(transpose);
  registry.add<BroadcastOp>(broadcast);
  registry.add<SliceOp>(slice);
  registry.add<PadOp>(pad);
  registry.add<ConcatOp>(concat);
  registry.add<ReverseOp>(reverse);
  registry.add<IotaOp>(iota);
}
