#include "../TestFile.h"
#include "ErrorText.h"

#include <array>
#include <cmath>

using namespace dlc;
using Floats = std::vector<float>;

namespace {

void expectNear(const Tensor &got, const Floats &expected, double tolerance = 2e-5) {
  Floats values = got.to_vector<float>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.F, std::abs(expected[i]))) << "element " << i;
}

/// The batch of a step: [2, 3, 2, 2].
Tensor batch(int step) {
  Floats values;
  for (int i = 0; i < 24; ++i)
    values.push_back(static_cast<float>(i * (7 + step) % 11) * 0.5F - static_cast<float>(step));
  return tensor(values, {2, 3, 2, 2});
}
Tensor weighted(const Tensor &y) {
  Floats weights;
  for (int i = 0; i < 24; ++i)
    weights.push_back(static_cast<float>(i % 5 - 1));
  return (y * y * tensor(weights, {2, 3, 2, 2})).sum();
}
Tensor rows() { return tensor({{1, 2, -3}, {0.5, 8, 0}, {4, 4, -0.125}, {2, -1, 1}}); }

StateDict affine() {
  StateDict state;
  state.add("weight", tensor({1, -2, 0.5}));
  state.add("bias", tensor({0, 1, -1}));
  return state;
}
nn::BatchNorm2d layer(nn::BatchNorm2d::Options options = {}) {
  nn::BatchNorm2d norm(3, options);
  if (options.affine)
    norm.load_state_dict(affine(), {.strict = false});
  return norm;
}

std::string names(const nn::Module &module) {
  std::string list;
  for (const auto &[name, tensor] : module.state_dict())
    list += name + " " + std::string(dlc::name(tensor.dtype())) + tensor.shape().str() + "\n";
  return list;
}

/// Three steps of SGD and an evaluation; values by PyTorch.
struct Course {
  nn::BatchNorm2d norm = layer();
  optim::SGD optimizer{norm.parameters(), {.lr = 0.1}};

  Tensor train(Tensor x) {
    optimizer.zero_grad();
    Tensor loss = weighted(norm(x)) / 8;
    loss.backward();
    optimizer.step();
    return loss;
  }
  void expectTrained() const {
    expectNear(norm.weight, {0.84494669, -1.021861666, 0.436511045});
    expectNear(norm.bias, {-0.127360353, 0.595858602, -0.734337281});
    expectNear(norm.running_mean, {0.449125, 0.4430625, 0.237625});
    expectNear(norm.running_var, {1.493821429, 1.538754464, 1.464651786});
    EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 3);
  }
};
constexpr std::array<double, 3> losses{6.504598874, 5.563076871, 0.555781729};
Floats evaluated() {
  return {-2.511806107, 0.94478905,  0.599129535,  0.253470019,  0.548955191, 0.960840249,  1.372725307,  1.784610365,
          -1.361070361, -1.54141223, -1.721754099, -1.902095968, 0.94478905,  0.599129535,  0.253470019,  -0.092189497,
          0.960840249,  1.372725307, 1.784610365,  2.196495423,  -1.54141223, -1.721754099, -1.902095968, -0.098677278};
}
} // namespace

// All values by PyTorch in double.
TEST(BatchNorm, TrainsAndEvaluates) {
  Course course;
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(course.train(batch(i)).item(), losses[size_t(i)], 1e-4) << i;
  course.expectTrained();
  course.norm.eval();
  Tensor x = batch(3).requires_grad_();
  Tensor y = course.norm(x);
  weighted(y).backward();
  expectNear(y, evaluated());
  expectNear(x.grad(), {3.472918731, 0, 0.828379299,  0.700914592,  -2.713277288,
                        1.583022967, 0, -2.940217376, -1.963663781, -3.335773948,
                        1.242017408, 0, 1.306301303,  1.656758598,  1.051371887,
                        0.127464708, 0, -2.261620171, -5.880434752, -10.856443741,
                        1.111924649, 0, -1.372110167, -0.142365158});
  course.expectTrained(); // evaluation moves nothing but gradients
}

TEST(BatchNorm, TrainsInJit) {
  Course course;
  auto step = jit([&](Tensor x) { return course.train(x); });
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(step(batch(i)).item(), losses[size_t(i)], 1e-4) << i;
  EXPECT_EQ(step.entries(), 1u);
  course.expectTrained();
}

// The training flag is part of a jitted function's signature.
TEST(BatchNorm, JitSwitchesBetweenTrainingAndEvaluation) {
  Course course;
  auto forward = jit([&](Tensor x) { return course.norm(x); });
  for (int i = 0; i < 3; ++i) {
    expectNear(weighted(forward(batch(i))), {Floats{52.036790992, 64.22741627, 11.926584955}[size_t(i)]});
    EXPECT_EQ(course.norm.num_batches_tracked.item<int64_t>(), i + 1);
  }
  Floats mean{0.449125, 0.4430625, 0.237625};
  expectNear(course.norm.running_mean, mean);
  course.norm.eval();
  Tensor y = forward(batch(3));
  expectNear(y, course.norm(batch(3)).to_vector<float>());
  EXPECT_EQ(forward.entries(), 2u);
  expectNear(course.norm.running_mean, mean);
  EXPECT_EQ(course.norm.num_batches_tracked.item<int64_t>(), 3);
  course.norm.train();
  forward(batch(3));
  EXPECT_EQ(forward.entries(), 2u);
  EXPECT_EQ(course.norm.num_batches_tracked.item<int64_t>(), 4);
}

TEST(BatchNorm, ValueAndGradientsInTraining) {
  nn::BatchNorm2d norm = layer();
  Tensor x = batch(0).requires_grad_();
  Tensor y = norm(x);
  weighted(y).backward();
  expectNear(y, {-1.738633397, 0.377963782, -0.83152032,  1.285076858,  0.221794,     2.988748667,
                 -1.853422001, 0.913532667, -1.468520371, -0.375306171, -1,           -1.624693829,
                 0.377963782,  -0.83152032, 1.285076858,  0.075592756,  2.988748667,  -1.853422001,
                 0.913532667,  3.680487334, -0.375306171, -1,           -1.624693829, -0.531479629});
  expectNear(x.grad(), {3.15714048,   -1.328320117,  -0.972538642, 0.759120882,  -0.415562127, 16.438892992,
                        -3.63221121,  0.58372653,    -1.20661021,  -0.561482196, 1.044433903,  0.697607997,
                        -0.871178931, -1.97824925,   2.313400912,  -1.079375333, 8.169160918,  1.496123446,
                        -1.943976946, -20.696153602, 0.3763236,    0.419740074,  -0.317328211, -0.452684956});
  expectNear(norm.weight.grad(), {14.891374112, -28.186447768, 5.696314656});
  expectNear(norm.bias.grad(), {11.943655507, 19.210542667, -10.750612343});
}

TEST(BatchNorm, MomentumAndEps) {
  nn::BatchNorm2d norm = layer({.eps = 0.5, .momentum = 0.3}), average = layer({.momentum = std::nullopt});
  auto step = jit([&](Tensor x) { return average(x); });
  for (int i = 0; i < 3; ++i)
    norm(batch(i)), step(batch(i));
  expectNear(norm.running_mean, {0.981375, 0.9939375, 0.449625});
  expectNear(norm.running_var, {2.153178571, 2.36753125, 2.093366071});
  expectNear(average.running_mean, {1.729166667, 1.6875, 0.958333333});
  expectNear(average.running_var, {2.849702381, 2.947916667, 2.735119048});
  average.eval();
  Floats frozen = average.running_mean.to_vector<float>();
  average(batch(3)).to_vector<float>();
  EXPECT_EQ(average.running_mean.to_vector<float>(), frozen);
}

TEST(BatchNorm, WithoutAffineOrTracking) {
  nn::BatchNorm2d plain(3, {.affine = false}), untracked = layer({.track_running_stats = false}), tracked = layer();
  for (int i = 0; i < 3; ++i)
    plain(batch(i));
  plain.eval();
  Floats y = plain(batch(3)).to_vector<float>();
  expectNear(tensor(Floats(y.begin(), y.begin() + 3), {3}), {-2.822007332, 1.268895915, 0.85980559});
  EXPECT_TRUE(plain.parameters().empty());
  Floats expected = tracked(batch(0)).to_vector<float>();
  EXPECT_EQ(untracked(batch(0)).to_vector<float>(), expected);
  untracked.eval();
  EXPECT_EQ(untracked(batch(0)).to_vector<float>(), expected);
}

TEST(BatchNorm, Rows) {
  nn::BatchNorm1d norm(3);
  expectNear(norm(rows()), {-0.652751549, -0.382359378, -1.656286314, -1.025752435, 1.452965635, 0.356416042,
                            1.585253763, 0.229415627, 0.272553444, 0.093250221, -1.300021884, 1.027316828});
  expectNear(norm.running_mean, {0.1875, 0.325, -0.053125});
  expectNear(norm.running_var, {1.139583333, 2.325, 1.196223958});
  norm.eval();
  Floats evaluated{0.761111738, 1.098505913, -2.694347769, 0.292735284, 5.033452465,  0.048572547,
                   3.571370462, 2.410154763, -0.065715799, 1.697864646, -0.868967364, 0.962879319};
  expectNear(norm(rows()), evaluated);
  expectNear(norm(rows().view({4, 3, 1})), evaluated);
}

TEST(BatchNorm, Function) {
  Tensor mean = tensor({0.25, -1, 3}), var = tensor({1, 0.5, 4});
  expectNear(batch_norm(rows(), mean, var, {.weight = tensor({1, -2, 0.5})}),
             {0.74999625, -8.485196523, -1.499998125, 0.24999875, -25.455589568, -0.749999063, 3.74998125,
              -14.141994204, -0.781249023, 1.74999125, 0, -0.499999375});
  expectNear(
      batch_norm(rows(), mean, var, {.bias = tensor({0, 1, -1}), .training = true, .momentum = 0.25, .eps = 0.5}),
      {-0.577350269, 0.626282454, -2.496437583, -0.907264709, 2.420126676, -0.677981786, 1.402136368, 1.224230528,
       -0.753750777, 0.08247861, -0.270639658, -0.071829854});
  expectNear(mean, {0.65625, 0.0625, 2.1171875});
  expectNear(var, {1.348958333, 3.9375, 3.740559896});
  expectNear(batch_norm(rows(), {}, {}, {.training = true}),
             {-0.652751549, -0.382359378, -1.656286314, -1.025752435, 1.452965635, 0.356416042, 1.585253763,
              0.229415627, 0.272553444, 0.093250221, -1.300021884, 1.027316828});
}

TEST(BatchNorm, DoublesKeepTheirPrecision) {
  nn::BatchNorm1d norm(3, {.momentum = std::nullopt, .dtype = f64});
  Tensor x = rows().to(f64);
  for (int i = 0; i < 3; ++i)
    norm(x);
  std::vector<double> mean = norm.running_mean.to_vector<double>(), expected{1.875, 3.25, -0.53125};
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(mean[i], expected[i], 1e-14);
}

TEST(BatchNorm, NamesAreThoseOfPyTorch) {
  EXPECT_EQ(names(nn::BatchNorm2d(3)), "weight f32[3]\nbias f32[3]\nrunning_mean f32[3]\nrunning_var f32[3]\n"
                                       "num_batches_tracked i64[]\n");
  EXPECT_EQ(names(nn::BatchNorm1d(2, {.affine = false, .dtype = f64})),
            "running_mean f64[2]\nrunning_var f64[2]\nnum_batches_tracked i64[]\n");
  EXPECT_EQ(names(nn::BatchNorm2d(3, {.track_running_stats = false})), "weight f32[3]\nbias f32[3]\n");
}

TEST(BatchNorm, StateGoesRound) {
  Course course;
  for (int i = 0; i < 3; ++i)
    course.train(batch(i));
  nn::BatchNorm2d loaded(3), read(3), copy = nn::clone(course.norm);
  loaded.load_state_dict(course.norm.state_dict());
  test::TemporaryFolder folder;
  std::string path = folder.file("batch_norm.safetensors");
  save(course.norm.state_dict(), path);
  read.load_state_dict(load(path));
  course.norm(batch(1));
  for (nn::BatchNorm2d *norm : {&loaded, &read, &copy}) {
    EXPECT_EQ(norm->num_batches_tracked.item<int64_t>(), 3);
    norm->eval();
    expectNear((*norm)(batch(3)), evaluated());
  }
}

// No gradient reaches the running statistics, nor a later step by way of them.
TEST(BatchNorm, RunningStatisticsHaveNoGradient) {
  nn::BatchNorm2d norm = layer();
  Tensor x = batch(0).requires_grad_();
  norm(x);
  EXPECT_FALSE(norm.running_mean.requires_grad());
  norm.eval();
  weighted(norm(batch(1))).backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(norm.weight.grad().defined());
  expectNear(norm.running_mean, {0.2875, 0.24375, 0.2});
}

TEST(BatchNorm, Messages) {
  Tensor x = zeros({2, 3}), mean = zeros({3}), var = ones({3});
  EXPECT_ERROR("batch_norm: expected input [N, C, ...], got [3]", batch_norm(mean, mean, var));
  EXPECT_ERROR("batch_norm: expected a tensor of floats, got i64 [2, 3]", batch_norm(zeros({2, 3}, i64), mean, var));
  EXPECT_ERROR("batch_norm: expected running_mean f32 [3], got f32 [2]", batch_norm(x, zeros({2}), var));
  EXPECT_ERROR("batch_norm: expected running_var f32 [3], got f64 [3]",
               batch_norm(x, mean, ones({3}, f64), {.training = true}));
  EXPECT_ERROR("batch_norm: expected weight f32 [3], got f32 [2]", batch_norm(x, mean, var, {.weight = zeros({2})}));
  EXPECT_ERROR("batch_norm: expected bias f32 [3], got f32 [4]", batch_norm(x, mean, var, {.bias = zeros({4})}));
  EXPECT_ERROR("batch_norm: expected both running_mean and running_var, or none in training", batch_norm(x, mean, {}));
  EXPECT_ERROR("batch_norm: expected both running_mean and running_var, or none in training", batch_norm(x, {}, {}));
  EXPECT_ERROR("batch_norm: eps must not be negative", batch_norm(x, mean, var, {.eps = -1}));
  EXPECT_ERROR("batch_norm: expected more than one element a channel in training, got [1, 3]",
               batch_norm(zeros({1, 3}), mean, var, {.training = true}));
  nn::BatchNorm2d norm(3);
  EXPECT_ERROR("BatchNorm2d: expected input of 4 dims with 3 channels, got [2, 3]", norm(x));
  EXPECT_ERROR("BatchNorm2d: expected input of 4 dims with 3 channels, got [2, 4, 5, 5]", norm(zeros({2, 4, 5, 5})));
  EXPECT_ERROR("BatchNorm1d: expected input of 2 or 3 dims with 2 channels, got [2, 3]", nn::BatchNorm1d(2)(x));
  EXPECT_ERROR("batch_norm: expected more than one element a channel in training, got [1, 3, 1, 1]",
               norm(zeros({1, 3, 1, 1})));
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 0);
}
