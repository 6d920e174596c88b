// Groups of several ops against the reference evaluator, which knows nothing of groups, loops or vectors.
#include "GroupKernel.h"
#include "dlc/ir/Reference.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

using namespace mlir;
using namespace dlc;

namespace {

Bytes toBytes(const dl::ReferenceTensor &tensor) {
  Bytes bytes;
  auto add = [&](auto value) {
    const char *data = reinterpret_cast<const char *>(&value);
    bytes.insert(bytes.end(), data, data + sizeof(value));
  };
  Type element = tensor.type.getElementType();
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (element.isF32())
      add(float(tensor.floats[i]));
    else if (element.isF64())
      add(tensor.floats[i]);
    else if (element.isInteger(64))
      add(tensor.integers[i]);
    else if (element.isInteger(32))
      add(int32_t(tensor.integers[i]));
    else
      add(int8_t(tensor.integers[i]));
  }
  return bytes;
}

double elementAt(const Bytes &bytes, Type element, int64_t i) {
  auto read = [&](auto value) {
    std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
    return double(value);
  };
  if (element.isF32())
    return read(float());
  if (element.isF64())
    return read(double());
  if (element.isInteger(64))
    return read(int64_t());
  return element.isInteger(32) ? read(int32_t()) : read(int8_t());
}

dl::ReferenceTensor randomTensor(RankedTensorType type, unsigned seed) {
  dl::ReferenceTensor tensor(type);
  auto values = randomValues<double>(tensor.size(), seed);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (tensor.isFloat())
      tensor.floats[i] = values[i];
    else
      tensor.integers[i] = type.getElementType().isInteger(1) ? values[i] > 0 : int64_t(values[i] * 7);
  }
  tensor.roundFloats();
  return tensor;
}

/// Runs the group of the text in every way: equal bits, and near the reference within `tolerance` (relative, at least
/// absolute): a few roundings of f32.
void check(const std::string &text, double tolerance = 2e-6) {
  DialectRegistry registry;
  registry.insert<dl::DlDialect, func::FuncDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  dl::GroupOp group;
  module->walk([&](dl::GroupOp found) { group = found; });
  SmallVector<dl::ReferenceTensor> arguments;
  std::vector<Bytes> inputs;
  for (auto [i, type] : llvm::enumerate(group.getOperandTypes())) {
    arguments.push_back(randomTensor(cast<RankedTensorType>(type), unsigned(i + 1)));
    inputs.push_back(toBytes(arguments.back()));
  }
  auto expected = dl::evaluateBlock(group.getBody().front(), arguments, {});
  ASSERT_TRUE(succeeded(expected));
  std::vector<Bytes> first;
  for (const KernelRun &how : everyRun) {
    std::vector<Bytes> results = runGroup(text, inputs, how);
    ASSERT_EQ(results.size(), expected->size());
    if (first.empty())
      first = results;
    ASSERT_EQ(results, first) << text << " with " << how.vectorBytes << " bytes";
  }
  for (auto [result, want] : llvm::zip(first, *expected))
    for (int64_t i = 0; i < want.size(); ++i) {
      double got = elementAt(result, want.type.getElementType(), i);
      ASSERT_LE(std::abs(got - want.at(i)), tolerance * std::max(1.0, std::abs(want.at(i))))
          << text << " element " << i << ": " << got << " and " << want.at(i);
    }
}

std::string shape(std::vector<int64_t> extents, const std::string &element = "f32") {
  std::string text = "tensor<";
  for (int64_t extent : extents)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

/// `body` over inputs %0, %1, …, ended by its own yield.
std::string group(const std::string &kind, const std::string &domain, const std::vector<std::string> &inputs,
                  const std::vector<std::string> &results, const std::string &body) {
  std::string arguments, bound, types;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string number = std::to_string(i), separator = i ? ", " : "";
    arguments += separator + "%a" + number + ": " + inputs[i];
    bound += separator + "%x" + number + " = %a" + number + " : " + inputs[i];
  }
  for (size_t i = 0; i < results.size(); ++i)
    types += (i ? ", " : "") + results[i];
  return "func.func @f(" + arguments + ") {\n  %y:" + std::to_string(results.size()) + " = dl.group kind(" + kind +
         ") [" + domain + "] (" + bound + ") -> (" + types + ") {\n" + body + "\n  }\n  return\n}\n";
}

std::string softmax(int64_t rows, int64_t columns) {
  std::string t = shape({rows, columns}), r = shape({rows});
  return group("row", std::to_string(rows) + ", " + std::to_string(columns), {t}, {t},
               "%m = dl.reduce_max %x0 over [1] : (" + t + ") -> " + r + "\n%b = dl.broadcast %m dims [0] : (" + r +
                   ") -> " + t + "\n%d = dl.sub %x0, %b : " + t + "\n%e = dl.exp %d : " + t +
                   "\n%s = dl.reduce_sum %e over [1] : (" + t + ") -> " + r + "\n%c = dl.broadcast %s dims [0] : (" +
                   r + ") -> " + t + "\n%y = dl.div %e, %c : " + t + "\ndl.yield %y : " + t);
}

TEST(Fused, Softmax) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{3, 1}, {5, 10}, {2, 33}, {2, 1000}, {2, 40000}})
    check(softmax(rows, columns), 1e-5); // a sum of up to 40,000 exponentials
}

// Softmax as four kernels and as one: the same bits.
TEST(Fused, GroupingChangesNoBit) {
  for (int64_t columns : {10, 1000, 20000}) {
    std::string t = shape({3, columns}), r = shape({3}), domain = "3, " + std::to_string(columns);
    auto x = bytesOf(randomValues(3 * columns, 7));
    auto most = runGroup(group("row", domain, {t}, {r},
                               "%m = dl.reduce_max %x0 over [1] : (" + t + ") -> " + r + "\ndl.yield %m : " + r),
                         {x})[0];
    std::string spread = "%b = dl.broadcast %x1 dims [0] : (" + r + ") -> " + t;
    auto exponentials =
        runGroup(group("pointwise", domain, {t, r}, {t},
                       spread + "\n%d = dl.sub %x0, %b : " + t + "\n%e = dl.exp %d : " + t + "\ndl.yield %e : " + t),
                 {x, most})[0];
    auto sum = runGroup(group("row", domain, {t}, {r},
                              "%s = dl.reduce_sum %x0 over [1] : (" + t + ") -> " + r + "\ndl.yield %s : " + r),
                        {exponentials})[0];
    auto separate = runGroup(
        group("pointwise", domain, {t, r}, {t}, spread + "\n%y = dl.div %x0, %b : " + t + "\ndl.yield %y : " + t),
        {exponentials, sum})[0];
    EXPECT_EQ(runGroup(softmax(3, columns), {x})[0], separate) << columns;
  }
}

// The loss of labels that pick one class each: mean(log(sum(exp(x))) - x[label]).
TEST(Fused, CrossEntropyOfARow) {
  std::string t = shape({6, 10}), r = shape({6}), i = shape({6, 10}, "i64"), l = shape({6}, "i64");
  check(group("row", "6, 10", {t, l}, {r},
              "%k = dl.iota axis 1 : " + i + "\n%b = dl.broadcast %x1 dims [0] : (" + l + ") -> " + i +
                  "\n%p = dl.compare eq, %k, %b : " + i + "\n%z = dl.constant dense<0.0> : " + t +
                  "\n%q = dl.select %p, %x0, %z : " + t + "\n%s = dl.reduce_sum %q over [1] : (" + t + ") -> " + r +
                  "\n%e = dl.exp %x0 : " + t + "\n%u = dl.reduce_sum %e over [1] : (" + t + ") -> " + r +
                  "\n%g = dl.log %u : " + r + "\n%y = dl.sub %g, %s : " + r + "\ndl.yield %y : " + r));
}

TEST(Fused, ArgMaxOverTrailingAndLeadingAxes) {
  std::string t = shape({4, 50});
  check(group("row", "4, 50", {t}, {shape({4}, "i64")},
              "%y = dl.argmax %x0 over [1] : (" + t + ") -> " + shape({4}, "i64") +
                  "\ndl.yield %y : " + shape({4}, "i64")));
  check(group("column", "4, 50", {t}, {shape({50}, "i64")},
              "%y = dl.argmax %x0 over [0] : (" + t + ") -> " + shape({50}, "i64") +
                  "\ndl.yield %y : " + shape({50}, "i64")));
  std::string big = shape({20000}, "i32");
  check(group("row", "20000", {big}, {shape({}, "i64")},
              "%y = dl.argmin %x0 over [0] : (" + big + ") -> " + shape({}, "i64") +
                  "\ndl.yield %y : " + shape({}, "i64")));
}

TEST(Fused, BiasAndMaskOverChannels) {
  std::string t = shape({2, 3, 5, 7}), c = shape({3}), m = shape({2, 3, 5, 7}, "i1");
  check(group("pointwise", "2, 3, 5, 7", {t, c}, {t, m},
              "%b = dl.broadcast %x1 dims [1] : (" + c + ") -> " + t + "\n%s = dl.add %x0, %b : " + t +
                  "\n%r = dl.relu %s : " + t + "\n%p = dl.compare gt, %s, %x0 : " + t + "\ndl.yield %r, %p : " + t +
                  ", " + m));
}

TEST(Fused, DataMovement) {
  std::string a = shape({6, 20}), b = shape({20, 6}), flat = shape({120}), z = shape({});
  check(group("pointwise", "20, 6", {a}, {b},
              "%y = dl.transpose %x0 permutation [1, 0] : (" + a + ") -> " + b + "\ndl.yield %y : " + b));
  check(
      group("pointwise", "120", {a}, {flat},
            "%y = dl.reshape %x0 : (" + a + ") -> " + flat + "\n%n = dl.neg %y : " + flat + "\ndl.yield %n : " + flat));
  check(group("pointwise", "6, 20", {a}, {a},
              "%y = dl.reverse %x0 axes [0, 1] : (" + a + ") -> " + a + "\ndl.yield %y : " + a));
  std::string s = shape({2, 9});
  check(group("pointwise", "2, 9", {a}, {s},
              "%y = dl.slice %x0 starts [1, 2] limits [6, 20] strides [3, 2] : (" + a + ") -> " + s +
                  "\ndl.yield %y : " + s));
  std::string p = shape({13, 25});
  check(group("pointwise", "13, 25", {a, z}, {p},
              "%y = dl.pad %x0, %x1 lo [1, 3] hi [1, 2] interior [1, 0] : (" + a + ", " + z + ") -> " + p +
                  "\ndl.yield %y : " + p));
  std::string q = shape({6, 33}), e = shape({6, 13});
  check(group("pointwise", "6, 33", {a, e}, {q},
              "%y = dl.concat %x0, %x1 axis 1 : (" + a + ", " + e + ") -> " + q + "\n%n = dl.mul %y, %y : " + q +
                  "\ndl.yield %n : " + q));
}

// A slice of a concatenation of a reshape and a padded tensor: bounds inside bounds.
TEST(Fused, MovesOfMoves) {
  std::string a = shape({4, 10}), b = shape({40}), z = shape({}), p = shape({50}), c = shape({90}), s = shape({30});
  check(group("pointwise", "30", {a, b, z}, {s},
              "%r = dl.reshape %x0 : (" + a + ") -> " + b + "\n%p = dl.pad %x1, %x2 lo [7] hi [3] interior [0] : (" +
                  b + ", " + z + ") -> " + p + "\n%c = dl.concat %r, %p axis 0 : (" + b + ", " + p + ") -> " + c +
                  "\n%y = dl.slice %c starts [20] limits [80] strides [2] : (" + c + ") -> " + s +
                  "\n%e = dl.exp %y : " + s + "\ndl.yield %e : " + s));
}

TEST(Fused, SmallConstantsAndOtherTypes) {
  std::string t = shape({5}, "f64"), i = shape({5}, "i32");
  check(group("pointwise", "5", {t, i}, {t, i},
              "%k = dl.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : " + t + "\n%y = dl.mul %x0, %k : " + t +
                  "\n%c = dl.cast %x1 : " + i + " to " + t + "\n%s = dl.add %y, %c : " + t +
                  "\n%n = dl.neg %x1 : " + i + "\ndl.yield %s, %n : " + t + ", " + i));
}

// Values that no index varies are computed once, outside of the loops.
TEST(Fused, UniformValues) {
  std::string t = shape({1000}), z = shape({});
  check(group("pointwise", "1000", {t, z}, {t},
              "%e = dl.exp %x1 : " + z + "\n%b = dl.broadcast %e dims [] : (" + z + ") -> " + t +
                  "\n%y = dl.mul %x0, %b : " + t + "\ndl.yield %y : " + t));
}

TEST(Fused, ColumnSumOfAProductWithEpilogue) {
  std::string t = shape({300, 40}), c = shape({40}), r = shape({300});
  check(group("column", "300, 40", {t, r, c}, {c, c},
              "%b = dl.broadcast %x1 dims [0] : (" + r + ") -> " + t + "\n%p = dl.mul %x0, %b : " + t +
                  "\n%s = dl.reduce_sum %p over [0] : (" + t + ") -> " + c + "\n%m = dl.reduce_max %x0 over [0] : (" +
                  t + ") -> " + c + "\n%y = dl.sub %x2, %s : " + c + "\ndl.yield %y, %m : " + c + ", " + c),
        1e-5);
}

} // namespace
