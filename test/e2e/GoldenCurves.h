#pragma once

#include "GoldenNets.h"

#include "dlc/runtime/Digits.h"

#include <gtest/gtest.h>

#include <cmath>

/// Curves of test/golden: initial weights, batches, PyTorch's losses, and training by them. DLC_TEST_FOLDER is this
/// repository's test/.
namespace dlc::test {

using BatchList = std::vector<std::pair<Tensor, Tensor>>;

inline StateDict golden(const std::string &name) {
  return load(std::string(DLC_TEST_FOLDER) + "/golden/" + name + ".safetensors");
}

inline void loadInitial(nn::Module &model, const StateDict &file, DType dtype) {
  StateDict state;
  for (const auto &[name, tensor] : file)
    if (name.starts_with("initial."))
      state.add(name.substr(8), tensor.to(dtype));
  model.load_state_dict(state);
}

/// What export.py's `hashed` gives the nets whose weights no file holds.
inline void loadHashed(nn::Module &model) {
  StateDict state;
  uint64_t number = 0;
  for (const auto &[name, value] : model.state_dict()) {
    uint64_t first = number++ << 32;
    if (value.dim() >= 2) {
      std::vector<float> uniform(size_t(value.numel()));
      double bound = std::sqrt((value.dim() == 4 ? 6. : 1.) / double(value.numel() / value.size(0)));
      for (size_t i = 0; i < uniform.size(); ++i) {
        uint64_t z = (first | i) + 0x9E3779B97F4A7C15U;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
        z = (z ^ z >> 27) * 0x94D049BB133111EBU;
        uniform[i] = float((double((z ^ z >> 31) >> 40) / (1 << 23) - 1) * bound);
      }
      state.add(name, tensor(uniform, value.shape()));
    } else {
      state.add(name, name.ends_with("bias") ? zeros(value.shape()) : value);
    }
  }
  model.load_state_dict(state);
}

/// f64: within 1e-9 of PyTorch's f64. f32: within max(1e-5 relative, 4 g), g the largest difference so far between
/// PyTorch's own f32 and f64. `losses` are those of the first steps.
inline void expectGolden(const std::vector<double> &losses, const StateDict &file, DType dtype) {
  std::vector<double> single = file.at("loss_f32").to_vector<double>(), exact = file.at("loss_f64").to_vector<double>();
  ASSERT_GT(losses.size(), 0u);
  ASSERT_LE(losses.size(), exact.size());
  double spread = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    spread = std::max(spread, std::abs(single[i] - exact[i]));
    if (dtype == f64)
      EXPECT_NEAR(losses[i], exact[i], 1e-9) << "step " << i;
    else
      EXPECT_NEAR(losses[i], single[i], std::max(1e-5 * std::abs(single[i]), 4 * spread)) << "step " << i;
  }
}

/// What a run showed of each step: the loss before its update, and the scale of losses after it.
struct Curve {
  std::vector<double> losses, scales;
  bool operator==(const Curve &) const = default;
};

/// Beside a run with its forward part in bf16 or f16: losses within max(1e-5 relative, 4 g) of PyTorch's `mixed`, g the
/// largest difference so far between that and PyTorch's f32; not finite where that is not. `losses` are those of the
/// first steps.
inline void expectLosses(const std::vector<double> &losses, const std::vector<double> &mixed,
                         const std::vector<double> &single) {
  ASSERT_GT(losses.size(), 0u);
  ASSERT_LE(losses.size(), mixed.size());
  ASSERT_EQ(mixed.size(), single.size());
  double spread = 0, largest = 0, fromSingle = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    if (!std::isfinite(mixed[i])) {
      EXPECT_FALSE(std::isfinite(losses[i])) << "step " << i;
      continue;
    }
    spread = std::max(spread, std::abs(mixed[i] - single[i]));
    largest = std::max(largest, std::abs(losses[i] - mixed[i]));
    fromSingle = std::max(fromSingle, std::abs(losses[i] - single[i]));
    EXPECT_NEAR(losses[i], mixed[i], std::max(1e-5 * std::abs(mixed[i]), 4 * spread)) << "step " << i;
  }
  EXPECT_GT(spread, 0);
  EXPECT_GT(fromSingle, spread / 8) << "this ran in f32";
  ::testing::Test::RecordProperty("largest_difference", std::to_string(largest));
  ::testing::Test::RecordProperty("largest_difference_of_pytorch_to_f32", std::to_string(spread));
}

/// A run of the curve `name` beside PyTorch's; in f16 the scale, by which skipped steps are known, is the same.
inline void expectGoldenMixed(const Curve &curve, const std::string &name, DType type) {
  StateDict file = golden("autocast");
  std::string key = name + (type == f16 ? ".fp16" : ".bf16");
  expectLosses(curve.losses, file.at(key).to_vector<double>(), golden(name).at("loss_f32").to_vector<double>());
  if (type != f16)
    return;
  std::vector<double> scales = file.at(key + ".scale").to_vector<double>();
  scales.resize(curve.scales.size());
  EXPECT_EQ(curve.scales, scales);
}

/// Training with the forward part in `type`, bf16 or f16; f32 is for as written. A scale is for f16 alone.
template <typename Model, typename Optimizer, typename Loss>
Curve trainMixed(Model &model, Optimizer &optimizer, Loss loss, const BatchList &batches, bool jitted, DType type,
                 int64_t growthInterval = 2000) {
  GradScaler scaler({.growth_interval = growthInterval, .enabled = type == f16});
  auto body = [&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor value;
    {
      Autocast scope(type == f32 ? bf16 : type, type != f32);
      value = loss(model(x), y);
    }
    scaler.scale(value).backward();
    scaler.step(optimizer);
    scaler.update();
    return value;
  };
  auto step = jit(body);
  Curve curve;
  for (const auto &[x, y] : batches) {
    curve.losses.push_back((jitted ? step(x, y) : body(x, y)).item());
    curve.scales.push_back(scaler.get_scale());
  }
  return curve;
}

/// The loss of each step, before its update.
template <typename Model, typename Optimizer, typename Loss>
std::vector<double> train(Model &model, Optimizer &optimizer, Loss loss, const BatchList &batches, bool jitted) {
  return trainMixed(model, optimizer, loss, batches, jitted, f32).losses;
}

/// Inputs and targets of the 10-20-10 net.
inline BatchList vectors(const StateDict &file, DType dtype) {
  BatchList batches;
  for (int64_t i = 0; i < file.at("inputs").size(0); ++i)
    batches.emplace_back(file.at("inputs")[i].to(dtype), file.at("targets")[i].to(dtype));
  return batches;
}

/// Images and labels of all digits.
inline TensorDataset allDigits(DType dtype) {
  auto read = readDigits(std::string(DLC_TEST_FOLDER) + "/../examples/digits/data/digits.csv.gz");
  EXPECT_TRUE(read.ok()) << read.status().message();
  int64_t size = read->size();
  return {tensor(read->images, {size, 1, 8, 8}).to(dtype), tensor(read->labels, {size})};
}

/// Of these, by sample number.
inline BatchList digits(const StateDict &file, DType dtype) {
  TensorDataset all = allDigits(dtype);
  BatchList batches;
  Tensor indices = file.at("indices");
  batches.reserve(size_t(indices.size(0)));
  for (int64_t i = 0; i < indices.size(0); ++i)
    batches.push_back(all.gather(indices[i].to_vector<int64_t>()));
  return batches;
}

/// Digits of 32 x 32 pixels.
inline BatchList largeDigits(const StateDict &file) {
  BatchList batches = digits(file, f32);
  for (auto &[x, y] : batches) {
    int64_t n = x.size(0);
    x = (x.reshape({n, 1, 8, 1, 8, 1}) * ones({1, 1, 1, 4, 1, 4})).reshape({n, 1, 32, 32});
  }
  return batches;
}

/// Characters and the characters after them, i64 [N, context] each.
inline BatchList text(const StateDict &file, int64_t context = Transformer::context) {
  std::vector<int64_t> tokens = file.at("tokens").to_vector<int64_t>();
  BatchList batches;
  Tensor starts = file.at("starts");
  for (int64_t i = 0; i < starts.size(0); ++i) {
    std::vector<int64_t> rows[2];
    for (int64_t start : starts[i].to_vector<int64_t>())
      for (int64_t next : {0, 1})
        rows[next].insert(rows[next].end(), tokens.begin() + start + next, tokens.begin() + start + next + context);
    batches.emplace_back(tensor(rows[0], {starts.size(1), context}), tensor(rows[1], {starts.size(1), context}));
  }
  return batches;
}

/// The loss that each net of the curves has.
inline Tensor meanSquares(const Tensor &output, const Tensor &target) { return nn::mse_loss(output, target); }
inline Tensor crossEntropy(const Tensor &logits, const Tensor &target) {
  return nn::cross_entropy(logits.flatten(0, -2), target.flatten());
}

} // namespace dlc::test
