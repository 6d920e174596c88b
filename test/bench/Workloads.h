#pragma once

#include "dlc/dlc.h"

#include <vector>

namespace dlc::bench {

/// Two convolutions and a linear layer; `side` is the images' height and width, a multiple of 4.
struct SimpleCNN : nn::Module {
  SimpleCNN(int64_t channels, int64_t side)
      : conv1(add("conv1", nn::Conv2d(channels, 32, 3, {.padding = 1}))),
        conv2(add("conv2", nn::Conv2d(32, 64, 3, {.padding = 1}))),
        fc(add("fc", nn::Linear(64 * (side / 4) * (side / 4), 10))) {}

  Tensor forward(Tensor x) override {
    x = pool(relu(conv1(x)));
    x = pool(relu(conv2(x)));
    return fc(x.flatten(1));
  }

  nn::Conv2d conv1, conv2;
  nn::Linear fc;
  nn::MaxPool2d pool{2};
};

/// 10-20-10 with ReLU.
struct SmallNet : nn::Module {
  Tensor forward(Tensor x) override { return fc2(relu(fc1(x))); }

  nn::Linear fc1 = add("fc1", nn::Linear(10, 20));
  nn::Linear fc2 = add("fc2", nn::Linear(20, 10));
};

/// Classes 0 to 9 in turn.
inline Tensor labels(int64_t count) {
  std::vector<int64_t> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = i % 10;
  return tensor(values, {count});
}

} // namespace dlc::bench
