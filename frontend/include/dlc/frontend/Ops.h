#pragma once

#include "dlc/frontend/Tensor.h"

namespace dlc {

// Elementwise; operands broadcast and promote as in PyTorch.
Tensor maximum(Arg a, Arg b);
Tensor minimum(Arg a, Arg b);
Tensor pow(Arg a, Arg b);
/// a where the condition holds, else b.
Tensor where(Arg condition, Arg a, Arg b);
Tensor clamp(Arg x, std::optional<double> low, std::optional<double> high = {});
Tensor abs(Arg x);
Tensor sign(Arg x);
Tensor exp(Arg x);
Tensor log(Arg x);
Tensor log1p(Arg x);
Tensor expm1(Arg x);
Tensor sqrt(Arg x);
Tensor rsqrt(Arg x);
Tensor sin(Arg x);
Tensor cos(Arg x);
Tensor erf(Arg x);
Tensor floor(Arg x);
Tensor ceil(Arg x);
/// Half to even.
Tensor round(Arg x);
Tensor tanh(Arg x);
Tensor sigmoid(Arg x);
Tensor relu(Arg x);
/// x Phi(x); `approximate`: by tanh.
Tensor gelu(Arg x, bool approximate = false);
Tensor silu(Arg x);
Tensor softplus(Arg x);
Tensor cast(Arg x, DType dtype);
/// x, through which no gradient flows.
Tensor stop_gradient(Arg x);

// Reductions; no dims means all. Integers and bools sum in i64; mean, var and norm take floats only.
Tensor sum(Arg x, Dims dims = {}, bool keepdim = false);
Tensor mean(Arg x, Dims dims = {}, bool keepdim = false);
Tensor prod(Arg x, Dims dims = {}, bool keepdim = false);
/// NaN wins. An empty extent is an Error.
Tensor max(Arg x, Dims dims = {}, bool keepdim = false);
Tensor min(Arg x, Dims dims = {}, bool keepdim = false);
Tensor var(Arg x, Dims dims = {}, int64_t correction = 1, bool keepdim = false);
Tensor norm(Arg x, double p = 2, Dims dims = {}, bool keepdim = false);
/// First index of the largest, i64; without a dim, of the flattened tensor.
Tensor argmax(Arg x, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor argmin(Arg x, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor all(Arg x, Dims dims = {}, bool keepdim = false);
Tensor any(Arg x, Dims dims = {}, bool keepdim = false);
Tensor softmax(Arg x, int64_t dim);
Tensor log_softmax(Arg x, int64_t dim);
/// (x - mean) / √(variance + eps) over the last dims, which are `normalized`; times weight, plus bias, both of that
/// shape.
Tensor layer_norm(Arg x, const Shape &normalized, const std::optional<Tensor> &weight = {},
                  const std::optional<Tensor> &bias = {}, double eps = 1e-5);
struct BatchNormOptions {
  /// Of one element a channel.
  std::optional<Tensor> weight = {}, bias = {};
  /// Normalizes by the statistics of x, and moves the running ones, if given, towards them; else by the running ones.
  bool training = false;
  double momentum = 0.1;
  double eps = 1e-5;
};
/// (x - mean) / √(variance + eps) by channel of x [N, C, …]; times weight, plus bias. In training, running statistics
/// become (1 - momentum) * running + momentum * new, with the variance that divides by the count - 1.
Tensor batch_norm(Arg x, const std::optional<Tensor> &running_mean, const std::optional<Tensor> &running_var,
                  const BatchNormOptions &options = {});

/// In training, each element with probability p 0, else x / (1 - p), as torch's dropout; another choice at each run,
/// inside jit too, by the generator of manual_seed. Under DataParallel by the position in the whole batch. In
/// evaluation x itself.
Tensor dropout(Arg x, double p = 0.5, bool training = true);

// Products.
/// As torch.matmul: vectors, matrices, and batches that broadcast.
Tensor matmul(Arg a, Arg b);
/// x [..., in] times the transpose of weight [out, in], plus bias [out].
Tensor linear(Arg x, Arg weight, std::optional<Tensor> bias = {});
struct AttentionOptions {
  /// Broadcasts to [..., T, S]: bool (true may attend), or a float that is added to the scores.
  std::optional<Tensor> attn_mask = {};
  /// Query i attends to keys 0 ... i, also where T and S differ; with attn_mask, both apply.
  bool is_causal = false;
  /// Of the scores; 1 / sqrt(D) by default.
  std::optional<double> scale = {};
};
/// As torch's, without dropout_p: softmax(scale * query keyᵀ + mask) value, query [..., T, D], key [..., S, D], value
/// [..., S, E]; leading dims broadcast. A row that may attend to nothing gives 0, and gradient 0.
Tensor scaled_dot_product_attention(Arg query, Arg key, Arg value, const AttentionOptions &options = {});

// Windows; x is [N, C, H, W].
struct Conv2dShape {
  std::vector<int64_t> stride = {1, 1}, padding = {0, 0};
};
Tensor conv2d(Arg x, Arg weight, std::optional<Tensor> bias = {}, Conv2dShape shape = {});
struct Pool2dShape {
  std::vector<int64_t> kernel, stride = {}, padding = {0, 0};
};
Tensor max_pool2d(Arg x, Pool2dShape shape);
Tensor avg_pool2d(Arg x, Pool2dShape shape);

// Shape.
Tensor cat(Args tensors, int64_t dim = 0);
Tensor stack(Args tensors, int64_t dim = 0);
Tensor flip(Arg x, Dims dims);
/// Zeros (or `value`) around the last dims: {before, after} pairs, last dim first, as torch's pad.
Tensor pad(Arg x, std::vector<int64_t> amounts, double value = 0);
Tensor reshape(Arg x, Shape shape);
Tensor transpose(Arg x, int64_t a, int64_t b);

// Indices: i64 or i32, along one dim, not counted from the end. One outside is an Error where its value is known while
// recording; in a compiled step it reads NaN (integers: 0) and writes nothing.
/// The elements of x at the indices [k] along the dim.
Tensor index_select(Arg x, int64_t dim, Arg index);
/// As torch.gather: result[i][j] = x[index[i][j]][j] for dim 0, and so on.
Tensor gather(Arg x, int64_t dim, Arg index);
/// A copy of x with source's elements put at the indices gather would read; of several for one place the last stays.
Tensor scatter(Arg x, int64_t dim, Arg index, Arg source);
/// The same, added to what is there in row-major order of the indices.
Tensor scatter_add(Arg x, int64_t dim, Arg index, Arg source);
/// A copy of x with slice i of source added to the slice at index[i] along the dim, in order.
Tensor index_add(Arg x, int64_t dim, Arg index, Arg source);
/// Rows of weight [n, m]: result [indices…, m]. No gradient reaches row `padding` (negative: from the end).
Tensor embedding(Arg indices, Arg weight, std::optional<int64_t> padding = {});
/// 1 where the class is the element of x, else 0; a new last dim of `classes`.
Tensor one_hot(Arg x, int64_t classes);

} // namespace dlc
