#include "GroupKernel.h"

#include <cmath>
#include <limits>

namespace {

struct Case {
  int64_t n, c, o, in[2], kernel[2], stride[2], lo[2], hi[2];

  int64_t out(int axis) const { return (in[axis] + lo[axis] + hi[axis] - kernel[axis]) / stride[axis] + 1; }
};

std::string pair(const int64_t (&values)[2]) {
  return "[" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + "]";
}

std::string tensor(int64_t a, int64_t b, int64_t c, int64_t d) {
  return "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "x" + std::to_string(c) + "x" + std::to_string(d) +
         "xf32>";
}

/// A group of the one op and a negation of its result.
std::string window(const std::string &op, const std::vector<std::string> &inputs, const std::string &attributes,
                   const std::string &result) {
  std::string arguments, bound, names, types;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string number = std::to_string(i), separator = i ? ", " : "";
    arguments += separator + "%a" + number + ": " + inputs[i];
    bound += separator + "%b" + number + " = %a" + number + " : " + inputs[i];
    names += separator + "%b" + number;
    types += separator + inputs[i];
  }
  return "func.func @f(" + arguments + ") -> " + result + " {\n  %y = dl.group kind(window) [1] (" + bound + ") -> (" +
         result + ") {\n    %0 = dl." + op + " " + names + " " + attributes + " : (" + types + ") -> " + result +
         "\n    %1 = dl.neg %0 : " + result + "\n    dl.yield %1 : " + result + "\n  }\n  return %y : " + result +
         "\n}\n";
}

void expectNegated(const std::string &text, const std::vector<Bytes> &inputs, const std::vector<float> &expected) {
  for (const KernelRun &how : everyRun) {
    auto values = runGroup(text, inputs, how);
    ASSERT_EQ(values.size(), 1u);
    auto y = valuesOf<float>(values[0]);
    ASSERT_EQ(y.size(), expected.size());
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(-y[i], expected[i]) << text << " element " << i << " with " << how.vectorBytes << " bytes";
  }
}

std::string convAttributes(const Case &k) {
  return "strides " + pair(k.stride) + " padding_lo " + pair(k.lo) + " padding_hi " + pair(k.hi);
}

std::string poolAttributes(const Case &k) { return "kernel " + pair(k.kernel) + " " + convAttributes(k); }

/// Input row or column that tap `t` of output `i` reads.
int64_t source(const Case &k, int axis, int64_t i, int64_t t) { return i * k.stride[axis] - k.lo[axis] + t; }
bool exists(const Case &k, int axis, int64_t at) { return at >= 0 && at < k.in[axis]; }

const Case cases[] = {
    {2, 3, 4, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},   {1, 1, 1, {5, 7}, {3, 2}, {1, 1}, {0, 0}, {0, 0}},
    {4, 2, 9, {9, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},  {2, 3, 2, {12, 13}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
    {3, 2, 3, {7, 20}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},  {2, 2, 2, {10, 10}, {5, 3}, {2, 3}, {2, 0}, {1, 2}},
    {1, 5, 20, {28, 28}, {5, 5}, {1, 1}, {0, 0}, {0, 0}}};

TEST(Window, Conv) {
  for (const Case &k : cases) {
    auto x = randomValues(k.n * k.c * k.in[0] * k.in[1], 1), w = randomValues(k.o * k.c * k.kernel[0] * k.kernel[1], 2);
    std::vector<float> y;
    for (int64_t n = 0; n < k.n; ++n)
      for (int64_t o = 0; o < k.o; ++o)
        for (int64_t i = 0; i < k.out(0); ++i)
          for (int64_t j = 0; j < k.out(1); ++j) {
            float sum = 0;
            for (int64_t c = 0; c < k.c; ++c)
              for (int64_t p = 0; p < k.kernel[0]; ++p)
                for (int64_t q = 0; q < k.kernel[1]; ++q) {
                  int64_t h = source(k, 0, i, p), v = source(k, 1, j, q);
                  float element =
                      exists(k, 0, h) && exists(k, 1, v) ? x[((n * k.c + c) * k.in[0] + h) * k.in[1] + v] : 0;
                  sum = std::fma(element, w[((o * k.c + c) * k.kernel[0] + p) * k.kernel[1] + q], sum);
                }
            y.push_back(sum);
          }
    expectNegated(window("conv", {tensor(k.n, k.c, k.in[0], k.in[1]), tensor(k.o, k.c, k.kernel[0], k.kernel[1])},
                         convAttributes(k), tensor(k.n, k.o, k.out(0), k.out(1))),
                  {bytesOf(x), bytesOf(w)}, y);
  }
}

TEST(Window, ConvGradientsAreAdjoints) {
  for (const Case &k : cases) {
    auto x = randomValues(k.n * k.c * k.in[0] * k.in[1], 1), w = randomValues(k.o * k.c * k.kernel[0] * k.kernel[1], 2);
    auto dy = randomValues(k.n * k.o * k.out(0) * k.out(1), 3);
    std::vector<double> dx(x.size()), dw(w.size());
    for (int64_t n = 0; n < k.n; ++n)
      for (int64_t o = 0; o < k.o; ++o)
        for (int64_t i = 0; i < k.out(0); ++i)
          for (int64_t j = 0; j < k.out(1); ++j)
            for (int64_t c = 0; c < k.c; ++c)
              for (int64_t p = 0; p < k.kernel[0]; ++p)
                for (int64_t q = 0; q < k.kernel[1]; ++q) {
                  int64_t h = source(k, 0, i, p), v = source(k, 1, j, q);
                  if (!exists(k, 0, h) || !exists(k, 1, v))
                    continue;
                  int64_t at = ((n * k.c + c) * k.in[0] + h) * k.in[1] + v;
                  int64_t tap = ((o * k.c + c) * k.kernel[0] + p) * k.kernel[1] + q;
                  double g = dy[((n * k.o + o) * k.out(0) + i) * k.out(1) + j];
                  dx[at] += g * w[tap];
                  dw[tap] += g * x[at];
                }
    std::string tx = tensor(k.n, k.c, k.in[0], k.in[1]), tw = tensor(k.o, k.c, k.kernel[0], k.kernel[1]),
                ty = tensor(k.n, k.o, k.out(0), k.out(1));
    auto near = [](const std::string &text, const std::vector<Bytes> &inputs, const std::vector<double> &expected) {
      std::vector<std::vector<Bytes>> runs;
      for (int64_t bytes : {16, 32, 64}) {
        runs.push_back(runGroup(text, inputs, {bytes}));
        runs.push_back(runGroup(text, inputs, {bytes, 1}));
      }
      runs.push_back(runGroup(text, inputs, {32, 0, true}));
      for (auto &run : runs)
        ASSERT_EQ(run, runs[0]) << text; // the order of additions depends on neither width nor split
      auto y = valuesOf<float>(runs[0][0]);
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(-y[i], expected[i], 1e-4) << text << " element " << i; // sums of some hundred terms below 1
    };
    near(window("conv_input_grad", {ty, tw}, convAttributes(k), tx), {bytesOf(dy), bytesOf(w)}, dx);
    near(window("conv_weight_grad", {tx, ty}, convAttributes(k), tw), {bytesOf(x), bytesOf(dy)}, dw);
  }
}

// Each leaf is a gradient of its own images, all added as a tree; the third leaf is shorter and the fourth empty.
TEST(Window, WeightGradientsOfLeavesAreATree) {
  for (int64_t inChannels : {2, 8}) { // few rows, and tiles of one tap
    Case whole{5, inChannels, 9, {6, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
    auto x = randomValues(5 * inChannels * 30, 1), dy = randomValues(5 * 9 * 30, 2);
    auto gradient = [&](int64_t first, int64_t count, int64_t leaves) {
      Case k = whole;
      k.n = count;
      auto part = [&](const std::vector<float> &all, int64_t image) {
        return bytesOf(std::vector<float>(all.begin() + first * image, all.begin() + (first + count) * image));
      };
      std::string attributes = convAttributes(k) + (leaves > 1 ? " leaves(" + std::to_string(leaves) + ")" : "");
      std::string text = window("conv_weight_grad", {tensor(k.n, k.c, 6, 5), tensor(k.n, k.o, 6, 5)}, attributes,
                                tensor(k.o, k.c, 3, 3));
      return valuesOf<float>(runGroup(text, {part(x, inChannels * 30), part(dy, 9 * 30)})[0]);
    };
    auto first = gradient(0, 2, 1), second = gradient(2, 2, 1), third = gradient(4, 1, 1), tree = gradient(0, 5, 4);
    for (size_t i = 0; i < tree.size(); ++i)
      ASSERT_EQ(tree[i], (first[i] + second[i]) + third[i]) << i;
  }
}

const Case pools[] = {
    {2, 3, 3, {8, 8}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},   {1, 2, 2, {28, 28}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
    {2, 2, 2, {9, 7}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},   {1, 2, 2, {2, 2}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
    {1, 2, 2, {24, 22}, {2, 2}, {2, 2}, {0, 0}, {0, 0}}, {2, 2, 2, {9, 10}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {1, 2, 2, {7, 7}, {7, 7}, {1, 1}, {0, 0}, {0, 0}},   {1, 1, 1, {11, 6}, {3, 2}, {1, 3}, {1, 0}, {0, 1}}};

/// Few different values, so that windows hold equal maxima; some NaN and infinities.
std::vector<float> poolInput(const Case &k) {
  auto x = randomValues(k.n * k.c * k.in[0] * k.in[1], 4);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = std::round(x[i] * 3) / 3;
    if (i % 29 == 7)
      x[i] = -std::numeric_limits<float>::infinity();
    if (i % 53 == 11)
      x[i] = std::nanf("");
  }
  return x;
}

/// Calls `visit(output, first maximum)` for every window.
template <typename Visit>
void forWindows(const Case &k, const std::vector<float> &x, Visit visit) {
  int64_t output = 0;
  for (int64_t plane = 0; plane < k.n * k.c; ++plane)
    for (int64_t i = 0; i < k.out(0); ++i)
      for (int64_t j = 0; j < k.out(1); ++j) {
        int64_t best = -1;
        for (int64_t p = 0; p < k.kernel[0]; ++p)
          for (int64_t q = 0; q < k.kernel[1]; ++q) {
            int64_t h = source(k, 0, i, p), v = source(k, 1, j, q);
            if (!exists(k, 0, h) || !exists(k, 1, v))
              continue;
            int64_t at = (plane * k.in[0] + h) * k.in[1] + v;
            if (best < 0 || (!std::isnan(x[best]) && (std::isnan(x[at]) || x[at] > x[best])))
              best = at;
          }
        visit(output++, best);
      }
}

TEST(Window, MaxPoolAndItsGradient) {
  for (const Case &k : pools) {
    auto x = poolInput(k);
    auto dy = randomValues(k.n * k.c * k.out(0) * k.out(1), 5);
    std::vector<float> y(dy.size()), dx(x.size());
    forWindows(k, x, [&](int64_t output, int64_t best) {
      y[output] = std::isnan(x[best]) ? 1e30f : x[best];
      dx[best] += dy[output];
    });
    std::string tx = tensor(k.n, k.c, k.in[0], k.in[1]), ty = tensor(k.n, k.c, k.out(0), k.out(1));
    expectNegated(window("max_pool_grad", {tx, ty}, poolAttributes(k), tx), {bytesOf(x), bytesOf(dy)}, dx);
    for (int64_t bytes : {16, 32, 64}) {
      auto values =
          valuesOf<float>(runGroup(window("max_pool", {tx}, poolAttributes(k), ty), {bytesOf(x)}, {bytes})[0]);
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_EQ(std::isnan(values[i]) ? 1e30f : -values[i], y[i]) << i;
    }
  }
}

TEST(Window, AvgPoolAndItsGradient) {
  for (bool padded : {false, true})
    for (const Case &k : pools) {
      auto x = randomValues(k.n * k.c * k.in[0] * k.in[1], 4), dy = randomValues(k.n * k.c * k.out(0) * k.out(1), 5);
      std::vector<float> y, dx(x.size());
      for (int64_t plane = 0; plane < k.n * k.c; ++plane)
        for (int64_t i = 0; i < k.out(0); ++i)
          for (int64_t j = 0; j < k.out(1); ++j) {
            std::vector<int64_t> held;
            for (int64_t p = 0; p < k.kernel[0]; ++p)
              for (int64_t q = 0; q < k.kernel[1]; ++q) {
                int64_t h = source(k, 0, i, p), v = source(k, 1, j, q);
                if (exists(k, 0, h) && exists(k, 1, v))
                  held.push_back((plane * k.in[0] + h) * k.in[1] + v);
              }
            float divisor = padded ? float(k.kernel[0] * k.kernel[1]) : float(held.size()), sum = 0;
            for (int64_t at : held)
              sum += x[at];
            for (int64_t at : held)
              dx[at] += dy[y.size()] / divisor;
            y.push_back(sum / divisor);
          }
      std::string tx = tensor(k.n, k.c, k.in[0], k.in[1]), ty = tensor(k.n, k.c, k.out(0), k.out(1));
      std::string attributes = (padded ? "count_include_pad " : "") + poolAttributes(k);
      expectNegated(window("avg_pool", {tx}, attributes, ty), {bytesOf(x)}, y);
      expectNegated(window("avg_pool_grad", {ty}, attributes, tx), {bytesOf(dy)}, dx);
    }
}

} // namespace
