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

} // namespace
