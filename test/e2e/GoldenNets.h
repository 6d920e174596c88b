#pragma once

#include "dlc/dlc.h"

/// The nets of test/golden, with PyTorch's names.
namespace dlc::test {

struct Mlp : nn::Module {
  explicit Mlp(DType dtype) : dtype(dtype) {}
  DType dtype;
  nn::Linear fc1 = add("fc1", nn::Linear(10, 20, {.dtype = dtype})),
             fc2 = add("fc2", nn::Linear(20, 10, {.dtype = dtype}));
  Tensor forward(Tensor x) override { return fc2(relu(fc1(x))); }
};

struct SimpleCNN : nn::Module {
  explicit SimpleCNN(DType dtype) : dtype(dtype) {}
  DType dtype;
  nn::Conv2d conv1 = add("conv1", nn::Conv2d(1, 32, 3, {.padding = 1, .dtype = dtype}));
  nn::Conv2d conv2 = add("conv2", nn::Conv2d(32, 64, 3, {.padding = 1, .dtype = dtype}));
  nn::MaxPool2d pool = add("pool", nn::MaxPool2d(2));
  nn::Linear fc = add("fc", nn::Linear(256, 10, {.dtype = dtype}));
  Tensor forward(Tensor x) override {
    x = pool(relu(conv1(x)));
    x = pool(relu(conv2(x)));
    return fc(x.flatten(1));
  }
};

/// Pre-norm: causal self-attention, then a GELU net, both with a residual.
struct TransformerBlock : nn::Module {
  TransformerBlock(int64_t width, int64_t heads, DType dtype) : width(width), heads(heads), dtype(dtype) {}
  int64_t width, heads;
  DType dtype;
  nn::LayerNorm norm1 = add("norm1", nn::LayerNorm(width, {.dtype = dtype}));
  nn::MultiheadAttention attention =
      add("attention", nn::MultiheadAttention(width, heads, {.batch_first = true, .dtype = dtype}));
  nn::LayerNorm norm2 = add("norm2", nn::LayerNorm(width, {.dtype = dtype}));
  nn::Sequential mlp = add("mlp", nn::Sequential(nn::Linear(width, 4 * width, {.dtype = dtype}), nn::GELU(),
                                                 nn::Linear(4 * width, width, {.dtype = dtype})));
  Tensor forward(Tensor x) override {
    Tensor y = norm1(x);
    x = x + attention(y, y, y, {.is_causal = true});
    return x + mlp(norm2(x));
  }
};

/// Logits of the next character, from characters i64 [N, T], T at most `context`.
struct Transformer : nn::Module {
  static constexpr int64_t vocabulary = 65, context = 32, width = 64, heads = 4;
  explicit Transformer(DType dtype) : dtype(dtype) {}
  DType dtype;
  nn::Embedding token = add("token", nn::Embedding(vocabulary, width, {.dtype = dtype}));
  nn::Embedding position = add("position", nn::Embedding(context, width, {.dtype = dtype}));
  TransformerBlock block = add("block", TransformerBlock(width, heads, dtype));
  nn::LayerNorm norm = add("norm", nn::LayerNorm(width, {.dtype = dtype}));
  nn::Linear head = add("head", nn::Linear(width, vocabulary, {.dtype = dtype}));
  Tensor forward(Tensor x) override {
    x = token(x) + position(arange(x.size(1)));
    return head(norm(block(x)));
  }
};

} // namespace dlc::test
