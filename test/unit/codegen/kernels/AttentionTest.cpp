#include "GroupKernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace {

struct Case {
  int64_t batch, queries, keys, depth, width;
  bool causal = false;
  std::string mask; ///< "", "f32" or "i1"
};

std::string tensor(std::initializer_list<int64_t> shape, const std::string &element = "f32") {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

std::string textOf(const Case &c) {
  std::string types[] = {tensor({c.batch, c.queries, c.depth}), tensor({c.batch, c.keys, c.depth}),
                         tensor({c.batch, c.keys, c.width}), tensor({c.batch, c.queries, c.keys}, c.mask)};
  std::string results = tensor({c.batch, c.queries, c.width}) + ", " + tensor({c.batch, c.queries});
  std::ostringstream arguments, bound, list;
  for (int i = 0; i < (c.mask.empty() ? 3 : 4); ++i) {
    const char *separator = i ? ", " : "";
    arguments << separator << "%a" << i << ": " << types[i];
    bound << separator << "%b" << i << " = %a" << i << " : " << types[i];
    list << separator << types[i];
  }
  std::ostringstream text;
  text << "func.func @f(" << arguments.str() << ") -> (" << results << ") {\n  %y:2 = dl.group kind(window) [1] ("
       << bound.str() << ") -> (" << results << ") {\n    %0:2 = dl.attention %b0, %b1, %b2"
       << (c.mask.empty() ? "" : " mask %b3") << (c.causal ? " causal" : "") << " scale 0.375 : (" << list.str()
       << ") -> (" << results << ")\n    dl.yield %0#0, %0#1 : " << results
       << "\n  }\n  return %y#0, %y#1 : " << results << "\n}\n";
  return text.str();
}

/// y and lse of one row, in double; `scores` holds -inf where the row may not attend.
std::pair<std::vector<double>, double> expectedRow(const std::vector<double> &scores, const float *v, int64_t width) {
  double max = *std::max_element(scores.begin(), scores.end()), sum = 0;
  std::vector<double> y(static_cast<size_t>(width));
  if (std::isinf(max))
    return {y, max};
  for (double score : scores)
    sum += std::exp(score - max);
  for (size_t j = 0; j < scores.size(); ++j)
    for (size_t e = 0; e < y.size(); ++e)
      y[e] += std::exp(scores[j] - max) / sum * v[j * y.size() + e];
  return {y, max + std::log(sum)};
}

/// Against the formula in double, and the same bits for every vector width, partition and thread.
void check(const Case &c) {
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  auto q = randomValues(c.batch * c.queries * c.depth, 1), k = randomValues(c.batch * c.keys * c.depth, 2);
  auto v = randomValues(c.batch * c.keys * c.width, 3), mask = randomValues(c.batch * c.queries * c.keys, 4);
  std::vector<char> allowed;
  for (size_t i = 0; i < mask.size(); ++i) { // a third may not attend, nor any pair of the first row
    bool may = i % 3 != 1 && i >= static_cast<size_t>(c.keys);
    allowed.push_back(may);
    mask[i] = may ? mask[i] : lowest;
  }
  std::vector<Bytes> inputs{bytesOf(q), bytesOf(k), bytesOf(v)};
  if (!c.mask.empty())
    inputs.push_back(c.mask == "i1" ? allowed : bytesOf(mask));
  std::vector<double> y, lse;
  for (int64_t row = 0; row < c.batch * c.queries; ++row) {
    int64_t i = row % c.queries, first = row / c.queries * c.keys;
    std::vector<double> scores;
    for (int64_t j = 0; j < c.keys; ++j) {
      double dot = 0;
      for (int64_t d = 0; d < c.depth; ++d)
        dot += double(q[row * c.depth + d]) * k[(first + j) * c.depth + d];
      double added = c.mask.empty()   ? 0
                     : c.mask == "i1" ? (allowed[row * c.keys + j] ? 0 : lowest)
                                      : mask[row * c.keys + j];
      scores.push_back(c.causal && j > i ? lowest : 0.375 * dot + added);
    }
    auto [values, sum] = expectedRow(scores, &v[first * c.width], c.width);
    y.insert(y.end(), values.begin(), values.end());
    lse.push_back(sum);
  }
  std::vector<Bytes> once;
  for (const KernelRun &how : everyRun) {
    auto results = runGroup(textOf(c), inputs, how);
    ASSERT_EQ(results.size(), 2u);
    if (once.empty())
      once = results;
    ASSERT_EQ(results, once) << textOf(c) << " with " << how.vectorBytes << " bytes";
  }
  auto gotY = valuesOf<float>(once[0]), gotLse = valuesOf<float>(once[1]);
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_NEAR(gotY[i], y[i], 1e-5) << textOf(c) << " element " << i; // sums of up to 1,300 weights that add to 1
  for (size_t i = 0; i < lse.size(); ++i)
    ASSERT_TRUE(gotLse[i] == lse[i] || std::abs(gotLse[i] - lse[i]) < 1e-5) << textOf(c) << " row " << i;
}

TEST(Attention, Sizes) {
  check({1, 1, 1, 1, 1, false, ""});
  check({3, 1, 9, 4, 5, false, "i1"});
  check({2, 17, 17, 17, 17, true, ""});
  check({2, 65, 33, 16, 24, false, "f32"});
  check({2, 33, 65, 16, 24, true, "i1"});
  check({1, 5, 7, 500, 40, false, ""});
  check({1, 4, 5, 0, 3, true, "f32"});
}

TEST(Attention, BlocksOfKeys) {
  check({1, 9, 256, 4, 5, false, "i1"});
  check({1, 600, 257, 4, 5, true, ""});
  check({1, 9, 700, 4, 5, false, "f32"});
  check({1, 520, 700, 4, 5, true, "f32"});
  check({1, 3, 1300, 500, 2, false, ""});
}

} // namespace
