#include "dlc/frontend/Nn.h"

#include "dlc/frontend/Grad.h"
#include "ops/Primitive.h"

#include <cmath>

namespace dlc::nn {

namespace {
/// PyTorch's reset_parameters: kaiming_uniform with a = √5 comes to this, and so does the bias.
Init byFanIn(int64_t fanIn) {
  double bound = fanIn > 0 ? 1 / std::sqrt(static_cast<double>(fanIn)) : 0;
  return init::uniform(-bound, bound);
}

std::optional<Tensor> given(const Parameter &parameter) {
  return parameter.defined() ? std::optional<Tensor>(parameter) : std::optional<Tensor>();
}

Pool2dShape poolShape(const Pair &kernel, const std::optional<Pair> &stride, const Pair &padding) {
  return {kernel.list(), (stride ? *stride : kernel).list(), padding.list()};
}
} // namespace

Linear::Linear(int64_t in, int64_t out, Options options, Where where)
    : weight(parameter("weight", {out, in}, byFanIn(in), options.dtype, where)) {
  if (options.bias)
    bias.tie(parameter("bias", {out}, byFanIn(in), options.dtype, where));
}
Tensor Linear::forward(Tensor x) { return linear(x, weight, given(bias)); }

Conv2d::Conv2d(int64_t in, int64_t out, Pair kernel, Options options, Where where)
    : weight(parameter("weight", {out, in, kernel.height, kernel.width}, byFanIn(in * kernel.height * kernel.width),
                       options.dtype, where)),
      shape{options.stride.list(), options.padding.list()} {
  if (options.bias)
    bias.tie(parameter("bias", {out}, byFanIn(in * kernel.height * kernel.width), options.dtype, where));
}
Tensor Conv2d::forward(Tensor x) { return conv2d(x, weight, given(bias), shape); }

MaxPool2d::MaxPool2d(Pair kernel, std::optional<Pair> stride, Pair padding)
    : shape(poolShape(kernel, stride, padding)) {}
Tensor MaxPool2d::forward(Tensor x) { return max_pool2d(x, shape); }

AvgPool2d::AvgPool2d(Pair kernel, std::optional<Pair> stride, Pair padding)
    : shape(poolShape(kernel, stride, padding)) {}
Tensor AvgPool2d::forward(Tensor x) { return avg_pool2d(x, shape); }

LayerNorm::LayerNorm(Shape normalized, Options options, Where where)
    : normalized(std::move(normalized)), eps(options.eps) {
  if (options.elementwise_affine)
    weight.tie(parameter("weight", this->normalized, init::ones(), options.dtype, where));
  if (options.elementwise_affine && options.bias)
    bias.tie(parameter("bias", this->normalized, init::zeros(), options.dtype, where));
}
Tensor LayerNorm::forward(Tensor x) { return layer_norm(x, normalized, given(weight), given(bias), eps); }

Embedding::Embedding(int64_t count, int64_t dim, Options options, Where where)
    : weight(parameter("weight", {count, dim}, init::normal(0, 1), options.dtype, where)),
      padding(options.padding_idx) {
  if (!padding)
    return;
  if (*padding < -count || *padding >= count)
    record::fail(ErrorKind::Value,
                 "Embedding: padding_idx " + std::to_string(*padding) + " is outside [" + std::to_string(-count) +
                     ", " + std::to_string(count) + ")",
                 where);
  NoGrad off;
  weight.select(0, *padding, where).zero_(where);
}
Tensor Embedding::forward(Tensor indices) { return embedding(indices, weight, padding); }

Tensor ReLU::forward(Tensor x) { return relu(x); }
Tensor Tanh::forward(Tensor x) { return dlc::tanh(x); }
Tensor Sigmoid::forward(Tensor x) { return sigmoid(x); }
Tensor GELU::forward(Tensor x) { return gelu(x, approximate); }
Dropout::Dropout(double p, Where where) : p(p) {
  if (!(p >= 0 && p <= 1))
    record::fail(ErrorKind::Value, "Dropout: expected p in [0, 1], got " + std::to_string(p), where);
}
Tensor Dropout::forward(Tensor x) { return dropout(x, p, is_training()); }
Tensor Softmax::forward(Tensor x) { return softmax(x, dim); }
Tensor LogSoftmax::forward(Tensor x) { return log_softmax(x, dim); }
Tensor Flatten::forward(Tensor x) { return x.flatten(first, last); }

Tensor Sequential::forward(Tensor x) {
  for (auto &step : steps)
    x = step(x);
  return x;
}

} // namespace dlc::nn
