#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace dlc::dl {

/// Elementwise dl ops with short names, for adjoints and decompositions. A number counts as a splat of the other
/// operand's type.
class TensorBuilder {
public:
  TensorBuilder(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return location; }

  mlir::Value splat(double value, mlir::Type type);
  /// A splat of `like`'s type.
  mlir::Value splat(double value, mlir::Value like) { return splat(value, like.getType()); }

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value maximum(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, double b) { return add(a, splat(b, a)); }
  mlir::Value sub(double a, mlir::Value b) { return sub(splat(a, b), b); }
  mlir::Value mul(mlir::Value a, double b) { return mul(a, splat(b, a)); }
  mlir::Value div(mlir::Value a, double b) { return div(a, splat(b, a)); }

  mlir::Value neg(mlir::Value x);
  mlir::Value abs(mlir::Value x);
  mlir::Value exp(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value log1p(mlir::Value x);
  mlir::Value sqrt(mlir::Value x);
  mlir::Value rsqrt(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value sigmoid(mlir::Value x);

  // Comparisons give i1 and are false on NaN, `ne` true.
  mlir::Value eq(mlir::Value a, mlir::Value b);
  mlir::Value ne(mlir::Value a, mlir::Value b);
  mlir::Value lt(mlir::Value a, mlir::Value b);
  mlir::Value le(mlir::Value a, mlir::Value b);
  mlir::Value gt(mlir::Value a, mlir::Value b);
  mlir::Value ge(mlir::Value a, mlir::Value b);
  mlir::Value logicalAnd(mlir::Value a, mlir::Value b);
  mlir::Value logicalNot(mlir::Value x);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// To another element type.
  mlir::Value cast(mlir::Value x, mlir::Type element);

private:
  mlir::OpBuilder &builder;
  mlir::Location location;
};

} // namespace dlc::dl
