#include "ops/BatchNorm.h"

#include "dlc/frontend/Nn.h"
#include "ops/Primitive.h"

namespace dlc::nn {

BatchNorm::BatchNorm(Form form, int64_t features, Options options, Where where)
    : form(form), features(features), options(options) {
  if (options.affine) {
    weight.tie(parameter("weight", {features}, init::ones(), options.dtype, where));
    bias.tie(parameter("bias", {features}, init::zeros(), options.dtype, where));
  }
  if (options.track_running_stats) {
    running_mean.tie(buffer("running_mean", {features}, init::zeros(), options.dtype, where));
    running_var.tie(buffer("running_var", {features}, init::ones(), options.dtype, where));
    num_batches_tracked.tie(buffer("num_batches_tracked", {}, init::zeros(), i64, where));
  }
}

Tensor BatchNorm::forward(Tensor x) {
  if (x.dim() < form.lowest || x.dim() > form.highest || x.size(1) != features) {
    std::string dims = std::to_string(form.lowest);
    if (form.highest != form.lowest)
      dims += " or " + std::to_string(form.highest);
    record::fail(ErrorKind::Type,
                 std::string(form.name) + ": expected input of " + dims + " dims with " + std::to_string(features) +
                     " channels, got " + x.shape().str(),
                 Where::current());
  }
  BatchNormOptions how{.training = !options.track_running_stats || is_training(), .eps = options.eps};
  if (options.affine)
    how.weight = weight, how.bias = bias;
  if (!options.track_running_stats)
    return batch_norm(x, {}, {}, how);
  how.momentum = options.momentum.value_or(0);
  if (!how.training)
    return batch_norm(x, running_mean, running_var, how);
  Tensor y;
  if (options.momentum) {
    y = batch_norm(x, running_mean, running_var, how);
  } else {
    Tensor share = 1.0 / (num_batches_tracked + 1).to(options.dtype);
    y = ops::batchNorm(x, running_mean, running_var, how, share, 1 - share);
  }
  num_batches_tracked.add_(1);
  return y;
}

} // namespace dlc::nn
