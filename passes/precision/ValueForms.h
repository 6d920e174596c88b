#pragma once

#include "dlc/ir/Dl.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace dlc::passes {

/// The element type of a tensor of floats.
inline mlir::FloatType elementOf(mlir::Value value) {
  return mlir::cast<mlir::FloatType>(mlir::getElementTypeOrSelf(value.getType()));
}

/// The values of a program whose ops are being retyped in order: what each has become, and its casts, one a type. The
/// program's values, as written, are the keys.
class ValueForms {
public:
  /// Reads the program: what it differentiates by, and its parameters.
  void learn(mlir::ModuleOp module);
  /// Before the block of an op with regions: arguments of which operands are parameters.
  void enter(mlir::Operation *op, mlir::Block &block);

  /// `now`, of another element type, is computed in place of `before`.
  void replace(mlir::Value before, mlir::Value now) { computed[before] = now; }
  /// The op's result is rounded to the type; its readers see what is left.
  void narrow(mlir::Value result, mlir::FloatType low, const std::string &reason);
  mlir::Value current(mlir::Value before) const;

  /// The value in the element type, for a reader; casts are made where they do not exist yet.
  mlir::Value as(mlir::Value before, mlir::FloatType element, mlir::Operation *reader, const std::string &reason);
  /// Whether casting to the type loses nothing.
  bool existsIn(mlir::Value before, mlir::FloatType low) const;
  /// Whether it is a number, a scalar or a vector of parameters, repeated over a result of the rank.
  bool isSpread(mlir::Value before, int64_t rank) const;

private:
  mlir::Value exactSource(mlir::Value value, mlir::FloatType low) const;
  mlir::Operation *movedFrom(mlir::Value value) const;
  mlir::Value make(mlir::Value value, mlir::FloatType element, mlir::Operation *reader, const std::string &reason);

  llvm::DenseMap<mlir::Value, mlir::Value> computed;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> forms;
  /// No reader may get around these: gradients are taken by them.
  llvm::DenseSet<mlir::Value> differentiated;
  llvm::DenseSet<mlir::Value> parameters;
  /// Arguments whose values a type of 16 bits holds.
  llvm::DenseMap<mlir::Value, mlir::Type> exact;
};

} // namespace dlc::passes
