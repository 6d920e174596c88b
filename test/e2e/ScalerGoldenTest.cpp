#include "GoldenCurves.h"

using namespace dlc;
using namespace dlc::test;

// PyTorch's GradScaler on overflowing gradients: the same steps are skipped, and scale, count, norm and weights are
// those of test/golden/export_scaler.py.
namespace {

void expectPyTorchsScaler(bool jitted) {
  StateDict file = golden("scaler");
  nn::Linear model(4, 3);
  loadInitial(model, file, f32);
  optim::AdamW optimizer(model.parameters(), {.lr = 0.01});
  GradScaler scaler({.growth_interval = 3});
  auto body = [&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    scaler.scale(nn::mse_loss(model(x), y)).backward();
    scaler.unscale_(optimizer);
    Tensor norm = nn::utils::clip_grad_norm_(model.parameters(), 1);
    scaler.step(optimizer);
    scaler.update();
    return norm;
  };
  auto step = jit(body, {.fullgraph = true});
  std::vector<double> before, skipped = file.at("skipped").to_vector<double>();
  size_t count = 0;
  for (size_t i = 0; i < skipped.size(); ++i) {
    auto number = [&](const char *name) { return file.at(name).to_vector<double>()[i]; };
    before = model.weight.to_vector<double>();
    Tensor x = file.at("x")[i].clone(), y = file.at("y")[i].clone();
    double norm = (jitted ? step(x, y) : body(x, y)).item();
    EXPECT_EQ(model.weight.to_vector<double>() == before, skipped[i] != 0) << "step " << i;
    count += size_t(skipped[i]);
    EXPECT_EQ(scaler.get_scale(), number("scale")) << "step " << i;
    EXPECT_EQ(scaler.state_dict().at("scaler.growth_tracker").item(), number("tracker")) << "step " << i;
    if (std::isfinite(number("norm")))
      EXPECT_NEAR(norm, number("norm"), 1e-5 * number("norm")) << "step " << i;
    else
      EXPECT_FALSE(std::isfinite(norm)) << "step " << i;
    for (auto [name, tensor] : {std::pair<const char *, Tensor>("weight", model.weight), {"bias", model.bias}}) {
      std::vector<double> found = tensor.to_vector<double>(), expected = file.at(name)[i].to_vector<double>();
      for (size_t j = 0; j < found.size(); ++j)
        EXPECT_NEAR(found[j], expected[j], 2e-6) << name << ", step " << i;
    }
  }
  EXPECT_EQ(count, 5u);
  EXPECT_EQ(optimizer.state_dict().at("opt.step").item(), double(skipped.size() - count));
}

} // namespace

TEST(ScalerGolden, FollowsPyTorch) { expectPyTorchsScaler(true); }
TEST(ScalerGolden, FollowsPyTorchWithoutJit) { expectPyTorchsScaler(false); }
