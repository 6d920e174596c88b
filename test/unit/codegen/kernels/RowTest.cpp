#include "GroupKernel.h"

namespace {

/// Sum of one row in the documented order: 32 lanes, halving tree, chunks of 16,384 combined pairwise.
float laneOrderSum(const float *x, int64_t n) {
  std::vector<float> partials;
  for (int64_t chunk = 0; chunk < n; chunk += 16384) {
    float lanes[32];
    std::fill(lanes, lanes + 32, -0.0f);
    for (int64_t k = chunk; k < std::min(n, chunk + 16384); ++k)
      lanes[(k - chunk) % 32] += x[k];
    for (int half = 16; half >= 1; half /= 2)
      for (int i = 0; i < half; ++i)
        lanes[i] += lanes[i + half];
    partials.push_back(lanes[0]);
  }
  while (partials.size() > 1) {
    std::vector<float> next;
    for (size_t i = 0; i < partials.size(); i += 2)
      next.push_back(i + 1 < partials.size() ? partials[i] + partials[i + 1] : partials[i]);
    partials = next;
  }
  return partials[0];
}

std::string rowSum(int64_t rows, int64_t columns) {
  std::string domain = std::to_string(rows) + "x" + std::to_string(columns) + "xf32",
              out = std::to_string(rows) + "xf32";
  return "func.func @f(%a: tensor<" + domain + ">) -> tensor<" + out + "> {\n  %y = dl.group kind(row) [" +
         std::to_string(rows) + ", " + std::to_string(columns) + "] (%x = %a : tensor<" + domain + ">) -> (tensor<" +
         out + ">) {\n    %0 = dl.mul %x, %x : tensor<" + domain + ">\n    %1 = dl.reduce_sum %0 over [1] : (tensor<" +
         domain + ">) -> tensor<" + out + ">\n    dl.yield %1 : tensor<" + out + ">\n  }\n  return %y : tensor<" + out +
         ">\n}\n";
}

TEST(Row, SumHasTheDocumentedOrderForEveryWidthAndSplit) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{3, 1},
                               {3, 5},
                               {2, 8},
                               {4, 10},
                               {3, 31},
                               {2, 32},
                               {3, 33},
                               {2, 100},
                               {3, 1000},
                               {2, 16384},
                               {1, 16385},
                               {2, 40000},
                               {1, 100000}}) {
    auto x = randomValues(rows * columns);
    std::vector<float> squares = x;
    for (float &value : squares)
      value *= value;
    for (const KernelRun &how : everyRun) {
      auto results = runGroup(rowSum(rows, columns), {bytesOf(x)}, how);
      ASSERT_EQ(results.size(), 1u);
      auto y = valuesOf<float>(results[0]);
      for (int64_t r = 0; r < rows; ++r)
        ASSERT_EQ(y[r], laneOrderSum(&squares[r * columns], columns))
            << rows << "x" << columns << " " << how.vectorBytes;
    }
  }
}

} // namespace
