#include "dlc/frontend/Ops.h"
#include "ops/Primitive.h"

namespace dlc {

namespace {
Tensor alongAxis(const char *op, const char *function, const Arg &x, int64_t dim) {
  ops::ValueRef value = ops::asFloat(x);
  bool scalar = value->type->shape.empty();
  if (scalar)
    value = ops::reshape(value, {1}, x.where);
  int64_t axis = ops::wrapDim(function, dim, ops::rank(value), x.where);
  ops::ValueRef result =
      record::record(trace::internOp(op), trace::Attributes().integer("axis", axis).intern(), {&value, 1}, x.where);
  return ops::wrap(scalar ? ops::reshape(result, {}, x.where) : result);
}
} // namespace

Tensor softmax(Arg x, int64_t dim) { return alongAxis("dl.softmax", "softmax", x, dim); }
Tensor log_softmax(Arg x, int64_t dim) { return alongAxis("dl.log_softmax", "log_softmax", x, dim); }
Tensor Tensor::softmax(int64_t dim, Where where) const { return dlc::softmax(Arg(*this, where), dim); }
Tensor Tensor::log_softmax(int64_t dim, Where where) const { return dlc::log_softmax(Arg(*this, where), dim); }

} // namespace dlc
