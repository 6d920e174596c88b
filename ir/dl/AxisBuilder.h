#pragma once

#include "dlc/ir/Reduce.h"
#include "dlc/ir/Shape.h"
#include "dlc/ir/TensorBuilder.h"

namespace dlc::dl {

/// Reductions of tensors of one shape over some of its axes, and the way back.
class AxisBuilder : public TensorBuilder {
public:
  AxisBuilder(mlir::OpBuilder &builder, mlir::Location location, mlir::RankedTensorType full,
              llvm::ArrayRef<int64_t> axes)
      : TensorBuilder(builder, location), full(full), axes(axes) {
    for (int64_t axis = 0; axis < full.getRank(); ++axis)
      if (!llvm::is_contained(axes, axis))
        kept.push_back(axis);
  }

  /// Elements that become one.
  int64_t count() const {
    int64_t product = 1;
    for (int64_t axis : axes)
      product *= full.getDimSize(axis);
    return product;
  }
  mlir::Value sum(mlir::Value x) { return ReduceSumOp::create(getBuilder(), getLoc(), x, axes); }
  mlir::Value mean(mlir::Value x) { return div(sum(x), double(count())); }
  mlir::Value max(mlir::Value x) { return ReduceMaxOp::create(getBuilder(), getLoc(), x, axes); }
  /// Repeats a reduced value along the reduced axes, whatever its element type.
  mlir::Value spread(mlir::Value reduced) {
    auto type = full.clone(mlir::getElementTypeOrSelf(reduced.getType()));
    return BroadcastOp::create(getBuilder(), getLoc(), type, reduced, kept);
  }
  Cotangent spread(Cotangent g) { return g ? Cotangent{spread(g.value), g.mask ? spread(g.mask) : mlir::Value()} : g; }

private:
  mlir::RankedTensorType full;
  llvm::SmallVector<int64_t> axes;
  llvm::SmallVector<int64_t> kept;
};

} // namespace dlc::dl
