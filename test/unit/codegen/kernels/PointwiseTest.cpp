#include "GroupKernel.h"

namespace {

std::string flat(int64_t n) {
  std::string t = "tensor<" + std::to_string(n) + "xf32>";
  return "func.func @f(%a: " + t + ", %b: " + t + ") -> " + t + " {\n  %y = dl.group kind(pointwise) [" +
         std::to_string(n) + "] (%x = %a : " + t + ", %z = %b : " + t + ") -> (" + t +
         ") {\n    %0 = dl.mul %x, %z : " + t + "\n    %1 = dl.add %0, %x : " + t + "\n    dl.yield %1 : " + t +
         "\n  }\n  return %y : " + t + "\n}\n";
}

TEST(Pointwise, EverySizeAndSplit) {
  for (int64_t n : {1, 2, 3, 7, 8, 9, 16, 31, 63, 64, 65, 100, 1000}) {
    auto a = randomValues(n, 1), b = randomValues(n, 2);
    for (const KernelRun &how : everyRun) {
      auto results = runGroup(flat(n), {bytesOf(a), bytesOf(b)}, how);
      ASSERT_EQ(results.size(), 1u);
      auto y = valuesOf<float>(results[0]);
      for (int64_t i = 0; i < n; ++i) {
        float product = a[i] * b[i];
        ASSERT_EQ(y[i], product + a[i]) << n << " " << i;
      }
    }
  }
}

TEST(Pointwise, PartsOfAHorizontalGroup) {
  // The first part reads inputs 0 and 2, the second 1 and 2; results of different shapes.
  std::string text = R"(func.func @f(%a: tensor<37xf32>, %b: tensor<5x3xf32>, %c: tensor<f32>)
      -> (tensor<37xf32>, tensor<5x3xf32>, tensor<5x3xf32>) {
    %r:3 = dl.group kind(horizontal) [] (%x = %a : tensor<37xf32>, %y = %b : tensor<5x3xf32>, %z = %c : tensor<f32>)
        -> (tensor<37xf32>, tensor<5x3xf32>, tensor<5x3xf32>) {
      %0 = dl.group kind(pointwise) [37] (%p = %z : tensor<f32>, %q = %x : tensor<37xf32>) -> (tensor<37xf32>) {
        %1 = dl.broadcast %p dims [] : (tensor<f32>) -> tensor<37xf32>
        %2 = dl.mul %1, %q : tensor<37xf32>
        dl.yield %2 : tensor<37xf32>
      }
      %3:2 = dl.group kind(pointwise) [5, 3] (%p = %y : tensor<5x3xf32>, %q = %z : tensor<f32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
        %1 = dl.broadcast %q dims [] : (tensor<f32>) -> tensor<5x3xf32>
        %2 = dl.sub %p, %1 : tensor<5x3xf32>
        %4 = dl.neg %p : tensor<5x3xf32>
        dl.yield %2, %4 : tensor<5x3xf32>, tensor<5x3xf32>
      }
      dl.yield %0, %3#0, %3#1 : tensor<37xf32>, tensor<5x3xf32>, tensor<5x3xf32>
    }
    return %r#0, %r#1, %r#2 : tensor<37xf32>, tensor<5x3xf32>, tensor<5x3xf32>
  })";
  auto a = randomValues(37, 1), b = randomValues(15, 2), c = randomValues(1, 3);
  for (const KernelRun &how : everyRun) {
    auto results = runGroup(text, {bytesOf(a), bytesOf(b), bytesOf(c)}, how);
    ASSERT_EQ(results.size(), 3u);
    auto scaled = valuesOf<float>(results[0]), less = valuesOf<float>(results[1]),
         negated = valuesOf<float>(results[2]);
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(scaled[i], c[0] * a[i]) << i;
    for (size_t i = 0; i < b.size(); ++i) {
      ASSERT_EQ(less[i], b[i] - c[0]) << i;
      ASSERT_EQ(negated[i], -b[i]) << i;
    }
  }
}

} // namespace
