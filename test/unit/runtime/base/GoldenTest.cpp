// The golden files mean what their README says: plain loops in f64 follow the curve of the 10-20-10 net.

#include "dlc/runtime/Digits.h"
#include "dlc/runtime/Safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace dlc;

namespace {

Safetensors golden(const std::string &name) {
  StatusOr<Safetensors> file = Safetensors::open(DLC_TEST_FOLDER "/golden/" + name + ".safetensors");
  EXPECT_TRUE(file.ok()) << file.status().message();
  return file.ok() ? file.take() : Safetensors();
}

/// The elements of a tensor of that type and shape; zeros where there is none.
template <typename T>
std::vector<T> elements(const Safetensors &file, const std::string &name, DType dtype,
                        const std::vector<int64_t> &shape) {
  std::vector<T> values(static_cast<size_t>(*denseByteSize(dtype, shape)) / sizeof(T));
  const TensorView *view = file.find(name);
  EXPECT_NE(view, nullptr) << name;
  if (view) {
    EXPECT_EQ(typeString(view->dtype, view->shape), typeString(dtype, shape)) << name;
    if (view->dtype == dtype && view->shape == shape)
      std::memcpy(values.data(), view->data, values.size() * sizeof(T));
  }
  return values;
}

std::vector<double> widened(const Safetensors &file, const std::string &name, const std::vector<int64_t> &shape) {
  std::vector<float> values = elements<float>(file, name, DType::F32, shape);
  return {values.begin(), values.end()};
}

struct Linear {
  size_t in, out;
  std::vector<double> weight, bias;

  std::vector<double> forward(const double *x) const {
    std::vector<double> y(bias);
    for (size_t o = 0; o < out; ++o)
      for (size_t i = 0; i < in; ++i)
        y[o] += weight[o * in + i] * x[i];
    return y;
  }
};

struct Mlp {
  Linear fc1, fc2;

  /// The loss before the update.
  double step(const double *inputs, const double *targets, size_t batch, double lr) {
    Mlp gradient = *this;
    for (std::vector<double> *values :
         {&gradient.fc1.weight, &gradient.fc1.bias, &gradient.fc2.weight, &gradient.fc2.bias})
      std::fill(values->begin(), values->end(), 0.0);
    double loss = 0;
    auto count = static_cast<double>(batch * fc2.out);
    for (size_t sample = 0; sample < batch; ++sample) {
      const double *x = inputs + sample * fc1.in;
      std::vector<double> hidden = fc1.forward(x), active(hidden), hiddenGradient(fc1.out);
      for (double &value : active)
        value = std::max(value, 0.0);
      std::vector<double> y = fc2.forward(active.data());
      for (size_t o = 0; o < fc2.out; ++o) {
        double difference = y[o] - targets[sample * fc2.out + o], outputGradient = 2 * difference / count;
        loss += difference * difference / count;
        gradient.fc2.bias[o] += outputGradient;
        for (size_t h = 0; h < fc1.out; ++h) {
          gradient.fc2.weight[o * fc1.out + h] += outputGradient * active[h];
          hiddenGradient[h] += outputGradient * fc2.weight[o * fc1.out + h];
        }
      }
      for (size_t h = 0; h < fc1.out; ++h) {
        if (hidden[h] <= 0)
          continue;
        gradient.fc1.bias[h] += hiddenGradient[h];
        for (size_t i = 0; i < fc1.in; ++i)
          gradient.fc1.weight[h * fc1.in + i] += hiddenGradient[h] * x[i];
      }
    }
    descend(fc1, gradient.fc1, lr);
    descend(fc2, gradient.fc2, lr);
    return loss;
  }

  static void descend(Linear &layer, const Linear &gradient, double lr) {
    for (size_t i = 0; i < layer.weight.size(); ++i)
      layer.weight[i] -= lr * gradient.weight[i];
    for (size_t i = 0; i < layer.bias.size(); ++i)
      layer.bias[i] -= lr * gradient.bias[i];
  }
};

} // namespace

TEST(Golden, PlainLoopsFollowTheMlp) {
  Safetensors file = golden("mlp");
  Mlp net{{10, 20, widened(file, "initial.fc1.weight", {20, 10}), widened(file, "initial.fc1.bias", {20})},
          {20, 10, widened(file, "initial.fc2.weight", {10, 20}), widened(file, "initial.fc2.bias", {10})}};
  std::vector<double> inputs = widened(file, "inputs", {50, 20, 10}), targets = widened(file, "targets", {50, 20, 10});
  std::vector<double> expected = elements<double>(file, "loss_f64", DType::F64, {50});
  std::vector<float> single = elements<float>(file, "loss_f32", DType::F32, {50});
  for (size_t step = 0; step < 50; ++step) {
    double loss = net.step(inputs.data() + step * 200, targets.data() + step * 200, 20, 0.01);
    EXPECT_NEAR(loss, expected[step], 1e-12) << "step " << step; // sums in another order
    EXPECT_NEAR(single[step], expected[step], 1e-5);
  }
  std::vector<double> last = widened(file, "final.fc1.weight", {20, 10});
  for (size_t i = 0; i < last.size(); ++i)
    EXPECT_NEAR(net.fc1.weight[i], last[i], 1e-5);
}

TEST(Golden, ConvolutionalNetsBeginAlikeOnTrainingSamples) {
  Safetensors sgd = golden("cnn_sgd"), adamw = golden("cnn_adamw");
  const std::vector<std::pair<std::string, std::vector<int64_t>>> parameters{
      {"conv1.weight", {32, 1, 3, 3}}, {"conv1.bias", {32}}, {"conv2.weight", {64, 32, 3, 3}}, {"conv2.bias", {64}},
      {"fc.weight", {10, 256}},        {"fc.bias", {10}}};
  for (const auto &[name, shape] : parameters) {
    EXPECT_EQ(widened(sgd, "initial." + name, shape), widened(adamw, "initial." + name, shape));
    EXPECT_NE(widened(sgd, "final." + name, shape), widened(adamw, "final." + name, shape));
  }
  std::vector<int64_t> indices = elements<int64_t>(sgd, "indices", DType::I64, {50, 64});
  EXPECT_EQ(indices, elements<int64_t>(adamw, "indices", DType::I64, {50, 64}));
  for (int64_t index : indices) {
    EXPECT_NE(index % 5, 4);
    EXPECT_TRUE(index >= 0 && index < Digits::samples);
  }
  // Before the first update an untrained net is near the loss of a guess, ln 10.
  EXPECT_NEAR(elements<double>(sgd, "loss_f64", DType::F64, {50})[0], std::log(10.0), 0.1);
}
