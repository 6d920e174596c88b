#pragma once

#include "dlc/ir/Collective.h"
#include "llvm/ADT/MapVector.h"

namespace dlc::passes {

/// Which values stay partial: those that only ops read which commute with the reduction, down to the last of these. A
/// carried value that steps only add to is one of them: it is reduced behind the loop.
class Partials {
public:
  /// Of an entry whose ops have their shardings.
  explicit Partials(mlir::Block &block);

  /// What a value is partial of before it is resolved, if it is.
  dl::PartialAttr of(mlir::Value value) const { return partials.lookup(value); }
  /// Whether it is resolved right behind its op.
  bool isResolved(mlir::Value value) const { return resolved.contains(value); }
  /// What an op takes an operand to be partial of.
  dl::PartialAttr needed(mlir::OpOperand &operand) const;
  /// What all operands are parts of, if the op commutes with putting them together.
  dl::PartialAttr passed(mlir::Operation *op) const;
  /// What each block of an op with regions yields as this result.
  dl::PartialAttr yielded(mlir::OpResult result) const;

private:
  dl::PartialAttr kept(mlir::Value value) const {
    return resolved.contains(value) ? dl::PartialAttr() : partials.lookup(value);
  }
  void guess(mlir::Block &block);
  void confirm(mlir::Block &block);
  void set(mlir::Value value, dl::PartialAttr partial);
  void update(mlir::OpResult result);
  void updateCarried(dl::ControlOpInterface op, mlir::BlockArgument argument);

  dl::PartialAttr made(mlir::OpResult result) const;
  dl::PartialAttr madeInside(mlir::OpResult result) const;
  mlir::OpOperand *linear(mlir::Operation *op) const;
  bool keeps(mlir::OpOperand &use, dl::PartialAttr partial) const;
  bool keepsOrder(mlir::Operation *op, dl::PartialAttr partial) const;

  llvm::MapVector<mlir::Value, dl::PartialAttr> partials;
  llvm::DenseSet<mlir::Value> open; ///< while guessing: depends on carried values of which nothing is known yet
  llvm::DenseSet<mlir::Value> resolved;
  bool changed = false;
};

} // namespace dlc::passes
