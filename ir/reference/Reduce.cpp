#include "dlc/ir/Reduce.h"

#include "reference/Registry.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dlc::dl;

/// The elements of x that each result element is made of, in row-major order.
template <class Op>
static std::vector<std::vector<int64_t>> groupsOf(Op op, const ReferenceTensor &x, const ReferenceTensor &y) {
  SmallVector<int64_t> strides = rowMajorStrides(y.shape());
  std::vector<std::vector<int64_t>> groups(y.size());
  forEachIndex(x.shape(), [&](ArrayRef<int64_t> index, int64_t i) {
    int64_t place = 0, kept = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      if (!llvm::is_contained(op.getAxes(), int64_t(axis)))
        place += index[axis] * strides[kept++];
    groups[place].push_back(i);
  });
  return groups;
}

/// y = function(elements of the group), on doubles.
template <class Op, class F>
static void addFloats(ReferenceRegistry &registry, F function) {
  registry.add<Op>([function](Op op, ReferenceOperands x, ReferenceResults y) {
    for (auto [i, group] : llvm::enumerate(groupsOf(op, x[0], y[0]))) {
      std::vector<double> elements;
      for (int64_t j : group)
        elements.push_back(x[0].floats[j]);
      y[0].floats[i] = function(op, elements);
    }
  });
}

/// A fold from the left; integers wrap in 64 bits, of which the result keeps the low ones.
template <class Op, class F, class I>
static void addFold(ReferenceRegistry &registry, double startFloat, int64_t startInteger, F onFloats, I onIntegers) {
  registry.add<Op>([=](Op op, ReferenceOperands x, ReferenceResults y) {
    for (auto [i, group] : llvm::enumerate(groupsOf(op, x[0], y[0]))) {
      double floats = startFloat;
      int64_t integers = startInteger;
      for (int64_t j : group)
        if (x[0].isFloat())
          floats = onFloats(floats, x[0].floats[j]);
        else
          integers = onIntegers(integers, x[0].integers[j]);
      if (y[0].isFloat())
        y[0].floats[i] = floats;
      else
        y[0].integers[i] = integers;
    }
  });
}

/// Position of the first element no other is before; a NaN is before every number.
template <class Op>
static void addIndex(ReferenceRegistry &registry, bool largest) {
  registry.add<Op>([largest](Op op, ReferenceOperands x, ReferenceResults y) {
    auto before = [&](int64_t a, int64_t b) {
      if (!x[0].isFloat())
        return largest ? x[0].integers[a] > x[0].integers[b] : x[0].integers[a] < x[0].integers[b];
      double l = x[0].floats[a], r = x[0].floats[b];
      if (std::isnan(l) || std::isnan(r))
        return std::isnan(l) && !std::isnan(r);
      return largest ? l > r : l < r;
    };
    for (auto [i, group] : llvm::enumerate(groupsOf(op, x[0], y[0]))) {
      size_t best = 0;
      for (size_t k = 1; k < group.size(); ++k)
        if (before(group[k], group[best]))
          best = k;
      y[0].integers[i] = int64_t(best);
    }
  });
}

static double meanOf(ArrayRef<double> x) {
  double sum = 0;
  for (double element : x)
    sum += element;
  return sum / double(x.size());
}

static double varianceOf(VarOp op, ArrayRef<double> x) {
  double mean = meanOf(x), sum = 0;
  for (double element : x)
    sum += (element - mean) * (element - mean);
  return sum / std::max(0.0, double(x.size()) - op.getCorrection().convertToDouble());
}

static double normOf(NormOp, ArrayRef<double> x) {
  double sum = 0;
  for (double element : x)
    sum += element * element;
  return std::sqrt(sum);
}

static double logSumExpOf(LogSumExpOp, ArrayRef<double> x) {
  double shift = -std::numeric_limits<double>::infinity(), sum = 0;
  for (double element : x)
    shift = std::isnan(element) || element > shift ? element : shift;
  if (!std::isfinite(shift))
    shift = 0;
  for (double element : x)
    sum += std::exp(element - shift);
  return std::log(sum) + shift;
}

void dlc::dl::registerReferenceReduce(ReferenceRegistry &registry) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  addFold<ReduceSumOp>(
      registry, 0, 0, [](double a, double b) { return a + b; },
      [](int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); });
  addFold<ReduceProdOp>(
      registry, 1, 1, [](double a, double b) { return a * b; },
      [](int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); });
  addFold<ReduceMaxOp>(
      registry, -kInfinity, kLeast, [](double a, double b) { return std::isnan(a) || a > b ? a : b; },
      [](int64_t a, int64_t b) { return std::max(a, b); });
  addFold<ReduceMinOp>(
      registry, kInfinity, kMost, [](double a, double b) { return std::isnan(a) || a < b ? a : b; },
      [](int64_t a, int64_t b) { return std::min(a, b); });
  auto noFloats = [](double a, double) { return a; };
  addFold<ReduceAndOp>(registry, 0, 1, noFloats, [](int64_t a, int64_t b) { return a & b; });
  addFold<ReduceOrOp>(registry, 0, 0, noFloats, [](int64_t a, int64_t b) { return a | b; });
  addIndex<ArgMaxOp>(registry, true);
  addIndex<ArgMinOp>(registry, false);
  addFloats<MeanOp>(registry, [](MeanOp, ArrayRef<double> x) { return meanOf(x); });
  addFloats<VarOp>(registry, varianceOf);
  addFloats<NormOp>(registry, normOf);
  addFloats<LogSumExpOp>(registry, logSumExpOf);
}
