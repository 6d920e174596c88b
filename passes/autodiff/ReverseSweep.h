#pragma once

#include "dlc/ir/Dl.h"
#include "dlc/passes/Activity.h"

namespace dlc::passes {

/// Reverse-mode differentiation of the ops of one block: a sweep forward that collects the active ops, then a sweep
/// back over them. Blocks of ops with regions are swept in turn.
class ReverseSweep final : public dl::BlockAdjoint {
public:
  struct Options {
    bool decomposeFirst;   ///< also ops with a rule, where they can be
    mlir::Location origin; ///< what asked for the derivative, for messages
  };

  /// Differentiates `losses`, values that are known before `end`, an op of the block; new ops go to `builder`.
  ReverseSweep(mlir::ValueRange losses, mlir::Operation *end, mlir::OpBuilder &builder, Options options);

  /// Whether a derivative flows to the value.
  bool influences(mlir::Value value) const { return activity.influences(value); }
  /// Wants the cotangent of a value.
  void activate(mlir::Value value) { active.insert(value); }
  /// Adds to the cotangent of a value.
  void accumulate(mlir::Location location, mlir::Value value, dl::Cotangent contribution);
  /// Fails, with an error at the op, when one on the way has no derivative.
  mlir::LogicalResult run();
  /// Null for zero.
  mlir::Value cotangentOf(mlir::Value value) const { return cotangents.lookup(value).value; }

  llvm::FailureOr<llvm::SmallVector<mlir::Value>> differentiate(mlir::Block &forward, const llvm::BitVector &wanted,
                                                                llvm::ArrayRef<mlir::Value> seeds,
                                                                mlir::Block &adjoint) override;

private:
  mlir::LogicalResult collectActiveOps();
  bool isActive(mlir::Operation *op) const;
  mlir::Operation *decompose(dl::DecomposableOpInterface op);
  mlir::LogicalResult refuse(mlir::Operation *op);
  mlir::LogicalResult visit(mlir::Operation *op);
  void replace(mlir::Operation *op, mlir::Operation *by);

  mlir::Operation *end;
  mlir::OpBuilder &builder;
  Options options;
  Activity activity;
  llvm::DenseSet<mlir::Value> active;
  llvm::SmallVector<mlir::Operation *> activeOps;
  llvm::DenseMap<mlir::Value, dl::Cotangent> cotangents;
};

} // namespace dlc::passes
