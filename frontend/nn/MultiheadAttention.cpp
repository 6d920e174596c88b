#include "dlc/frontend/Nn.h"
#include "nn/ModuleNode.h"
#include "ops/Primitive.h"

#include <array>
#include <cmath>
#include <limits>

namespace dlc::nn {

namespace {
/// A linear layer whose bias starts at 0.
struct Projection : Linear {
  Projection(int64_t features, const MultiheadAttention::Options &options, Where where)
      : Linear(features, features, {.bias = false, .dtype = options.dtype}, where) {
    if (options.bias)
      bias.tie(parameter("bias", {features}, init::zeros(), options.dtype, where));
  }
};

Init xavierUniform(int64_t out, int64_t in) {
  double bound = std::sqrt(6 / static_cast<double>(std::max<int64_t>(in + out, 1)));
  return init::uniform(-bound, bound);
}

int64_t checkedHeads(int64_t features, int64_t heads, Where where) {
  if (features < 1 || heads < 1 || features % heads)
    record::fail(ErrorKind::Value,
                 "MultiheadAttention: expected embed_dim divisible by num_heads, got " + std::to_string(features) +
                     " and " + std::to_string(heads),
                 where);
  return heads;
}

bool isMask(const Tensor &mask) { return mask.dtype() == boolean; }

Tensor added(const Tensor &mask, DType dtype) {
  double lowest = -std::numeric_limits<double>::infinity();
  return isMask(mask) ? where(mask, full({}, lowest, dtype), zeros({}, dtype)) : mask;
}

/// What scaled_dot_product_attention takes, true where a query looks or a number to add, for queries [N, heads, T,
/// ...].
std::optional<Tensor> combined(const AttentionMasks &masks, const Shape &query, DType dtype) {
  std::optional<Tensor> mask = masks.attn_mask, padding = masks.key_padding_mask;
  if (mask && mask->dim() == 3)
    mask = mask->view({query[0], query[1], mask->size(1), mask->size(2)});
  if (padding)
    padding = padding->view({padding->size(0), 1, 1, padding->size(1)});
  if (mask && padding)
    mask = isMask(*mask) && isMask(*padding) ? *mask | *padding : added(*mask, dtype) + added(*padding, dtype);
  else if (padding)
    mask = padding;
  return mask && isMask(*mask) ? std::optional(!*mask) : mask;
}
} // namespace

MultiheadAttention::MultiheadAttention(int64_t embed_dim, int64_t num_heads, Options options, Where where)
    : in_proj_weight(parameter("in_proj_weight", {3 * embed_dim, embed_dim}, xavierUniform(3 * embed_dim, embed_dim),
                               options.dtype, where)),
      out_proj(add<Linear>("out_proj", Projection(embed_dim, options, where), where)), features(embed_dim),
      heads(checkedHeads(embed_dim, num_heads, where)), batchFirst(options.batch_first) {
  if (options.bias)
    in_proj_bias.tie(parameter("in_proj_bias", {3 * embed_dim}, init::zeros(), options.dtype, where));
}

Tensor MultiheadAttention::project(const Tensor &x, int64_t part, int64_t count) const {
  Tensor weight = in_proj_weight.narrow(0, part * features, count * features);
  std::optional<Tensor> bias;
  if (in_proj_bias.defined())
    bias = in_proj_bias.narrow(0, part * features, count * features);
  return linear(x, weight, bias);
}

Tensor MultiheadAttention::forward(Tensor x) { return (*this)(x, x, x); }

Tensor MultiheadAttention::operator()(Arg query, Arg key, Arg value, const AttentionMasks &masks) {
  detail::CallScope scope(query.where);
  std::array<const Tensor *, 3> given{query.tensor, key.tensor, value.tensor};
  for (const Tensor *input : given)
    if (!input || input->dim() != given[0]->dim() || input->dim() < 2 || input->dim() > 3)
      record::fail(ErrorKind::Type, "MultiheadAttention: expected query, key and value, all of 2 or all of 3 dims",
                   query.where);
    else if (input->size(-1) != features)
      record::fail(ErrorKind::Type,
                   "MultiheadAttention: expected " + std::to_string(features) + " features, got " +
                       input->shape().str(),
                   query.where);
  bool batched = query.tensor->dim() == 3;
  auto arranged = [&](const Tensor &x) { return !batched ? x.unsqueeze(0) : batchFirst ? x : x.transpose(0, 1); };
  std::array<Tensor, 3> parts;
  if (given[0]->get() == given[1]->get() && given[1]->get() == given[2]->get()) {
    Tensor all = project(arranged(*given[0]), 0, 3);
    for (int64_t i = 0; i < 3; ++i)
      parts[size_t(i)] = all.narrow(-1, i * features, features);
  } else {
    for (int64_t i = 0; i < 3; ++i)
      parts[size_t(i)] = project(arranged(*given[size_t(i)]), i, 1);
  }
  for (Tensor &part : parts) // [N, heads, T or S, head]
    part = part.view({part.size(0), part.size(1), heads, features / heads}).transpose(1, 2);
  const auto &[q, k, v] = parts;
  AttentionOptions options{.attn_mask = combined(masks, q.shape(), q.dtype()), .is_causal = masks.is_causal};
  Tensor y = scaled_dot_product_attention(q, k, v, options);
  y = out_proj(y.transpose(1, 2).reshape({y.size(0), y.size(2), features}));
  return !batched ? y.squeeze(0) : batchFirst ? y : y.transpose(0, 1);
}

} // namespace dlc::nn
