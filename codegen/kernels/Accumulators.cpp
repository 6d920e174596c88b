#include "kernels/Accumulators.h"

#include "dlc/ir/Dl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

static dl::ReductionOpInterface reductionOf(Operation *op) { return cast<dl::ReductionOpInterface>(op); }

Accumulators::Accumulators(KernelBuilder &kernel, ArrayRef<Operation *> ops)
    : kernel(kernel), reductions(ops.begin(), ops.end()) {
  for (Operation *op : reductions) {
    SmallVector<Type> own = reductionOf(op).getAccumulatorTypes();
    counts.push_back(own.size());
    llvm::append_range(types, own);
  }
}

SmallVector<Value> Accumulators::identity(int64_t width) {
  dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), width);
  SmallVector<Value> values;
  for (Operation *op : reductions)
    llvm::append_range(values, reductionOf(op).emitIdentity(scalar));
  return values;
}

SmallVector<Value> Accumulators::lift(int64_t width, ArrayRef<Value> elements, Value index) {
  dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), width);
  SmallVector<Value> values;
  for (auto [op, element] : llvm::zip(reductions, elements))
    llvm::append_range(values, reductionOf(op).emitLift(scalar, element, index));
  return values;
}

SmallVector<Value> Accumulators::combine(int64_t width, ValueRange left, ValueRange right) {
  dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), width);
  SmallVector<Value> values;
  unsigned at = 0;
  for (auto [op, count] : llvm::zip(reductions, counts)) {
    llvm::append_range(values, reductionOf(op).emitCombine(scalar, left.slice(at, count), right.slice(at, count)));
    at += count;
  }
  return values;
}

SmallVector<Value> Accumulators::masked(int64_t width, Value mask, ValueRange values) {
  if (!mask)
    return SmallVector<Value>(values);
  dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), width);
  SmallVector<Value> result;
  for (auto [value, neutral] : llvm::zip(values, identity(width)))
    result.push_back(scalar.select(mask, value, neutral));
  return result;
}

SmallVector<Value> Accumulators::halve(int64_t width, ValueRange given) {
  OpBuilder &b = kernel.getBuilder();
  SmallVector<Value> values(given);
  for (int64_t half = width / 2; half >= 1; half /= 2) {
    SmallVector<Value> left, right;
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < half; ++i) {
      low.push_back(i);
      high.push_back(i + half);
    }
    for (Value value : values) {
      if (half == 1) {
        left.push_back(vector::ExtractOp::create(b, kernel.getLoc(), value, int64_t(0)));
        right.push_back(vector::ExtractOp::create(b, kernel.getLoc(), value, int64_t(1)));
      } else {
        left.push_back(vector::ShuffleOp::create(b, kernel.getLoc(), value, value, low));
        right.push_back(vector::ShuffleOp::create(b, kernel.getLoc(), value, value, high));
      }
    }
    values = combine(half == 1 ? 0 : half, left, right);
  }
  return values;
}

SmallVector<Value> Accumulators::finish(int64_t width, ValueRange values, int64_t count) {
  dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), width);
  SmallVector<Value> results;
  unsigned at = 0;
  for (auto [op, own] : llvm::zip(reductions, counts)) {
    results.push_back(reductionOf(op).emitFinish(scalar, values.slice(at, own), count));
    at += own;
  }
  return results;
}
