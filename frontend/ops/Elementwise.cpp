#include "dlc/frontend/Ops.h"
#include "ops/Primitive.h"

namespace dlc {

using ops::Ints;
using ops::ValueRef;
using ops::wrap;

namespace {

Tensor arithmetic(const char *op, const char *name, const Arg &a, const Arg &b) {
  Arg args[] = {a, b};
  std::vector<ValueRef> operands = ops::unify(name, args);
  if (operands[0]->type->dtype == DType::I1)
    record::fail(ErrorKind::Type, std::string(name) + ": not defined on i1; cast first, or use & and |", a.where);
  return wrap(ops::binary(op, operands[0], operands[1], a.where));
}

/// The same after integers became f32.
Tensor realArithmetic(const char *op, const char *name, const Arg &a, const Arg &b) {
  Arg args[] = {a, b};
  std::vector<ValueRef> operands = ops::unify(name, args);
  if (!ops::isFloat(operands[0]->type->dtype))
    for (ValueRef &operand : operands)
      operand = ops::cast(operand, DType::F32, a.where);
  return wrap(ops::binary(op, operands[0], operands[1], a.where));
}

Tensor comparison(const char *predicate, const char *name, const Arg &a, const Arg &b) {
  Arg args[] = {a, b};
  std::vector<ValueRef> operands = ops::unify(name, args);
  return wrap(ops::compare(predicate, operands[0], operands[1], a.where));
}

Tensor logic(const char *op, const char *name, const Arg &a, const Arg &b) {
  Arg args[] = {a, b};
  std::vector<ValueRef> operands = ops::unify(name, args);
  if (ops::isFloat(operands[0]->type->dtype))
    record::fail(ErrorKind::Type, std::string(name) + ": expected integers or i1, got " + trace::str(operands[0]->type),
                 a.where);
  return wrap(ops::binary(op, operands[0], operands[1], a.where));
}

Tensor function(const char *op, const Arg &x) { return wrap(ops::unary(op, ops::asFloat(x), x.where)); }

/// Also on integers, which keep their type.
Tensor signedFunction(const char *op, const Arg &x) {
  ValueRef value = ops::valueOf(x);
  if (value->type->dtype == DType::I1)
    record::fail(ErrorKind::Type, std::string(op) + ": not defined on i1", x.where);
  return wrap(ops::unary(op, value, x.where));
}

} // namespace

Tensor operator+(Arg a, Arg b) { return arithmetic("add", "add", a, b); }
Tensor operator-(Arg a, Arg b) { return arithmetic("sub", "sub", a, b); }
Tensor operator*(Arg a, Arg b) { return arithmetic("mul", "mul", a, b); }
Tensor operator/(Arg a, Arg b) { return realArithmetic("div", "div", a, b); }
Tensor operator-(const Tensor &a) { return signedFunction("neg", Arg(a)); }
Tensor operator==(Arg a, Arg b) { return comparison("eq", "eq", a, b); }
Tensor operator!=(Arg a, Arg b) { return comparison("ne", "ne", a, b); }
Tensor operator<(Arg a, Arg b) { return comparison("lt", "lt", a, b); }
Tensor operator<=(Arg a, Arg b) { return comparison("le", "le", a, b); }
Tensor operator>(Arg a, Arg b) { return comparison("gt", "gt", a, b); }
Tensor operator>=(Arg a, Arg b) { return comparison("ge", "ge", a, b); }
Tensor operator&(Arg a, Arg b) { return logic("and", "and", a, b); }
Tensor operator|(Arg a, Arg b) { return logic("or", "or", a, b); }
Tensor operator!(const Tensor &a) {
  return wrap(ops::unary("not", ops::cast(ops::valueOf(Arg(a)), DType::I1, Where::current()), Where::current()));
}

Tensor maximum(Arg a, Arg b) { return arithmetic("maximum", "maximum", a, b); }
Tensor minimum(Arg a, Arg b) { return arithmetic("minimum", "minimum", a, b); }
Tensor pow(Arg a, Arg b) { return realArithmetic("pow", "pow", a, b); }

Tensor where(Arg condition, Arg a, Arg b) {
  Arg args[] = {a, b}, all[] = {condition, a, b};
  record::PlaceScope scope(ops::commonPlace(all));
  ValueRef chosen = ops::cast(ops::valueOf(condition), DType::I1, condition.where);
  std::vector<ValueRef> operands = ops::unify("where", args);
  Ints shape = ops::broadcastShapes("where", chosen->type->shape, operands[0]->type->shape, condition.where);
  for (ValueRef *value : {&chosen, &operands[0], &operands[1]})
    *value = ops::broadcastTo(*value, shape, condition.where);
  return wrap(ops::select(chosen, operands[0], operands[1], condition.where));
}

Tensor abs(Arg x) { return signedFunction("abs", x); }
Tensor sign(Arg x) { return signedFunction("sign", x); }
Tensor exp(Arg x) { return function("exp", x); }
Tensor log(Arg x) { return function("log", x); }
Tensor log1p(Arg x) { return function("log1p", x); }
Tensor expm1(Arg x) { return function("expm1", x); }
Tensor sqrt(Arg x) { return function("sqrt", x); }
Tensor rsqrt(Arg x) { return function("rsqrt", x); }
Tensor sin(Arg x) { return function("sin", x); }
Tensor cos(Arg x) { return function("cos", x); }
Tensor erf(Arg x) { return function("erf", x); }
Tensor floor(Arg x) { return function("floor", x); }
Tensor ceil(Arg x) { return function("ceil", x); }
Tensor round(Arg x) { return function("round_even", x); }
Tensor tanh(Arg x) { return function("tanh", x); }

Tensor cast(Arg x, DType dtype) { return wrap(ops::cast(ops::valueOf(x), dtype, x.where)); }

Tensor Tensor::to(DType dtype, Where where) const {
  return dtype == this->dtype() ? *this : cast(Arg(*this, where), dtype);
}
Tensor Tensor::pow(Arg exponent) const { return dlc::pow(Arg(*this, exponent.where), exponent); }
Tensor Tensor::exp(Where where) const { return dlc::exp(Arg(*this, where)); }
Tensor Tensor::log(Where where) const { return dlc::log(Arg(*this, where)); }
Tensor Tensor::sqrt(Where where) const { return dlc::sqrt(Arg(*this, where)); }
Tensor Tensor::abs(Where where) const { return dlc::abs(Arg(*this, where)); }
Tensor Tensor::tanh(Where where) const { return dlc::tanh(Arg(*this, where)); }

} // namespace dlc
