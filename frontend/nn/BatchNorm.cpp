#include "ops/BatchNorm.h"

#include "dlc/frontend/Nn.h"
#include "ops/Primitive.h"
#include "record/Job.h"

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
  how.momentum = options.momentum.value_or(0);
  if (!how.training)
    return batch_norm(x, running_mean, running_var, how);
  const record::Job *job = record::job();
  Tensor y;
  if (!options.sync && job && job->splitsBatches && job->members > 1)
    y = trainedInBlocks(x, how, job->members);
  else if (options.track_running_stats)
    y = trained(x, how, running_mean, running_var);
  else
    y = trained(x, how, {}, {});
  if (options.track_running_stats)
    num_batches_tracked.add_(1);
  return y;
}

Tensor BatchNorm::trained(const Tensor &x, const BatchNormOptions &how, const std::optional<Tensor> &mean,
                          const std::optional<Tensor> &var) {
  if (!mean || options.momentum)
    return batch_norm(x, mean, var, how);
  Tensor share = 1.0 / (num_batches_tracked + 1).to(options.dtype);
  return ops::batchNorm(x, mean, var, how, share, 1 - share);
}

namespace {
/// One copy after another of a value a channel.
std::optional<Tensor> repeated(const std::optional<Tensor> &channels, int64_t times) {
  if (!channels)
    return {};
  return channels->unsqueeze(0).expand({times, channels->size(0)}).reshape({-1}).clone();
}
} // namespace

// Blocks of rows become channels of their own: their statistics are apart, and none leaves its member.
Tensor BatchNorm::trainedInBlocks(const Tensor &x, BatchNormOptions how, int64_t blocks) {
  std::vector<int64_t> shape = x.shape().vec(), apart = shape;
  if (shape[0] % blocks != 0)
    record::fail(ErrorKind::Value,
                 std::string(form.name) + ": without sync the batch is dealt out in " + std::to_string(blocks) +
                     " equal blocks, got " + std::to_string(shape[0]) +
                     " rows; drop_last of the loader leaves short "
                     "batches out",
                 Where::current());
  apart[0] /= blocks;
  std::vector<int64_t> merged = apart;
  merged[1] *= blocks;
  apart.insert(apart.begin(), blocks);
  Tensor rows = x.reshape(apart).transpose(0, 1).reshape(merged);
  how.weight = repeated(how.weight, blocks);
  how.bias = repeated(how.bias, blocks);
  std::swap(apart[0], apart[1]);
  auto restored = [&](const Tensor &y) { return y.reshape(apart).transpose(0, 1).reshape(shape); };
  if (!options.track_running_stats)
    return restored(trained(rows, how, {}, {}));
  Tensor mean = *repeated(running_mean, blocks), var = *repeated(running_var, blocks);
  Tensor y = trained(rows, how, mean, var);
  running_mean.copy_(mean.slice(0, 0, features));
  running_var.copy_(var.slice(0, 0, features));
  return restored(y);
}

} // namespace dlc::nn
