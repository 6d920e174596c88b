#pragma once

#include "dlc/dlc.h"

/// Images [N, 1, 8, 8] to scores [N, 10] of the ten digits.
struct SimpleCNN : dlc::nn::Module {
  dlc::nn::Conv2d conv1 = add("conv1", dlc::nn::Conv2d(1, 32, 3, {.padding = 1}));
  dlc::nn::Conv2d conv2 = add("conv2", dlc::nn::Conv2d(32, 64, 3, {.padding = 1}));
  dlc::nn::MaxPool2d pool{2};
  dlc::nn::Linear fc = add("fc", dlc::nn::Linear(64 * 2 * 2, 10));

  dlc::Tensor forward(dlc::Tensor x) override {
    x = pool(relu(conv1(x)));
    x = pool(relu(conv2(x)));
    return fc(x.flatten(1));
  }
};
