#pragma once

#include "kernels/ElementScope.h"

namespace dlc::codegen {

/// The value of an i64 constant, if it is one.
std::optional<int64_t> constantOf(mlir::Value value);

/// `for (iv = lo; iv < hi; ++iv)` with carried values, as a part of `scope`. No loop is emitted for constant bounds
/// with at most one iteration.
llvm::SmallVector<mlir::Value>
emitLoop(ElementScope &scope, mlir::Value lo, mlir::Value hi, mlir::ValueRange init,
         llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value iv, mlir::ValueRange carried)> body);

/// `if (condition) body(); else otherwise`, as a part of `scope`; a null condition holds always.
llvm::SmallVector<mlir::Value> emitIf(ElementScope &scope, mlir::Value condition, mlir::ValueRange otherwise,
                                      llvm::function_ref<llvm::SmallVector<mlir::Value>()> body);

/// The mask with the first `live` of `width` lanes; null when all are.
mlir::Value leadingLanes(ElementScope &scope, int64_t live, int64_t width);

/// Positions [lo * width, hi * width) of a loop, `width` at a time, then `tail` more where `tailCondition` holds
/// (null: always), beginning at `tailPosition`.
struct VectorSpan {
  mlir::Value lo, hi; ///< i64, in vectors
  int64_t count;      ///< upper bound of vectors
  int64_t width;
  int64_t tail = 0;
  mlir::Value tailCondition = {};
  mlir::AffineExpr tailPosition = {};
};

/// Calls `body` for a vector of positions `base + …`.
void emitSpan(ElementScope &scope, mlir::AffineExpr base, const VectorSpan &span,
              llvm::function_ref<void(ElementScope &lanes, mlir::AffineExpr position)> body);

/// Positions [0, extent); a single one is a scalar.
void emitSpan(ElementScope &scope, int64_t extent, int64_t width,
              llvm::function_ref<void(ElementScope &lanes, mlir::AffineExpr position)> body);

} // namespace dlc::codegen
