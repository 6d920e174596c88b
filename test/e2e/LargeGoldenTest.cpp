#include "GoldenCurves.h"

#include "gpt/Gpt.h"
#include "resnet20/ResNet20.h"

#include <cstdlib>

using namespace dlc;
using namespace dlc::test;

// The curves of test/golden for the nets of examples/, whose first weights follow from a formula.
namespace {

/// All batches for f32; in 16 bits the first 15 unless DLC_TEST_SLOW is set.
BatchList some(BatchList batches, DType type) {
  if (type != f32 && !std::getenv("DLC_TEST_SLOW"))
    batches.resize(15);
  return batches;
}

/// Running statistics after the last step, by the rule for curves with g the largest difference in the tensor.
void expectStatistics(const nn::Module &model, const StateDict &file) {
  StateDict state = model.state_dict();
  int checked = 0;
  for (const auto &[name, expected] : file) {
    if (!name.starts_with("f32."))
      continue;
    std::vector<double> single = expected.to_vector<double>(),
                        exact = file.at("f64." + name.substr(4)).to_vector<double>();
    std::vector<double> found = state.at(name.substr(4)).to_vector<double>();
    ASSERT_EQ(found.size(), single.size()) << name;
    double spread = 0;
    for (size_t i = 0; i < single.size(); ++i)
      spread = std::max(spread, std::abs(single[i] - exact[i]));
    for (size_t i = 0; i < single.size(); ++i)
      EXPECT_NEAR(found[i], single[i], std::max(1e-5 * std::abs(single[i]), 4 * spread)) << name << " " << i;
    ++checked;
  }
  EXPECT_EQ(checked, 38) << "two of each of 19 norms";
}

void runResNet20(DType type) {
  StateDict file = golden("resnet20");
  ResNet20 model(1);
  loadHashed(model);
  optim::SGD optimizer(model.parameters(), {.lr = 0.002, .momentum = 0.9, .weight_decay = 1e-4});
  Curve curve = trainMixed(model, optimizer, crossEntropy, some(largeDigits(file), type), true, type);
  if (type != f32)
    return expectGoldenMixed(curve, "resnet20", type);
  expectGolden(curve.losses, file, f32);
  expectStatistics(model, file);
}

void runGpt(DType type) {
  StateDict file = golden("gpt");
  Gpt model({.vocabulary = 65, .context = 64});
  loadHashed(model);
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  Curve curve = trainMixed(model, optimizer, crossEntropy, some(text(file, 64), type), true, type);
  if (type != f32)
    return expectGoldenMixed(curve, "gpt", type);
  expectGolden(curve.losses, file, f32);
}

} // namespace

TEST(LargeGolden, ResNet20) { runResNet20(f32); }
TEST(LargeGolden, ResNet20BF16) { runResNet20(bf16); }
TEST(LargeGolden, ResNet20F16) { runResNet20(f16); }
TEST(LargeGolden, Gpt) { runGpt(f32); }
TEST(LargeGolden, GptBF16) { runGpt(bf16); }
TEST(LargeGolden, GptF16) { runGpt(f16); }
