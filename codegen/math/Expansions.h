#pragma once

#include "math/MathExpr.h"

namespace dlc::codegen {

// Each takes f32 or f64. NaN, infinities, signed zeros and subnormals are right; errors are bounds over the whole
// range, tested in test/unit/codegen/VectorMathTest.cpp.
Expr expandExp(Expr x);
Expr expandExpm1(Expr x);
Expr expandTanh(Expr x);
Expr expandErf(Expr x);
Expr expandLog(Expr x);
Expr expandLog1p(Expr x);
Expr expandPow(Expr x, Expr y);
/// sin, cos, tan: f32 everywhere; f64 for |x| < 2^50, NaN beyond (a unit of the argument is then a fraction of a turn).
Expr expandSin(Expr x);
Expr expandCos(Expr x);
Expr expandTan(Expr x);
Expr expandAtan(Expr x);
Expr expandAtan2(Expr y, Expr x);
Expr expandRsqrt(Expr x);
/// C's fmod: exact, sign of x.
Expr expandRem(Expr x, Expr y);
/// bf16 to f32 or f64, or f16 to f64; exact.
mlir::Value expandExtend(mlir::ImplicitLocOpBuilder &builder, mlir::Value x, mlir::Type to);
/// f32 or f64 to bf16, or f64 to f16, rounded once to nearest even.
mlir::Value expandTruncate(Expr x, mlir::Type to);

} // namespace dlc::codegen
