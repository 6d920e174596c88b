#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <type_traits>

namespace dlc::codegen {

/// An f32/f64 or i32/i64 value, scalar or vector, with operators, so that an expansion reads like its formula.
/// All operands of an operator have one type; a C++ number is splat to it.
class Expr {
public:
  Expr(mlir::ImplicitLocOpBuilder &builder, mlir::Value value) : builder(&builder), value(value) {}

  mlir::ImplicitLocOpBuilder *builder;
  mlir::Value value;

  mlir::Type elementType() const { return mlir::getElementTypeOrSelf(value.getType()); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(elementType()); }
  bool isF64() const { return elementType().isF64(); }

  /// The type of this value with another element type.
  mlir::Type typeOf(mlir::Type element) const;
  /// `number` in this value's type; floats are rounded to it.
  Expr constant(double number) const;
  Expr constant(int64_t number) const;
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  Expr splat(Number number) const {
    return isFloat() ? constant(static_cast<double>(number)) : constant(static_cast<int64_t>(number));
  }

  template <typename FloatOp, typename IntOp>
  Expr either(Expr other) const {
    if (isFloat())
      return make<FloatOp>(value, other.value);
    return make<IntOp>(value, other.value);
  }
  template <typename Op, typename... Args>
  Expr make(Args &&...args) const {
    return Expr(*builder, Op::create(*builder, std::forward<Args>(args)...));
  }
};

inline Expr operator+(Expr a, Expr b) { return a.either<mlir::arith::AddFOp, mlir::arith::AddIOp>(b); }
inline Expr operator-(Expr a, Expr b) { return a.either<mlir::arith::SubFOp, mlir::arith::SubIOp>(b); }
inline Expr operator*(Expr a, Expr b) { return a.either<mlir::arith::MulFOp, mlir::arith::MulIOp>(b); }
inline Expr operator/(Expr a, Expr b) { return a.make<mlir::arith::DivFOp>(a.value, b.value); }
inline Expr operator&(Expr a, Expr b) { return a.make<mlir::arith::AndIOp>(a.value, b.value); }
inline Expr operator|(Expr a, Expr b) { return a.make<mlir::arith::OrIOp>(a.value, b.value); }
inline Expr operator-(Expr a) { return a.make<mlir::arith::NegFOp>(a.value); }

template <typename Number>
concept CppNumber = std::is_arithmetic_v<Number>;
Expr operator+(Expr a, CppNumber auto b) { return a + a.splat(b); }
Expr operator-(Expr a, CppNumber auto b) { return a - a.splat(b); }
Expr operator-(CppNumber auto a, Expr b) { return b.splat(a) - b; }
Expr operator*(Expr a, CppNumber auto b) { return a * a.splat(b); }
Expr operator/(CppNumber auto a, Expr b) { return b.splat(a) / b; }
Expr operator&(Expr a, CppNumber auto b) { return a & a.splat(b); }
Expr operator|(Expr a, CppNumber auto b) { return a | a.splat(b); }

/// a·b + c with one rounding.
Expr fma(Expr a, Expr b, Expr c);
Expr fma(Expr a, CppNumber auto b, Expr c) { return fma(a, a.splat(b), c); }
Expr fma(Expr a, Expr b, CppNumber auto c) { return fma(a, b, a.splat(c)); }
Expr fma(Expr a, CppNumber auto b, CppNumber auto c) { return fma(a, a.splat(b), a.splat(c)); }

/// c[0] + c[1] x + …, by Horner's rule.
Expr polynomial(llvm::ArrayRef<double> coefficients, Expr x);

/// Comparisons (ordered: false with NaN, except `notEqual`); the result is i1 of the same shape.
Expr lessThan(Expr a, Expr b);
Expr equal(Expr a, Expr b);
Expr notEqual(Expr a, Expr b);
Expr lessThan(Expr a, CppNumber auto b) { return lessThan(a, a.splat(b)); }
Expr greaterThan(Expr a, CppNumber auto b) { return lessThan(a.splat(b), a); }
Expr equal(Expr a, CppNumber auto b) { return equal(a, a.splat(b)); }
Expr isNaN(Expr a);
/// Whether an i1 is true in any lane.
mlir::Value any(Expr condition);

Expr select(Expr condition, Expr yes, Expr no);
Expr select(Expr condition, Expr yes, CppNumber auto no) { return select(condition, yes, yes.splat(no)); }
Expr select(Expr condition, CppNumber auto yes, Expr no) { return select(condition, no.splat(yes), no); }
/// min(x, high) and max(x, low) that keep NaN.
Expr clampAbove(Expr x, double high);
Expr clampBelow(Expr x, double low);

Expr shiftLeft(Expr a, int bits);
Expr shiftRight(Expr a, int bits); ///< logical

/// The bits of a float as an integer of the same width, and back.
Expr bitsOf(Expr a);
Expr floatOf(Expr bits);

Expr absolute(Expr a);
Expr sqrt(Expr a);
Expr roundEven(Expr a);
Expr truncate(Expr a); ///< towards zero
Expr copySign(Expr magnitude, Expr sign);
Expr extend(Expr a);     ///< f32 → f64
Expr roundToF32(Expr a); ///< f64 → f32, to nearest even

/// IEEE parameters of a float type.
struct FloatFormat {
  int mantissaBits, bias;
  int64_t mantissaMask() const { return (int64_t(1) << mantissaBits) - 1; }
};
FloatFormat formatOf(Expr a);

} // namespace dlc::codegen
