#pragma once

#include "dlc/ir/AdjointBuilder.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace dlc::passes {

using dl::carriesDerivative;

/// The values that influence a loss through differentiable operands, within the block that computes it. Decides which
/// parameters have a gradient at all: one that does not influence the loss gets none, and no update.
class Activity {
public:
  /// One backward sweep over the block, from the loss to its first operation.
  explicit Activity(mlir::Value loss);
  /// The values that influence any of several, which are all known by the time `last` has run (null: no operation).
  Activity(mlir::ValueRange losses, mlir::Operation *last);

  bool influences(mlir::Value value) const { return next.contains(value); }

  /// The operations that lead from the value to the loss, nearest first; empty for the loss itself.
  llvm::SmallVector<mlir::Operation *> pathToLoss(mlir::Value value) const;

  /// Replaces `op` by the operations after `before` (null: from the start of the block) up to `op`, whose results
  /// become `values`; `op` keeps no use and is forgotten, not erased.
  void replace(mlir::Operation *op, mlir::Operation *before, mlir::ValueRange values);

private:
  void visit(mlir::Operation *op);
  void forget(mlir::Value value, mlir::Operation *op);

  llvm::DenseMap<mlir::Value, mlir::Operation *> next; // the nearest operation towards the loss; null for the loss
};

} // namespace dlc::passes
