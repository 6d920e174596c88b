#include "../EvaluatedModule.h"

#include "dlc/ir/Program.h"
#include "dlc/passes/Passes.h"
#include <chrono>
#include <random>

using namespace mlir;
using namespace dlc;

namespace {

/// A deep net of products, normalised rows and residuals, and per-layer chains as an optimizer has them.
std::string deepNet(unsigned layers) {
  std::string type = "tensor<64x64xf32>", row = "tensor<64xf32>", body, last = "%x";
  for (unsigned i = 0; i < layers; ++i) {
    std::string n = std::to_string(i);
    body += "%p" + n + " = dl.dot_general " + last + ", %w batch [] x [] contract [1] x [0] : (" + type + ", " + type +
            ") -> " + type + "\n%e" + n + " = dl.exp %p" + n + " : " + type + "\n%s" + n + " = dl.reduce_sum %e" + n +
            " over [1] : (" + type + ") -> " + row + "\n%b" + n + " = dl.broadcast %s" + n + " dims [0] : (" + row +
            ") -> " + type + "\n%q" + n + " = dl.div %e" + n + ", %b" + n + " : " + type + "\n%r" + n + " = dl.add %q" +
            n + ", " + last + " : " + type + "\n";
    last = "%r" + n;
  }
  // Every layer's value is read again, last layer first, as a backward pass does.
  std::string reversed;
  for (unsigned i = layers; i-- > 0;) {
    std::string n = std::to_string(i), back = i + 1 == layers ? last : "%g" + std::to_string(i + 1);
    reversed += "%h" + n + " = dl.mul %q" + n + ", " + back + " : " + type + "\n%g" + n + " = dl.dot_general %h" + n +
                ", %w batch [] x [] contract [1] x [1] : (" + type + ", " + type + ") -> " + type + "\n";
  }
  return "func.func @net(%x: " + type + ", %w: " + type + ") -> " + type + " {\n" + body + reversed +
         "return %g0 : " + type + "\n}\n";
}

double secondsToFuse(MLIRContext &context, unsigned layers, unsigned &groups) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(deepNet(layers), &context);
  EXPECT_TRUE(module);
  PassManager manager(&context);
  manager.addPass(passes::createFusePass());
  auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(succeeded(manager.run(*module)));
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  module->walk([&](dl::GroupOp) { ++groups; });
  return taken.count();
}

} // namespace

TEST(Fuse, DeepNetsTakeLinearTime) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<dl::DlDialect, func::FuncDialect>();
  unsigned few = 0, many = 0;
  double small = secondsToFuse(context, 32, few), large = secondsToFuse(context, 512, many);
  // A layer is a product with exp, a row group with the residual, and on the way back a product each behind its factor.
  EXPECT_EQ(few % 32, many % 512);
  EXPECT_EQ(few / 32, many / 512);
  // 16 times the work; quadratic growth would take 256 times as long. Wide margin: the machine may be busy.
  EXPECT_LT(large, 100 * std::max(small, 0.002));
}

namespace {

/// Random ops over a few shapes, all of whose last values are returned.
std::string randomGraph(unsigned seed) {
  std::mt19937 random(seed);
  std::string square = "tensor<6x6xf32>", row = "tensor<6xf32>", body;
  std::vector<std::string> squares{"%x", "%y"}, rows{"%z"};
  auto pick = [&](std::vector<std::string> &from) {
    return from[from.size() - 1 - random() % std::min<size_t>(from.size(), 5)];
  };
  for (unsigned i = 0; i < 24; ++i) {
    std::string name = "%v" + std::to_string(i), a = pick(squares), b = pick(squares), r = pick(rows);
    auto define = [&](std::vector<std::string> &to, const std::string &op) {
      body += name + " = " + op + "\n";
      to.push_back(name);
    };
    std::string move = "(" + square + ") -> " + square, down = "(" + square + ") -> " + row;
    switch (random() % 10) {
    case 0:
      define(squares, "dl.add " + a + ", " + b + " : " + square);
      break;
    case 1:
      define(squares, "dl.tanh " + a + " : " + square);
      break;
    case 2:
      define(squares, "dl.dot_general " + a + ", " + b + " batch [] x [] contract [1] x [0] : (" + square + ", " +
                          square + ") -> " + square);
      break;
    case 3:
      define(rows, "dl.reduce_sum " + a + " over [1] : " + down);
      break;
    case 4:
      define(rows, "dl.reduce_max " + a + " over [0] : " + down);
      break;
    case 5:
      define(squares, "dl.broadcast " + r + " dims [0] : (" + row + ") -> " + square);
      break;
    case 6:
      define(squares, "dl.broadcast " + r + " dims [1] : (" + row + ") -> " + square);
      break;
    case 7:
      define(squares, "dl.reverse " + a + " axes [1] : " + move);
      break;
    case 8:
      define(squares, "dl.transpose " + a + " permutation [1, 0] : " + move);
      break;
    default:
      define(rows, "dl.neg " + r + " : " + row);
    }
  }
  return "func.func @graph(%x: " + square + ", %y: " + square + ", %z: " + row + ") -> (" + square + ", " + square +
         ", " + row + ") {\n" + body + "return " + squares[squares.size() - 2] + ", " + squares.back() + ", " +
         rows.back() + " : " + square + ", " + square + ", " + row + "\n}\n";
}

std::vector<dl::ReferenceTensor> evaluate(func::FuncOp function) {
  std::mt19937 random(7);
  std::vector<dl::ReferenceTensor> arguments;
  for (Type type : function.getArgumentTypes())
    for (double &element : arguments.emplace_back(cast<RankedTensorType>(type)).floats)
      element = double(random() % 1024) / 512 - 1;
  dl::ReferenceState state;
  auto results = dl::evaluateFunction(function, arguments, state, dl::ReferencePrecision::Double);
  EXPECT_TRUE(succeeded(results));
  return succeeded(results) ? std::vector(results->begin(), results->end()) : std::vector<dl::ReferenceTensor>();
}

} // namespace

TEST(Fuse, ChangesNoValue) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    EvaluatedModule plain(randomGraph(seed)), fused(randomGraph(seed));
    fused.run(passes::createFusePass());
    auto expected = evaluate(plain.first()), got = evaluate(fused.first());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(got[i].floats, expected[i].floats) << "seed " << seed << "\n" << randomGraph(seed);
  }
}
