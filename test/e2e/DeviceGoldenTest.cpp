#include "GoldenCurves.h"

#include <cstdlib>

using namespace dlc;
using namespace dlc::test;

// The curves of test/golden on a simulated device, or the one DLC_TEST_DEVICE names: the same rule as on the cpu.
namespace {

constexpr size_t steps = 20;

BatchList moved(const BatchList &batches, Device device) {
  BatchList list;
  for (size_t i = 0; i < std::min(steps, batches.size()); ++i)
    list.emplace_back(batches[i].first.to(device), batches[i].second.to(device));
  return list;
}

template <typename Optimizer, typename Model, typename Options, typename Loss>
void expectCurve(const std::string &name, Model model, const Options &options, Loss loss, const BatchList &batches,
                 bool jitted) {
  const char *where = std::getenv("DLC_TEST_DEVICE");
  Device device(where ? where : "sim:0");
  DeviceScope scope(device); // for what forward() makes
  StateDict file = golden(name);
  loadInitial(model, file, f32);
  model.to(device);
  Optimizer optimizer(model.parameters(), options);
  std::vector<double> losses = train(model, optimizer, loss, moved(batches, device), jitted);
  ASSERT_EQ(losses.size(), steps);
  expectGolden(losses, file, f32);
  for (const auto &[variable, tensor] : optimizer.state_dict()) {
    if (tensor.dim() > 0) {
      EXPECT_EQ(tensor.device(), device) << variable;
    }
  }
}

void runMlp(bool jitted) {
  expectCurve<optim::SGD>("mlp", Mlp(f32), optim::SGDOptions{.lr = 0.01}, meanSquares, vectors(golden("mlp"), f32),
                          jitted);
}
void runTransformer(bool jitted) {
  expectCurve<optim::AdamW>("transformer", Transformer(f32), optim::AdamWOptions{.lr = 1e-3}, crossEntropy,
                            text(golden("transformer")), jitted);
}
template <typename Optimizer, typename Options>
void runCnn(const std::string &name, const Options &options) {
  expectCurve<Optimizer>(name, SimpleCNN(f32), options, crossEntropy, digits(golden(name), f32), true);
}

} // namespace

TEST(DeviceGolden, Mlp) { runMlp(true); }
TEST(DeviceGolden, MlpDefineByRun) { runMlp(false); }
TEST(DeviceGolden, CnnSgd) { runCnn<optim::SGD>("cnn_sgd", optim::SGDOptions{.lr = 0.01, .momentum = 0.9}); }
TEST(DeviceGolden, CnnAdamW) { runCnn<optim::AdamW>("cnn_adamw", optim::AdamWOptions{.lr = 1e-3}); }
TEST(DeviceGolden, Transformer) { runTransformer(true); }
TEST(DeviceGolden, TransformerDefineByRun) { runTransformer(false); }
