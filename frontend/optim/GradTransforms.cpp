#include "dlc/frontend/Amp.h"
#include "dlc/frontend/Ops.h"
#include "ops/Primitive.h"
#include "record/Recording.h"

namespace dlc::nn::utils {

using ops::ValueRef;
using record::fail;

namespace {

/// The gradients there are, ready to be changed.
std::vector<Tensor> gradientsOf(const char *function, const std::vector<Parameter> &parameters, Where where) {
  std::vector<Tensor> list;
  for (const Parameter &parameter : parameters) {
    Tensor gradient = parameter.grad(where);
    if (!gradient.defined())
      continue;
    if (const auto &scaled = record::implOf(parameter, where).storage->leaf().scaled)
      fail(ErrorKind::State,
           std::string(function) + ": gradients are still scaled (" + scaled->text() +
               "); call scaler.unscale_(optimizer) first",
           where);
    list.push_back(gradient);
  }
  return list;
}

/// For sums: 16-bit floats in f32.
ValueRef widened(const Tensor &gradient, Where where) {
  ValueRef value = record::valueOf(gradient, where);
  return ops::cast(value, ops::promote(value->type->dtype, DType::F32), where);
}

void checkLimit(const char *function, double limit, Where where) {
  if (!(limit >= 0))
    fail(ErrorKind::Value, std::string(function) + ": expected a limit of 0 or more, got " + std::to_string(limit),
         where);
}

template <typename Transform>
void replaceEach(const char *function, const std::vector<Parameter> &parameters, Where where, Transform transform) {
  record::EnableGradScope off(false);
  for (const Tensor &gradient : gradientsOf(function, parameters, where)) {
    ValueRef before = widened(gradient, where);
    Tensor after = transform(ops::wrap(before));
    record::write(gradient, ops::cast(record::valueOf(after, where), gradient.dtype(), where), function, where);
  }
}

} // namespace

Tensor clip_grad_norm_(const std::vector<Parameter> &parameters, double max_norm, Where where) {
  checkLimit("clip_grad_norm_", max_norm, where);
  record::EnableGradScope off(false);
  std::vector<Tensor> gradients = gradientsOf("clip_grad_norm_", parameters, where);
  if (gradients.empty())
    return zeros({}, f32, where);
  static const record::OpRef op = trace::internOp("dl.clip_factor");
  DType dtype = DType::F32;
  std::vector<ValueRef> norms;
  for (const Tensor &gradient : gradients) {
    Tensor norm = dlc::norm(Arg(ops::wrap(widened(gradient, where)), where));
    dtype = ops::promote(dtype, norm.dtype());
    norms.push_back(record::valueOf(norm, where));
  }
  for (ValueRef &norm : norms)
    norm = ops::cast(norm, dtype, where);
  norms.push_back(ops::number(max_norm, DType::F64, where));
  std::vector<ValueRef> results = record::recordAll(op, trace::Attributes().intern(), norms, where);
  const ValueRef &total = results[0], &factor = results[1];
  for (const Tensor &gradient : gradients) {
    ValueRef value = record::valueOf(gradient, where);
    ValueRef scale = ops::broadcastTo(ops::cast(factor, value->type->dtype, where), value->type->shape, where);
    record::write(gradient, ops::binary("mul", value, scale, where), "clip_grad_norm_", where);
  }
  return ops::wrap(total);
}

void clip_grad_value_(const std::vector<Parameter> &parameters, double clip_value, Where where) {
  checkLimit("clip_grad_value_", clip_value, where);
  replaceEach("clip_grad_value_", parameters, where,
              [&](const Tensor &gradient) { return clamp(Arg(gradient, where), -clip_value, clip_value); });
}

void standardize_grad_(const std::vector<Parameter> &parameters, double eps, Where where) {
  checkLimit("standardize_grad_", eps, where);
  replaceEach("standardize_grad_", parameters, where, [&](const Tensor &gradient) {
    Tensor centered = Arg(gradient, where) - Arg(mean(Arg(gradient, where)), where);
    Tensor deviation = sqrt(Arg(var(Arg(gradient, where), {}, 0), where));
    return Arg(centered, where) / Arg(Arg(deviation, where) + Arg(eps, where), where);
  });
}

void centralize_grad_(const std::vector<Parameter> &parameters, Where where) {
  replaceEach("centralize_grad_", parameters, where, [&](const Tensor &gradient) {
    if (gradient.dim() < 2)
      return gradient;
    std::vector<int64_t> dims;
    for (int64_t dim = 1; dim < gradient.dim(); ++dim)
      dims.push_back(dim);
    return Arg(gradient, where) - Arg(mean(Arg(gradient, where), Dims(dims), true), where);
  });
}

} // namespace dlc::nn::utils
