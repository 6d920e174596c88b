#include "dlc/ir/Index.h"

#include "reference/Registry.h"

#include <limits>

using namespace mlir;
using namespace dlc::dl;

/// Calls `function(element of x, element of the gathered tensor)` for each of the latter in row-major order, from the
/// definition; the first is -1 where the index is outside.
template <typename OpTy>
static void forEachGathered(OpTy op, const ReferenceTensor &x, const ReferenceTensor &indices, ArrayRef<int64_t> shape,
                            function_ref<void(int64_t, int64_t)> function) {
  int64_t axis = op.getAxis(), batchDims = op.getBatchDims(), places = int64_t(indices.shape().size()) - batchDims;
  SmallVector<int64_t> ofX = rowMajorStrides(x.shape()), ofIndices = rowMajorStrides(indices.shape());
  forEachIndex(shape, [&](ArrayRef<int64_t> at, int64_t i) {
    int64_t number = 0, from = 0;
    for (int64_t dim = 0; dim < batchDims; ++dim)
      number += at[dim] * ofIndices[dim];
    for (int64_t dim = 0; dim < places; ++dim)
      number += at[axis + dim] * ofIndices[batchDims + dim];
    for (int64_t dim = 0; dim < axis; ++dim)
      from += at[dim] * ofX[dim];
    for (int64_t dim = axis + 1; dim < int64_t(ofX.size()); ++dim)
      from += at[dim - 1 + places] * ofX[dim];
    int64_t index = indices.integers[number];
    function(index < 0 || index >= x.shape()[axis] ? -1 : from + index * ofX[axis], i);
  });
}

static void gather(GatherOp op, ReferenceOperands x, ReferenceResults y) {
  forEachGathered(op, x[0], x[1], y[0].shape(), [&](int64_t from, int64_t i) {
    if (y[0].isFloat())
      y[0].floats[i] = from < 0 ? std::numeric_limits<double>::quiet_NaN() : x[0].floats[from];
    else
      y[0].integers[i] = from < 0 ? 0 : x[0].integers[from];
  });
}

/// An element of x receives its updates in row-major order of the indices: its outer and inner index are theirs too.
static void scatter(ScatterOp op, ReferenceOperands x, ReferenceResults y) {
  bool adds = op.getKind() == ScatterKind::Add;
  y[0].floats = x[0].floats;
  y[0].integers = x[0].integers;
  forEachGathered(op, x[0], x[1], x[2].shape(), [&](int64_t to, int64_t i) {
    if (to < 0)
      return;
    if (y[0].isFloat())
      y[0].floats[to] = adds ? y[0].floats[to] + x[2].floats[i] : x[2].floats[i];
    else
      y[0].integers[to] = adds ? y[0].integers[to] + x[2].integers[i] : x[2].integers[i];
  });
}

void dlc::dl::registerReferenceIndex(ReferenceRegistry &registry) {
  registry.add<GatherOp>(gather);
  registry.add<ScatterOp>(scatter);
}
