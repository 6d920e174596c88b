#include "dlc/frontend/Ops.h"
#include "ops/Primitive.h"

namespace dlc {

using ops::ValueRef;
using ops::wrap;
using trace::Attributes;

namespace {
Tensor activation(const char *op, const Arg &x, const Attributes &attributes = {}) {
  ValueRef value = ops::asFloat(x);
  return wrap(record::record(trace::internOp(std::string("dl.") + op), attributes.intern(), {&value, 1}, x.where));
}
} // namespace

Tensor relu(Arg x) { return activation("relu", x); }
Tensor sigmoid(Arg x) { return activation("sigmoid", x); }
Tensor silu(Arg x) { return activation("silu", x); }
Tensor softplus(Arg x) { return activation("softplus", x); }

Tensor gelu(Arg x, bool approximate) {
  return activation("gelu", x, approximate ? Attributes().raw("approximate", "1 : i32") : Attributes());
}

Tensor clamp(Arg x, std::optional<double> low, std::optional<double> high) {
  Attributes attributes;
  if (low)
    attributes.real("min", *low);
  if (high)
    attributes.real("max", *high);
  return activation("clamp", x, attributes);
}

Tensor stop_gradient(Arg x) { return wrap(ops::stopGradient(ops::valueOf(x), x.where)); }

Tensor Tensor::relu(Where where) const { return dlc::relu(Arg(*this, where)); }
Tensor Tensor::sigmoid(Where where) const { return dlc::sigmoid(Arg(*this, where)); }
Tensor Tensor::clamp(std::optional<double> low, std::optional<double> high, Where where) const {
  return dlc::clamp(Arg(*this, where), low, high);
}

} // namespace dlc
