#include "GroupKernel.h"

namespace {

/// Blocks of 256, one chain a block, blocks from left to right.
float columnOrderSum(const std::vector<float> &x) {
  float total = 0;
  for (size_t block = 0; block < x.size(); block += 256) {
    float chain = -0.0f;
    for (size_t k = block; k < std::min(x.size(), block + 256); ++k)
      chain += x[k];
    total = block ? total + chain : chain;
  }
  return total;
}

std::string listOf(const std::vector<int64_t> &values, const char *separator) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? separator : "") + std::to_string(values[i]);
  return text;
}

/// Sums a [a, b, c] tensor over the axes; kept and reduced index of every element by plain loops.
void check(const std::vector<int64_t> &shape, const std::vector<int64_t> &axes) {
  std::vector<bool> reduced(shape.size());
  for (int64_t axis : axes)
    reduced[axis] = true;
  std::vector<int64_t> kept;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!reduced[i])
      kept.push_back(shape[i]);
  int64_t count = 1, outputs = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t extent : kept)
    outputs *= extent;
  auto x = randomValues(count);
  std::vector<std::vector<float>> columns(outputs);
  for (int64_t i = 0; i < count; ++i) {
    int64_t output = 0, rest = i, stride = 1;
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
      if (!reduced[axis]) {
        output += rest % shape[axis] * stride;
        stride *= shape[axis];
      }
    columns[output].push_back(x[i]);
  }
  std::string in = "tensor<" + listOf(shape, "x") + "xf32>", out = "tensor<" + listOf(kept, "x") + "xf32>";
  std::string text = "func.func @f(%a: " + in + ") -> " + out + " {\n  %y = dl.group kind(column) [" +
                     listOf(shape, ", ") + "] (%x = %a : " + in + ") -> (" + out +
                     ") {\n    %1 = dl.reduce_sum %x over [" + listOf(axes, ", ") + "] : (" + in + ") -> " + out +
                     "\n    %2 = dl.neg %1 : " + out + "\n    dl.yield %2 : " + out + "\n  }\n  return %y : " + out +
                     "\n}\n";
  for (const KernelRun &how : everyRun) {
    auto results = runGroup(text, {bytesOf(x)}, how);
    ASSERT_EQ(results.size(), 1u);
    auto y = valuesOf<float>(results[0]);
    for (int64_t i = 0; i < outputs; ++i)
      ASSERT_EQ(y[i], -columnOrderSum(columns[i])) << text << " " << i;
  }
}

TEST(Column, LeadingAxis) {
  check({3, 5}, {0});
  check({20, 10}, {0});
  check({257, 9}, {0});
  check({1000, 33}, {0});
  check({5000, 100}, {0});
  check({3, 1000}, {0});
}

TEST(Column, MiddleAxes) {
  check({4, 7, 10}, {1});
  check({2, 300, 70}, {1});
  check({3, 4, 5, 6}, {0, 2});
}

TEST(Column, AroundAChannel) {
  check({5, 3, 7, 7}, {0, 2, 3});
  check({8, 20, 14, 14}, {0, 2, 3});
  check({4, 9, 64}, {0, 2});
}

} // namespace
