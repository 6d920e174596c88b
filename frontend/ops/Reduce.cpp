#include "dlc/frontend/Ops.h"
#include "ops/Primitive.h"

#include <cmath>
#include <numeric>

namespace dlc {

using ops::Ints;
using ops::ValueRef;
using ops::wrap;
using trace::Attributes;

namespace {

/// Puts reduced dimensions back with extent 1.
Tensor kept(ValueRef result, const ValueRef &x, const Ints &axes, bool keepdim, Where where) {
  if (!keepdim)
    return wrap(std::move(result));
  Ints shape = x->type->shape;
  for (int64_t axis : axes)
    shape[static_cast<size_t>(axis)] = 1;
  return wrap(ops::reshape(result, shape, where));
}

/// Sums and products of bools and short integers are i64.
ValueRef widened(const Arg &x) {
  ValueRef value = ops::valueOf(x);
  return ops::isFloat(value->type->dtype) ? value : ops::cast(value, DType::I64, x.where);
}

void checkNotEmpty(const char *function, const ValueRef &x, const Ints &axes, Where where) {
  for (int64_t axis : axes)
    if (x->type->shape[static_cast<size_t>(axis)] == 0)
      record::fail(ErrorKind::Value,
                   std::string(function) + ": dim " + std::to_string(axis) + " of " + trace::str(x->type->shape) +
                       " is empty and has no " + function,
                   where);
}

Tensor extremum(const char *op, const char *function, const Arg &x, const Dims &dims, bool keepdim) {
  ValueRef value = ops::valueOf(x);
  Ints axes = ops::wrapDims(function, dims, ops::rank(value), x.where);
  checkNotEmpty(function, value, axes, x.where);
  if (value->type->dtype == DType::I1)
    return kept(ops::reduce(op[7] == 'm' && op[8] == 'a' ? "reduce_or" : "reduce_and", value, axes, x.where), value,
                axes, keepdim, x.where);
  return kept(ops::reduce(op, value, axes, x.where), value, axes, keepdim, x.where);
}

Tensor position(const char *op, const Arg &x, std::optional<int64_t> dim, bool keepdim) {
  ValueRef value = ops::valueOf(x);
  if (value->type->dtype == DType::I1)
    value = ops::cast(value, DType::I8, x.where);
  Ints axes =
      dim ? ops::wrapDims(op, Dims(*dim), ops::rank(value), x.where) : ops::wrapDims(op, {}, ops::rank(value), x.where);
  checkNotEmpty(op, value, axes, x.where);
  return kept(ops::reduce(op, value, axes, x.where), value, axes, keepdim, x.where);
}

Tensor logical(const char *op, const char *function, const Arg &x, const Dims &dims, bool keepdim) {
  ValueRef value = ops::cast(ops::valueOf(x), DType::I1, x.where);
  Ints axes = ops::wrapDims(function, dims, ops::rank(value), x.where);
  return kept(ops::reduce(op, value, axes, x.where), value, axes, keepdim, x.where);
}

} // namespace

Tensor sum(Arg x, Dims dims, bool keepdim) {
  ValueRef value = widened(x);
  Ints axes = ops::wrapDims("sum", dims, ops::rank(value), x.where);
  return kept(ops::reduce("reduce_sum", value, axes, x.where), value, axes, keepdim, x.where);
}

Tensor prod(Arg x, Dims dims, bool keepdim) {
  ValueRef value = widened(x);
  Ints axes = ops::wrapDims("prod", dims, ops::rank(value), x.where);
  return kept(ops::reduce("reduce_prod", value, axes, x.where), value, axes, keepdim, x.where);
}

Tensor mean(Arg x, Dims dims, bool keepdim) {
  ValueRef value = ops::floatOf("mean", x);
  Ints axes = ops::wrapDims("mean", dims, ops::rank(value), x.where);
  return kept(ops::reduce("mean", value, axes, x.where), value, axes, keepdim, x.where);
}

Tensor max(Arg x, Dims dims, bool keepdim) { return extremum("reduce_max", "max", x, dims, keepdim); }
Tensor min(Arg x, Dims dims, bool keepdim) { return extremum("reduce_min", "min", x, dims, keepdim); }

Tensor var(Arg x, Dims dims, int64_t correction, bool keepdim) {
  ValueRef value = ops::floatOf("var", x);
  Ints axes = ops::wrapDims("var", dims, ops::rank(value), x.where);
  Attributes attributes;
  attributes.ints("axes", axes).real("correction", static_cast<double>(correction));
  return kept(record::record(trace::internOp("dl.var"), attributes.intern(), {&value, 1}, x.where), value, axes,
              keepdim, x.where);
}

Tensor norm(Arg x, double p, Dims dims, bool keepdim) {
  ValueRef value = ops::floatOf("norm", x);
  Ints axes = ops::wrapDims("norm", dims, ops::rank(value), x.where);
  if (p == 2)
    return kept(ops::reduce("norm", value, axes, x.where), value, axes, keepdim, x.where);
  Tensor magnitude = abs(x);
  if (p == 1)
    return sum(Arg(magnitude, x.where), dims, keepdim);
  if (std::isinf(p) && p > 0)
    return max(Arg(magnitude, x.where), dims, keepdim);
  if (!(p > 0) || std::isinf(p))
    record::fail(ErrorKind::Value, "norm: expected p > 0, got " + std::to_string(p), x.where);
  Tensor powers = sum(Arg(pow(Arg(magnitude, x.where), Arg(p, x.where)), x.where), dims, keepdim);
  return pow(Arg(powers, x.where), Arg(1 / p, x.where));
}

Tensor argmax(Arg x, std::optional<int64_t> dim, bool keepdim) { return position("argmax", x, dim, keepdim); }
Tensor argmin(Arg x, std::optional<int64_t> dim, bool keepdim) { return position("argmin", x, dim, keepdim); }
Tensor all(Arg x, Dims dims, bool keepdim) { return logical("reduce_and", "all", x, dims, keepdim); }
Tensor any(Arg x, Dims dims, bool keepdim) { return logical("reduce_or", "any", x, dims, keepdim); }

#define DLC_METHOD(name)                                                                                               \
  Tensor Tensor::name(Dims dims, bool keepdim, Where where) const {                                                    \
    return dlc::name(Arg(*this, where), std::move(dims), keepdim);                                                     \
  }
DLC_METHOD(sum)
DLC_METHOD(mean)
DLC_METHOD(prod)
DLC_METHOD(max)
DLC_METHOD(min)
DLC_METHOD(all)
DLC_METHOD(any)
#undef DLC_METHOD
Tensor Tensor::var(Dims dims, int64_t correction, bool keepdim, Where where) const {
  return dlc::var(Arg(*this, where), std::move(dims), correction, keepdim);
}
Tensor Tensor::norm(double p, Dims dims, bool keepdim, Where where) const {
  return dlc::norm(Arg(*this, where), p, std::move(dims), keepdim);
}
Tensor Tensor::argmax(std::optional<int64_t> dim, bool keepdim, Where where) const {
  return dlc::argmax(Arg(*this, where), dim, keepdim);
}
Tensor Tensor::argmin(std::optional<int64_t> dim, bool keepdim, Where where) const {
  return dlc::argmin(Arg(*this, where), dim, keepdim);
}

} // namespace dlc
