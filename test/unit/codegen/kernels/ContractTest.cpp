#include "GroupKernel.h"

#include <cmath>

namespace {

std::string tensor(const std::vector<int64_t> &shape) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + "f32>";
}

std::string list(const std::vector<int64_t> &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

/// One chain of fma from 0 in each block of K, blocks added in order.
float blockedChain(const std::vector<float> &a, const std::vector<float> &b) {
  int64_t k = int64_t(a.size()), blocks = std::max<int64_t>(1, (k + 383) / 384);
  int64_t block = ((k + blocks - 1) / blocks + 7) / 8 * 8;
  float total = 0;
  for (int64_t first = 0; first < k; first += block) {
    float chain = 0;
    for (int64_t i = first; i < std::min(k, first + block); ++i)
      chain = std::fma(a[i], b[i], chain);
    total = first ? total + chain : chain;
  }
  return total;
}

/// The balanced tree over leaves of `leafTerms`, those behind the end adding nothing.
float treeOf(const std::vector<float> &a, const std::vector<float> &b, int64_t leafTerms, int64_t leaf,
             int64_t leaves) {
  if (leaves == 1) {
    int64_t first = leaf * leafTerms, last = std::min(first + leafTerms, int64_t(a.size()));
    return blockedChain({a.begin() + first, a.begin() + last}, {b.begin() + first, b.begin() + last});
  }
  float lower = treeOf(a, b, leafTerms, leaf, leaves / 2);
  bool any = (leaf + leaves / 2) * leafTerms < int64_t(a.size());
  return any ? lower + treeOf(a, b, leafTerms, leaf + leaves / 2, leaves / 2) : lower;
}

struct Dot {
  std::vector<int64_t> a, b, lhsBatch, rhsBatch, lhsContract, rhsContract;
  int64_t leaves = 1;
};

int64_t offsetOf(const std::vector<int64_t> &shape, const std::vector<int64_t> &index) {
  int64_t offset = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    offset = offset * shape[i] + index[i];
  return offset;
}

/// All indices of a shape in row-major order.
std::vector<std::vector<int64_t>> indicesOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  std::vector<std::vector<int64_t>> all(count, std::vector<int64_t>(shape.size()));
  for (int64_t i = 0; i < count; ++i)
    for (int64_t rest = i, axis = int64_t(shape.size()) - 1; axis >= 0; rest /= shape[axis], --axis)
      all[i][axis] = rest % shape[axis];
  return all;
}

bool has(const std::vector<int64_t> &list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// -(a . b) + residual against the definition of dot_general, with the documented order of additions.
void check(const Dot &dot) {
  std::vector<int64_t> lhsFree, rhsFree, shape, terms;
  for (int64_t d : dot.lhsBatch)
    shape.push_back(dot.a[d]);
  for (int64_t d = 0; d < int64_t(dot.a.size()); ++d)
    if (!has(dot.lhsBatch, d) && !has(dot.lhsContract, d))
      lhsFree.push_back(d), shape.push_back(dot.a[d]);
  for (int64_t d = 0; d < int64_t(dot.b.size()); ++d)
    if (!has(dot.rhsBatch, d) && !has(dot.rhsContract, d))
      rhsFree.push_back(d), shape.push_back(dot.b[d]);
  for (int64_t d : dot.lhsContract)
    terms.push_back(dot.a[d]);
  auto results = indicesOf(shape), sums = indicesOf(terms);
  int64_t leafTerms = int64_t(sums.size());
  if (dot.leaves > 1)
    leafTerms = leafTerms / terms[0] * ((terms[0] + dot.leaves - 1) / dot.leaves);
  auto a = randomValues(indicesOf(dot.a).size(), 1), b = randomValues(indicesOf(dot.b).size(), 2);
  auto residual = randomValues(results.size(), 3);
  std::vector<float> expected;
  for (const auto &index : results) {
    std::vector<float> left, right;
    for (const auto &term : sums) {
      std::vector<int64_t> ia(dot.a.size()), ib(dot.b.size());
      size_t next = 0;
      for (size_t i = 0; i < dot.lhsBatch.size(); ++i, ++next)
        ia[dot.lhsBatch[i]] = ib[dot.rhsBatch[i]] = index[next];
      for (int64_t d : lhsFree)
        ia[d] = index[next++];
      for (int64_t d : rhsFree)
        ib[d] = index[next++];
      for (size_t i = 0; i < term.size(); ++i)
        ia[dot.lhsContract[i]] = ib[dot.rhsContract[i]] = term[i];
      left.push_back(a[offsetOf(dot.a, ia)]);
      right.push_back(b[offsetOf(dot.b, ib)]);
    }
    expected.push_back(-treeOf(left, right, leafTerms, 0, dot.leaves) + residual[expected.size()]);
  }
  std::string ta = tensor(dot.a), tb = tensor(dot.b), ty = tensor(shape);
  std::string text = "func.func @f(%a: " + ta + ", %b: " + tb + ", %r: " + ty + ") -> " + ty +
                     " {\n  %y = dl.group kind(contract) " + list(shape) + " (%p = %a : " + ta + ", %q = %b : " + tb +
                     ", %s = %r : " + ty + ") -> (" + ty + ") {\n    %0 = dl.dot_general %p, %q batch " +
                     list(dot.lhsBatch) + " x " + list(dot.rhsBatch) + " contract " + list(dot.lhsContract) + " x " +
                     list(dot.rhsContract) + (dot.leaves > 1 ? " leaves(" + std::to_string(dot.leaves) + ")" : "") +
                     " : (" + ta + ", " + tb + ") -> " + ty + "\n    %1 = dl.neg %0 : " + ty +
                     "\n    %2 = dl.add %1, %s : " + ty + "\n    dl.yield %2 : " + ty + "\n  }\n  return %y : " + ty +
                     "\n}\n";
  for (const KernelRun &how : everyRun) {
    auto values = runGroup(text, {bytesOf(a), bytesOf(b), bytesOf(residual)}, how);
    ASSERT_EQ(values.size(), 1u);
    ASSERT_EQ(valuesOf<float>(values[0]), expected) << text << " with " << how.vectorBytes << " bytes";
  }
}

TEST(Contract, MatrixProductsOfEveryTranspose) {
  check({{5, 7}, {7, 9}, {}, {}, {1}, {0}});
  check({{20, 10}, {10, 20}, {}, {}, {1}, {0}});
  check({{5, 7}, {9, 7}, {}, {}, {1}, {1}});
  check({{7, 5}, {7, 9}, {}, {}, {0}, {0}});
  check({{7, 5}, {9, 7}, {}, {}, {0}, {1}});
  check({{3, 1000}, {1000, 33}, {}, {}, {1}, {0}});
}

TEST(Contract, BatchesVectorsAndScalars) {
  check({{3, 4, 6}, {3, 6, 5}, {0}, {0}, {2}, {1}});
  check({{4, 6}, {6}, {}, {}, {1}, {0}});
  check({{6}, {6, 4}, {}, {}, {0}, {0}});
  check({{6}, {6}, {}, {}, {0}, {0}});
  check({{3}, {4}, {}, {}, {}, {}});
}

TEST(Contract, LoopsThatDoNotMerge) {
  check({{2, 3, 4, 5}, {4, 6, 3}, {}, {}, {1, 2}, {2, 0}});
  check({{3, 20, 30}, {20, 4, 30}, {}, {}, {1, 2}, {0, 2}});
}

// 7 of 8 leaves hold terms, the last one fewer; leaves of 1,000 have blocks.
TEST(Contract, LeavesAreATree) {
  check({{20, 5}, {20, 9}, {}, {}, {0}, {0}, 8});
  check({{5, 16}, {16, 33}, {}, {}, {1}, {0}, 4});
  check({{4000, 3}, {4000, 9}, {}, {}, {0}, {0}, 4});
  check({{12, 4, 5}, {12, 4, 9}, {}, {}, {0, 1}, {0, 1}, 4});
  check({{3, 20, 30}, {20, 4, 30}, {}, {}, {1, 2}, {0, 2}, 8});
  check({{1, 5}, {1, 9}, {}, {}, {0}, {0}, 8});
}

} // namespace
