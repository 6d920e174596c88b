#pragma once

#include "kernels/ElementScope.h"
#include "mlir/IR/Operation.h"

namespace dlc::codegen {

/// The accumulators of reductions that run over the same elements, flattened. `width` 0: scalars, else vectors.
class Accumulators {
public:
  Accumulators(KernelBuilder &kernel, llvm::ArrayRef<mlir::Operation *> reductions);

  llvm::ArrayRef<mlir::Operation *> getReductions() const { return reductions; }
  llvm::ArrayRef<mlir::Type> getTypes() const { return types; }
  size_t size() const { return types.size(); }

  llvm::SmallVector<mlir::Value> identity(int64_t width);
  /// Of one element a reduction, at position `index` (i64) of the reduced extent.
  llvm::SmallVector<mlir::Value> lift(int64_t width, llvm::ArrayRef<mlir::Value> elements, mlir::Value index);
  llvm::SmallVector<mlir::Value> combine(int64_t width, mlir::ValueRange left, mlir::ValueRange right);
  /// Identity where the mask is off.
  llvm::SmallVector<mlir::Value> masked(int64_t width, mlir::Value mask, mlir::ValueRange values);
  /// Vectors to scalars: lane i with lane i + half, down to one.
  llvm::SmallVector<mlir::Value> halve(int64_t width, mlir::ValueRange values);
  /// The results, one a reduction, of `count` elements.
  llvm::SmallVector<mlir::Value> finish(int64_t width, mlir::ValueRange values, int64_t count);

private:
  KernelBuilder &kernel;
  llvm::SmallVector<mlir::Operation *> reductions;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<unsigned> counts; ///< accumulators of each reduction
};

} // namespace dlc::codegen
