#pragma once

#include "dlc/frontend/Module.h"
#include "dlc/frontend/Ops.h"

#include <functional>

namespace dlc::nn {

/// y = x Wᵀ + b. weight [out, in] and bias [out] start uniform in ±1/√in, PyTorch's formula.
class Linear : public Module {
public:
  struct Options {
    bool bias = true;
    DType dtype = f32;
  };
  Linear(int64_t in, int64_t out, Where where = Where::current()) : Linear(in, out, Options(), where) {}
  Linear(int64_t in, int64_t out, Options options, Where where = Where::current());
  Tensor forward(Tensor x) override;
  Parameter weight, bias;
};

/// One number for both dims, or one each.
struct Pair {
  Pair(int64_t both) : height(both), width(both) {}
  Pair(int64_t height, int64_t width) : height(height), width(width) {}
  std::vector<int64_t> list() const { return {height, width}; }
  int64_t height, width;
};

/// Cross-correlation of [N, in, H, W]; weight [out, in, kh, kw] and bias [out] start uniform in ±1/√(in·kh·kw).
class Conv2d : public Module {
public:
  struct Options {
    Pair stride = 1;
    Pair padding = 0;
    bool bias = true;
    DType dtype = f32;
  };
  Conv2d(int64_t in, int64_t out, Pair kernel, Where where = Where::current())
      : Conv2d(in, out, kernel, Options(), where) {}
  Conv2d(int64_t in, int64_t out, Pair kernel, Options options, Where where = Where::current());
  Tensor forward(Tensor x) override;
  Parameter weight, bias;

private:
  Conv2dShape shape;
};

/// Maximum over windows of [N, C, H, W]; the stride is the kernel unless given.
class MaxPool2d : public Module {
public:
  explicit MaxPool2d(Pair kernel, std::optional<Pair> stride = {}, Pair padding = 0);
  Tensor forward(Tensor x) override;

private:
  Pool2dShape shape;
};

class AvgPool2d : public Module {
public:
  explicit AvgPool2d(Pair kernel, std::optional<Pair> stride = {}, Pair padding = 0);
  Tensor forward(Tensor x) override;

private:
  Pool2dShape shape;
};

/// (x - mean) / √(variance + eps) over the last dims, of the normalized shape; times weight (ones at first), plus bias
/// (zeros).
class LayerNorm : public Module {
public:
  struct Options {
    double eps = 1e-5;
    /// With weight and, unless `bias` is off, bias.
    bool elementwise_affine = true;
    bool bias = true;
    DType dtype = f32;
  };
  LayerNorm(int64_t features, Where where = Where::current()) : LayerNorm(Shape{features}, Options(), where) {}
  LayerNorm(int64_t features, Options options, Where where = Where::current())
      : LayerNorm(Shape{features}, options, where) {}
  LayerNorm(Shape normalized, Where where = Where::current()) : LayerNorm(std::move(normalized), Options(), where) {}
  LayerNorm(Shape normalized, Options options, Where where = Where::current());
  Tensor forward(Tensor x) override;
  Parameter weight, bias;

private:
  Shape normalized;
  double eps;
};

/// (x - mean) / √(variance + eps) by channel; times weight (ones at first), plus bias (zeros). In training mode by the
/// statistics of the batch, which the running ones follow; in evaluation by the running ones. Names, and what is kept,
/// are those of PyTorch.
class BatchNorm : public Module {
public:
  struct Options {
    double eps = 1e-5;
    /// The weight of a batch in the running statistics; without one these are the average over all batches.
    std::optional<double> momentum = 0.1;
    /// With weight and bias.
    bool affine = true;
    /// Without, the batch's statistics are used in evaluation too.
    bool track_running_stats = true;
    DType dtype = f32;
    /// Under DataParallel: by the statistics of the whole batch. Without, each member's rows are normalized by their
    /// own, as PyTorch's DistributedDataParallel does, and the running ones follow the first member's; the batch must
    /// then be a multiple of the members.
    bool sync = true;
  };
  Tensor forward(Tensor x) override;
  Parameter weight, bias;
  Buffer running_mean, running_var, num_batches_tracked;

protected:
  /// The name in messages, and the numbers of dims an input may have.
  struct Form {
    const char *name;
    int64_t lowest, highest;
  };
  BatchNorm(Form form, int64_t features, Options options, Where where);

private:
  /// By the statistics of x, which the running ones follow.
  Tensor trained(const Tensor &x, const BatchNormOptions &how, const std::optional<Tensor> &mean,
                 const std::optional<Tensor> &var);
  Tensor trainedInBlocks(const Tensor &x, BatchNormOptions how, int64_t blocks);
  Form form;
  int64_t features;
  Options options;
};

/// Of [N, C] or [N, C, L].
class BatchNorm1d : public BatchNorm {
public:
  BatchNorm1d(int64_t num_features, Where where = Where::current()) : BatchNorm1d(num_features, Options(), where) {}
  BatchNorm1d(int64_t num_features, Options options, Where where = Where::current())
      : BatchNorm({"BatchNorm1d", 2, 3}, num_features, options, where) {}
};

/// Of [N, C, H, W].
class BatchNorm2d : public BatchNorm {
public:
  BatchNorm2d(int64_t num_features, Where where = Where::current()) : BatchNorm2d(num_features, Options(), where) {}
  BatchNorm2d(int64_t num_features, Options options, Where where = Where::current())
      : BatchNorm({"BatchNorm2d", 4, 4}, num_features, options, where) {}
};

/// What queries must not look at: bool masks are true there, as for PyTorch's module (not its function), float masks
/// are added to the scores.
struct AttentionMasks {
  /// [T, S] or [N * heads, T, S].
  std::optional<Tensor> attn_mask = {};
  /// [N, S].
  std::optional<Tensor> key_padding_mask = {};
  /// Query i looks at keys 0 … i only; needs no attn_mask.
  bool is_causal = false;
};

/// Query, key and value are projected, attend in `num_heads` parts of the features, and the result is projected. Shapes
/// are [T, N, E] and [S, N, E], with batch_first [N, T, E] and [N, S, E], or without N. Names and initial values are
/// those of PyTorch; there is no dropout, and weights are not returned.
class MultiheadAttention : public Module {
public:
  struct Options {
    bool bias = true;
    bool batch_first = false;
    DType dtype = f32;
  };
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, Where where = Where::current())
      : MultiheadAttention(embed_dim, num_heads, Options(), where) {}
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, Options options, Where where = Where::current());
  Tensor operator()(Arg query, Arg key, Arg value, const AttentionMasks &masks = {});
  /// Self-attention.
  Tensor forward(Tensor x) override;
  using Module::operator();
  Parameter in_proj_weight, in_proj_bias;
  Linear out_proj;

private:
  /// The input projected to query, key and value (parts 0, 1, 2), `count` of them side by side.
  Tensor project(const Tensor &x, int64_t part, int64_t count) const;
  int64_t features, heads;
  bool batchFirst;
};

/// Rows of a table: indices […] of i64 or i32 give […, dim]. weight [count, dim] starts standard normal.
class Embedding : public Module {
public:
  struct Options {
    /// A row (negative: from the end) that starts as zeros and gets no gradient.
    std::optional<int64_t> padding_idx = {};
    DType dtype = f32;
  };
  Embedding(int64_t count, int64_t dim, Where where = Where::current()) : Embedding(count, dim, Options(), where) {}
  Embedding(int64_t count, int64_t dim, Options options, Where where = Where::current());
  Tensor forward(Tensor indices) override;
  Parameter weight;

private:
  std::optional<int64_t> padding;
};

class ReLU : public Module {
public:
  Tensor forward(Tensor x) override;
};
class Tanh : public Module {
public:
  Tensor forward(Tensor x) override;
};
class Sigmoid : public Module {
public:
  Tensor forward(Tensor x) override;
};
class GELU : public Module {
public:
  explicit GELU(bool approximate = false) : approximate(approximate) {}
  Tensor forward(Tensor x) override;

private:
  bool approximate;
};
/// dropout() in training mode.
class Dropout : public Module {
public:
  explicit Dropout(double p = 0.5, Where where = Where::current());
  Tensor forward(Tensor x) override;

private:
  double p;
};
class Softmax : public Module {
public:
  explicit Softmax(int64_t dim) : dim(dim) {}
  Tensor forward(Tensor x) override;

private:
  int64_t dim;
};
class LogSoftmax : public Module {
public:
  explicit LogSoftmax(int64_t dim) : dim(dim) {}
  Tensor forward(Tensor x) override;

private:
  int64_t dim;
};
/// Dims first to last become one; the batch stays by default.
class Flatten : public Module {
public:
  explicit Flatten(int64_t first = 1, int64_t last = -1) : first(first), last(last) {}
  Tensor forward(Tensor x) override;

private:
  int64_t first, last;
};

/// Applies modules, or callables Tensor(Tensor), one after the other; modules are named by position.
class Sequential : public Module {
public:
  template <typename... Steps>
    requires(sizeof...(Steps) > 1 || (!std::is_base_of_v<Sequential, std::decay_t<Steps>> && ...))
  explicit Sequential(Steps... steps) {
    (append(std::move(steps)), ...);
  }
  template <typename Step>
  void append(Step step) {
    if constexpr (std::is_base_of_v<Module, Step>)
      add(std::to_string(steps.size()), step);
    steps.push_back([step = std::move(step)](Tensor x) mutable { return step(x); });
  }
  Tensor forward(Tensor x) override;
  size_t size() const { return steps.size(); }

private:
  std::vector<std::function<Tensor(Tensor)>> steps;
};

/// Modules of one type, named by position.
template <typename M>
class ModuleList : public Module {
public:
  ModuleList() = default;
  template <typename Make>
  ModuleList(int64_t count, Make make) {
    for (int64_t i = 0; i < count; ++i)
      append(make(static_cast<int>(i)));
  }
  void append(M module) { modules.push_back(add(std::to_string(modules.size()), std::move(module))); }
  M &operator[](size_t i) { return modules[i]; }
  const M &operator[](size_t i) const { return modules[i]; }
  size_t size() const { return modules.size(); }
  auto begin() { return modules.begin(); }
  auto end() { return modules.end(); }

private:
  std::vector<M> modules;
};

enum class Reduction : uint8_t { Mean, Sum, None };

struct MseOptions {
  Reduction reduction = Reduction::Mean;
};
/// (input - target)², reduced; shapes must be equal.
Tensor mse_loss(Arg input, Arg target, MseOptions options = {});

struct CrossEntropyOptions {
  Reduction reduction = Reduction::Mean;
  double label_smoothing = 0;
  int64_t ignore_index = -100;
};
/// Of logits [N, C, …] against class indices [N, …] or probabilities [N, C, …]; natural logarithm.
Tensor cross_entropy(Arg logits, Arg target, CrossEntropyOptions options = {});

} // namespace dlc::nn
