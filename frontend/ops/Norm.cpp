#include "dlc/frontend/Ops.h"
#include "ops/Primitive.h"

#include <algorithm>

namespace dlc {

using ops::ValueRef;

namespace {
Tensor alongAxis(const char *op, const char *function, const Arg &x, int64_t dim) {
  ValueRef value = ops::asFloat(x);
  bool scalar = value->type->shape.empty();
  if (scalar)
    value = ops::reshape(value, {1}, x.where);
  int64_t axis = ops::wrapDim(function, dim, ops::rank(value), x.where);
  ValueRef result =
      record::record(trace::internOp(op), trace::Attributes().integer("axis", axis).intern(), {&value, 1}, x.where);
  return ops::wrap(scalar ? ops::reshape(result, {}, x.where) : result);
}
} // namespace

Tensor softmax(Arg x, int64_t dim) { return alongAxis("dl.softmax", "softmax", x, dim); }
Tensor log_softmax(Arg x, int64_t dim) { return alongAxis("dl.log_softmax", "log_softmax", x, dim); }
Tensor Tensor::softmax(int64_t dim, Where where) const { return dlc::softmax(Arg(*this, where), dim); }
Tensor Tensor::log_softmax(int64_t dim, Where where) const { return dlc::log_softmax(Arg(*this, where), dim); }

Tensor layer_norm(Arg x, const Shape &normalized, const std::optional<Tensor> &weight,
                  const std::optional<Tensor> &bias, double eps) {
  Where where = x.where;
  std::vector<ValueRef> operands{ops::floatOf("layer_norm", x)};
  const ops::Ints &shape = operands[0]->type->shape, &last = normalized.vec();
  if (last.empty())
    record::fail(ErrorKind::Type, "layer_norm: expected a normalized shape of at least one dim", where);
  if (last.size() > shape.size() || !std::equal(last.rbegin(), last.rend(), shape.rbegin()))
    record::fail(ErrorKind::Type,
                 "layer_norm: expected input [..., " + normalized.str().substr(1) + ", got " + trace::str(shape),
                 where);
  if (!(eps >= 0))
    record::fail(ErrorKind::Value, "layer_norm: eps must not be negative", where);
  ops::TypeRef expected = trace::internType(operands[0]->type->dtype, last);
  auto take = [&](const char *name, const std::optional<Tensor> &affine) {
    if (!affine)
      return 0;
    operands.push_back(ops::valueOf(Arg(*affine, where)));
    if (operands.back()->type != expected)
      record::fail(ErrorKind::Type,
                   std::string("layer_norm: expected ") + name + " " + trace::str(expected) + ", got " +
                       trace::str(operands.back()->type),
                   where);
    return 1;
  };
  std::string segments = "array<i32: 1, " + std::to_string(take("weight", weight));
  segments += ", " + std::to_string(take("bias", bias)) + ">";
  trace::Attributes attributes;
  attributes.raw("operandSegmentSizes", segments)
      .integer("axis", static_cast<int64_t>(shape.size() - last.size()))
      .real("eps", eps);
  return ops::wrap(record::record(trace::internOp("dl.layer_norm"), attributes.intern(), operands, where));
}

} // namespace dlc
