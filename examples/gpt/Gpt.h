#pragma once

#include "dlc/dlc.h"

/// Sizes of a Gpt.
struct GptOptions {
  int64_t vocabulary = 96;
  int64_t context = 128; ///< characters that it looks at
  int64_t width = 128, heads = 4, layers = 4;
};

/// Pre-norm: causal self-attention, then a GELU net of four times the width, both with a residual.
struct GptBlock : dlc::nn::Module {
  explicit GptBlock(const GptOptions &sizes) : sizes(sizes) {}
  GptOptions sizes;
  dlc::nn::LayerNorm norm1 = add("norm1", dlc::nn::LayerNorm(sizes.width));
  dlc::nn::MultiheadAttention attention =
      add("attention", dlc::nn::MultiheadAttention(sizes.width, sizes.heads, {.batch_first = true}));
  dlc::nn::LayerNorm norm2 = add("norm2", dlc::nn::LayerNorm(sizes.width));
  dlc::nn::Sequential mlp =
      add("mlp", dlc::nn::Sequential(dlc::nn::Linear(sizes.width, 4 * sizes.width), dlc::nn::GELU(),
                                     dlc::nn::Linear(4 * sizes.width, sizes.width)));

  dlc::Tensor forward(dlc::Tensor x) override {
    dlc::Tensor y = norm1(x);
    x = x + attention(y, y, y, {.is_causal = true});
    return x + mlp(norm2(x));
  }
};

/// Characters i64 [N, T], T at most the context, to scores [N, T, vocabulary] of the next ones. After A. Radford et
/// al., "Language Models are Unsupervised Multitask Learners", 2019.
struct Gpt : dlc::nn::Module {
  explicit Gpt(GptOptions sizes = {}) : sizes(sizes) {}
  GptOptions sizes;
  dlc::nn::Embedding token = add("token", dlc::nn::Embedding(sizes.vocabulary, sizes.width));
  dlc::nn::Embedding position = add("position", dlc::nn::Embedding(sizes.context, sizes.width));
  dlc::nn::ModuleList<GptBlock> blocks =
      add("blocks", dlc::nn::ModuleList<GptBlock>(sizes.layers, [this](int) { return GptBlock(sizes); }));
  dlc::nn::LayerNorm norm = add("norm", dlc::nn::LayerNorm(sizes.width));
  dlc::nn::Linear head = add("head", dlc::nn::Linear(sizes.width, sizes.vocabulary));

  dlc::Tensor forward(dlc::Tensor x) override {
    dlc::DeviceScope scope(x.device()); // of the positions
    x = token(x) + position(dlc::arange(x.size(1)));
    for (GptBlock &block : blocks)
      x = block(x);
    return head(norm(x));
  }
};
