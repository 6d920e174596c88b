#include "dlc/ir/MatMul.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

namespace {

/// The dimensions of one operand, in the order batch, free, contracted.
struct OperandLoops {
  OperandLoops(ArrayRef<int64_t> shape, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
    SmallVector<int64_t> strides = rowMajorStrides(shape);
    for (int64_t dim : batch)
      batchStrides.push_back(strides[dim]);
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim)) {
        freeStrides.push_back(strides[dim]);
        ++freeCount;
      }
    for (int64_t dim : contract) {
      contractStrides.push_back(strides[dim]);
      contractExtents.push_back(shape[dim]);
    }
  }

  static int64_t dot(ArrayRef<int64_t> index, ArrayRef<int64_t> strides) {
    int64_t sum = 0;
    for (auto [i, stride] : llvm::zip_equal(index, strides))
      sum += i * stride;
    return sum;
  }

  SmallVector<int64_t> batchStrides, freeStrides, contractStrides, contractExtents;
  size_t freeCount = 0;
};

} // namespace

static void dotGeneral(DotGeneralOp op, ReferenceOperands x, ReferenceResults y) {
  OperandLoops lhs(x[0].shape(), op.getLhsBatch(), op.getLhsContract());
  OperandLoops rhs(x[1].shape(), op.getRhsBatch(), op.getRhsContract());
  size_t batch = op.getLhsBatch().size();
  forEachIndex(y[0].shape(), [&](ArrayRef<int64_t> index, int64_t i) {
    ArrayRef<int64_t> b = index.take_front(batch), m = index.slice(batch, lhs.freeCount);
    ArrayRef<int64_t> n = index.drop_front(batch + lhs.freeCount);
    int64_t left = OperandLoops::dot(b, lhs.batchStrides) + OperandLoops::dot(m, lhs.freeStrides);
    int64_t right = OperandLoops::dot(b, rhs.batchStrides) + OperandLoops::dot(n, rhs.freeStrides);
    double sum = 0;
    forEachIndex(lhs.contractExtents, [&](ArrayRef<int64_t> k, int64_t) {
      sum += x[0].floats[left + OperandLoops::dot(k, lhs.contractStrides)] *
             x[1].floats[right + OperandLoops::dot(k, rhs.contractStrides)];
    });
    y[0].floats[i] = sum;
  });
}

void dlc::dl::registerReferenceMatMul(ReferenceRegistry &registry) { registry.add<DotGeneralOp>(dotGeneral); }
