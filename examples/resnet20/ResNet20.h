#pragma once

#include "dlc/dlc.h"

/// Two 3x3 convolutions with batch norm beside a shortcut. Where the block halves the image the shortcut takes every
/// second pixel, and new channels are zeros (option A of the paper), so it has no parameters.
struct ResidualBlock : dlc::nn::Module {
  ResidualBlock(int64_t in, int64_t out) : in(in), out(out), stride(in == out ? 1 : 2) {}
  int64_t in, out, stride;
  dlc::nn::Conv2d conv1 = add("conv1", dlc::nn::Conv2d(in, out, 3, {.stride = stride, .padding = 1, .bias = false}));
  dlc::nn::BatchNorm2d bn1 = add("bn1", dlc::nn::BatchNorm2d(out));
  dlc::nn::Conv2d conv2 = add("conv2", dlc::nn::Conv2d(out, out, 3, {.padding = 1, .bias = false}));
  dlc::nn::BatchNorm2d bn2 = add("bn2", dlc::nn::BatchNorm2d(out));

  dlc::Tensor forward(dlc::Tensor x) override {
    dlc::Tensor y = bn2(conv2(relu(bn1(conv1(x)))));
    if (stride == 2)
      x = pad(x.slice(2, 0, x.size(2), 2).slice(3, 0, x.size(3), 2), {0, 0, 0, 0, (out - in) / 2, (out - in) / 2});
    return relu(y + x);
  }
};

/// Images [N, channels, 32, 32] to scores [N, classes]: the network of 20 layers for CIFAR-10 in K. He et al., "Deep
/// Residual Learning for Image Recognition", 2016, section 4.2; 0.27 million parameters.
struct ResNet20 : dlc::nn::Module {
  explicit ResNet20(int64_t channels = 3, int64_t classes = 10) : channels(channels), classes(classes) {}
  int64_t channels, classes;
  dlc::nn::Conv2d conv = add("conv", dlc::nn::Conv2d(channels, 16, 3, {.padding = 1, .bias = false}));
  dlc::nn::BatchNorm2d bn = add("bn", dlc::nn::BatchNorm2d(16));
  dlc::nn::ModuleList<ResidualBlock> blocks =
      add("blocks", dlc::nn::ModuleList<ResidualBlock>(9, [](int i) {
            auto width = [](int block) { return int64_t(16) << (block < 0 ? 0 : block / 3); };
            return ResidualBlock(width(i - 1), width(i));
          }));
  dlc::nn::Linear fc = add("fc", dlc::nn::Linear(64, classes));

  dlc::Tensor forward(dlc::Tensor x) override {
    x = relu(bn(conv(x)));
    for (ResidualBlock &block : blocks)
      x = block(x);
    return fc(x.mean({2, 3}));
  }
};
