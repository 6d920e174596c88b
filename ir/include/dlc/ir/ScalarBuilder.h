#pragma once

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringRef.h"

namespace dlc::dl {

/// Emits the body of an elementwise op, on scalars or on vectors without knowing which: a constant takes the shape of
/// the body's arguments. No fast-math flag is ever set, and an fma exists only where a body calls `fma`.
class ScalarBuilder {
public:
  /// `width` 0: scalars; else vectors of that many lanes.
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location location, int64_t width)
      : builder(builder), location(location), width(width) {}

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return location; }
  /// The scalar type, or a vector of it.
  mlir::Type shaped(mlir::Type element) const;

  mlir::Value constant(double value, mlir::Type element);
  mlir::Value constant(int64_t value, mlir::Type element);
  mlir::Value boolean(bool value);

  // Float or integer by the operand's type; integers are signed and wrap.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  /// Floats only.
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value neg(mlir::Value a);
  mlir::Value abs(mlir::Value a);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  /// |a| with the sign of b.
  mlir::Value copySign(mlir::Value a, mlir::Value b);

  // Ordered comparisons for floats (false on NaN; `ne` is true on NaN), signed for integers.
  mlir::Value eq(mlir::Value a, mlir::Value b);
  mlir::Value ne(mlir::Value a, mlir::Value b);
  mlir::Value lt(mlir::Value a, mlir::Value b);
  mlir::Value le(mlir::Value a, mlir::Value b);
  mlir::Value gt(mlir::Value a, mlir::Value b);
  mlir::Value ge(mlir::Value a, mlir::Value b);
  mlir::Value isNan(mlir::Value a);
  /// The larger, the smaller: a NaN wins, b if equal. Floats or signed integers.
  mlir::Value maximum(mlir::Value a, mlir::Value b);
  mlir::Value minimum(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  // Bits: integers and i1.
  mlir::Value bitAnd(mlir::Value a, mlir::Value b);
  mlir::Value bitOr(mlir::Value a, mlir::Value b);
  mlir::Value bitXor(mlir::Value a, mlir::Value b);
  mlir::Value shl(mlir::Value a, mlir::Value b);
  mlir::Value shrSigned(mlir::Value a, mlir::Value b);
  mlir::Value shrUnsigned(mlir::Value a, mlir::Value b);
  /// Signed division and remainder toward zero, defined everywhere: by 0 gives 0, and the most negative by -1 wraps.
  mlir::Value divSigned(mlir::Value a, mlir::Value b);
  mlir::Value remSigned(mlir::Value a, mlir::Value b);
  /// The quotient rounded down; by 0 gives 0.
  mlir::Value floorDivSigned(mlir::Value a, mlir::Value b);

  /// a - b * trunc(a / b) of floats, exact, with the sign of a; NaN for b = 0 or infinite a.
  mlir::Value remFloat(mlir::Value a, mlir::Value b);
  /// The exact quotient rounded down; a / b for b = 0, NaN for infinite a.
  mlir::Value floorDivFloat(mlir::Value a, mlir::Value b);

  // Math functions; expanded once, in codegen, by dlc's own polynomials on every target.
  mlir::Value exp(mlir::Value a);
  mlir::Value expm1(mlir::Value a);
  mlir::Value log(mlir::Value a);
  mlir::Value log1p(mlir::Value a);
  mlir::Value sqrt(mlir::Value a);
  mlir::Value tanh(mlir::Value a);
  mlir::Value erf(mlir::Value a);
  mlir::Value sin(mlir::Value a);
  mlir::Value cos(mlir::Value a);
  mlir::Value pow(mlir::Value a, mlir::Value b);
  mlir::Value floor(mlir::Value a);
  mlir::Value ceil(mlir::Value a);
  mlir::Value roundEven(mlir::Value a);

  /// To another element type: float to integer saturates, NaN gives 0; to i1: x != 0; i1 counts as 0 or 1.
  mlir::Value cast(mlir::Value a, mlir::Type element);

private:
  mlir::OpBuilder &builder;
  mlir::Location location;
  int64_t width;
};

} // namespace dlc::dl
