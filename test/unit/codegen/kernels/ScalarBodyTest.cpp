#include "GroupKernel.h"
#include "dlc/ir/Reference.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dlc::dl;

// Compiled bodies against the formulas of the reference, at the values where they go wrong, in vectors and in the tail.
namespace {

const double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> values(const std::string &type) {
  if (type == "i1")
    return {0, 1};
  if (type == "f32" || type == "f64")
    return {
        0,      -0.0,  1,     -1,     0.1F,       0.2F,       0.5,          -0.5,         1.5,           2.5,   -2.5,
        3.7F,   -3.7,  6,     7,      -7,         300,        -300,         kInfinity,    -kInfinity,    kNan,  1e-45F,
        3e-39F, 1e10F, 3e38F, -3e38F, 16777216.0, 16777217.0, 2147483647.0, 2147483648.0, -2147483648.0, 1e19F, -1e19F};
  double limit = std::ldexp(1.0, type == "i8" ? 7 : type == "i32" ? 31 : 62);
  return {0, 1, -1, 2, -2, 7, -7, 100, -limit, 1 - limit, limit - (type == "i64" ? 512 : 1)};
}

/// Operand `which` of all pairs, and one more so that there is a tail.
std::vector<double> operand(const std::string &type, int which) {
  std::vector<double> all = values(type), result;
  for (double a : all)
    for (double b : all)
      result.push_back(which ? b : a);
  result.push_back(all.back());
  return result;
}

template <typename T>
Bytes converted(const std::vector<double> &from) {
  return bytesOf(std::vector<T>(from.begin(), from.end()));
}

Bytes pack(const std::string &type, const std::vector<double> &from) {
  if (type == "f64")
    return converted<double>(from);
  if (type == "f32")
    return converted<float>(from);
  if (type == "i64")
    return converted<int64_t>(from);
  return type == "i32" ? converted<int32_t>(from) : converted<int8_t>(from);
}

template <typename T>
std::vector<double> widened(const Bytes &bytes) {
  std::vector<T> from = valuesOf<T>(bytes);
  return std::vector<double>(from.begin(), from.end());
}

std::vector<double> unpack(const std::string &type, const Bytes &bytes) {
  if (type == "f64")
    return widened<double>(bytes);
  if (type == "f32")
    return widened<float>(bytes);
  if (type == "i64")
    return widened<int64_t>(bytes);
  return type == "i32" ? widened<int32_t>(bytes) : widened<int8_t>(bytes);
}

struct Body {
  std::string op; ///< `dl.add %x0, %x1`
  int operands;
  std::string from, to;
  std::string signature; ///< after the colon
};

std::string tensor(int64_t n, const std::string &type) { return "tensor<" + std::to_string(n) + "x" + type + ">"; }

std::string text(const Body &body, int64_t n) {
  std::string from = tensor(n, body.from), to = tensor(n, body.to), arguments, inputs;
  for (int i = 0; i < body.operands; ++i) {
    std::string index = std::to_string(i), comma = i ? ", " : "";
    arguments += comma + "%a" + index + ": " + from;
    inputs += comma + "%x" + index + " = %a" + index + " : " + from;
  }
  return "func.func @f(" + arguments + ") -> " + to + " {\n  %y = dl.group kind(pointwise) [" + std::to_string(n) +
         "] (" + inputs + ") -> (" + to + ") {\n    %r = " + body.op + " : " + body.signature +
         "\n    dl.yield %r : " + to + "\n  }\n  return %y : " + to + "\n}\n";
}

std::vector<double> evaluated(const Body &body, const std::vector<std::vector<double>> &inputs) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<DlDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(text(body, int64_t(inputs[0].size())), &context);
  if (!module)
    return {};
  auto function = module->lookupSymbol<func::FuncOp>("f");
  SmallVector<ReferenceTensor> arguments;
  for (auto [type, input] : llvm::zip(function.getArgumentTypes(), inputs)) {
    ReferenceTensor argument(cast<RankedTensorType>(type));
    if (argument.isFloat())
      argument.floats = input;
    else
      argument.integers.assign(input.begin(), input.end());
    argument.roundFloats();
    arguments.push_back(std::move(argument));
  }
  ReferenceState state;
  auto results = evaluateFunction(function, arguments, state, ReferencePrecision::Declared);
  std::vector<double> result;
  for (int64_t i = 0; succeeded(results) && i < results->front().size(); ++i)
    result.push_back(results->front().at(i));
  return result;
}

/// `relative` 0: bit for bit up to the payload of a NaN.
void check(const Body &body, double relative = 0) {
  std::vector<std::vector<double>> inputs;
  for (int i = 0; i < body.operands; ++i)
    inputs.push_back(operand(body.from, i));
  std::vector<double> expected = evaluated(body, inputs);
  ASSERT_EQ(expected.size(), inputs[0].size()) << body.op;
  std::vector<Bytes> packed;
  for (const std::vector<double> &input : inputs)
    packed.push_back(pack(body.from, input));
  std::vector<double> got = unpack(body.to, runGroup(text(body, int64_t(expected.size())), packed).at(0));
  for (size_t i = 0; i < expected.size(); ++i) {
    bool equal = std::isnan(expected[i]) ? std::isnan(got[i])
                                         : got[i] == expected[i] && std::signbit(got[i]) == std::signbit(expected[i]);
    if (!equal && relative > 0)
      equal = std::fabs(got[i] - expected[i]) <= relative * std::fmax(std::fabs(expected[i]), 1e-37);
    EXPECT_TRUE(equal) << body.op << " " << body.from << " of " << inputs[0][i] << ", " << inputs.back()[i]
                       << ": expected " << expected[i] << ", got " << got[i];
  }
}

void checkBinary(const std::string &op, const std::string &type) {
  check({"dl." + op + " %x0, %x1", 2, type, type, tensor(int64_t(operand(type, 0).size()), type)});
}
void checkUnary(const std::string &op, const std::string &type, const std::string &to, double relative = 0) {
  check({"dl." + op, 1, type, to, tensor(int64_t(operand(type, 0).size()), type)}, relative);
}

TEST(ScalarBody, FloatArithmeticIsTheReferences) {
  for (std::string type : {"f32", "f64"}) {
    for (std::string op : {"add", "sub", "mul", "div", "floor_div", "rem", "maximum", "minimum"})
      checkBinary(op, type);
    for (std::string op : {"neg %x0", "abs %x0", "sign %x0", "floor %x0", "ceil %x0", "round_even %x0", "sqrt %x0",
                           "relu %x0", "clamp %x0 min(-0.1) max(6.0)"})
      checkUnary(op, type, type);
    checkUnary("is_finite %x0", type, "i1");
  }
}

TEST(ScalarBody, IntegerArithmeticIsTheReferences) {
  for (std::string type : {"i64", "i32", "i8"}) {
    for (std::string op : {"add", "sub", "mul", "div", "floor_div", "rem", "maximum", "minimum", "and", "or", "xor"})
      checkBinary(op, type);
    for (std::string op : {"neg %x0", "abs %x0", "sign %x0", "not %x0"})
      checkUnary(op, type, type);
  }
  for (std::string op : {"and", "or", "xor"})
    checkBinary(op, "i1");
  checkUnary("not %x0", "i1", "i1");
}

TEST(ScalarBody, ComparisonsAreTheReferences) {
  for (std::string type : {"f64", "f32", "i64", "i32", "i8", "i1"})
    for (std::string predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
      check({"dl.compare " + predicate + ", %x0, %x1", 2, type, "i1", tensor(int64_t(operand(type, 0).size()), type)});
}

TEST(ScalarBody, CastsAreTheReferences) {
  for (std::string from : {"f64", "f32", "i64", "i32", "i8", "i1"})
    for (std::string to : {"f64", "f32", "i64", "i32", "i8", "i1"}) {
      int64_t n = int64_t(operand(from, 0).size());
      check({"dl.cast %x0", 1, from, to, tensor(n, from) + " to " + tensor(n, to)});
    }
}

TEST(ScalarBody, RandomBitsAreTheReferences) {
  int64_t n = int64_t(operand("i64", 0).size());
  for (std::string to : {"i64", "i32"})
    check({"dl.philox %x0, %x1, %x2", 3, "i64", to, tensor(n, "i64") + " to " + tensor(n, to)});
}

TEST(ScalarBody, ActivationsAreNearTheReference) {
  for (std::string op : {"sigmoid %x0", "silu %x0", "softplus %x0", "rsqrt %x0"})
    checkUnary(op, "f32", "f32", 2e-6);
}

} // namespace
