#include "dlc/ir/Reference.h"

#include "dlc/ir/Dl.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dlc::dl;

namespace {
struct ReferenceTest : testing::Test {
  ReferenceTest() : context(MLIRContext::Threading::DISABLED) { context.loadDialect<DlDialect, func::FuncDialect>(); }

  /// The results of function @f of the source without arguments, empty on failure.
  SmallVector<ReferenceTensor> run(StringRef source, ReferencePrecision precision = ReferencePrecision::Double) {
    module = parseSourceString<ModuleOp>(source, &context);
    if (!module)
      return {};
    auto results = evaluateFunction(module->lookupSymbol<func::FuncOp>("f"), {}, state, precision);
    return succeeded(results) ? *results : SmallVector<ReferenceTensor>();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ReferenceState state;
};
} // namespace

TEST_F(ReferenceTest, FloatsAreDoublesUnlessTheDeclaredTypeIsAskedFor) {
  StringRef source = R"(func.func @f() -> tensor<f32> {
    %a = dl.constant dense<1.0> : tensor<f32>
    %b = dl.constant dense<3.0> : tensor<f32>
    %y = dl.div %a, %b : tensor<f32>
    return %y : tensor<f32>
  })";
  EXPECT_EQ(run(source)[0].floats, std::vector<double>{1.0 / 3.0});
  EXPECT_EQ(run(source, ReferencePrecision::Declared)[0].floats, std::vector<double>{1.0F / 3.0F});
}

TEST_F(ReferenceTest, IntegersWrapToTheirWidth) {
  auto results = run(R"(func.func @f() -> (tensor<2xi8>, tensor<2xi1>) {
    %a = dl.constant dense<[127, -128]> : tensor<2xi8>
    %y = dl.add %a, %a : tensor<2xi8>
    %b = dl.constant dense<[true, false]> : tensor<2xi1>
    %n = dl.not %b : tensor<2xi1>
    return %y, %n : tensor<2xi8>, tensor<2xi1>
  })");
  EXPECT_EQ(results[0].integers, (std::vector<int64_t>{-2, 0}));
  EXPECT_EQ(results[1].integers, (std::vector<int64_t>{0, 1}));
}

TEST_F(ReferenceTest, WritesChangeTheStateThatLaterReadsSee) {
  auto type = RankedTensorType::get({1}, Float32Type::get(&context));
  ReferenceTensor one(type);
  one.floats = {1.0};
  state.emplace("w", one);
  auto results = run(R"(
    dl.variable @w : tensor<1xf32> role(parameter) init(#dl.zeros)
    func.func @f() -> tensor<1xf32> attributes {dl.entry} {
      %w = dl.read @w : tensor<1xf32>
      %d = dl.add %w, %w : tensor<1xf32>
      dl.write @w, %d : tensor<1xf32>
      %r = dl.read @w : tensor<1xf32>
      return %r : tensor<1xf32>
    })");
  EXPECT_EQ(results[0].floats, std::vector<double>{2.0});
  EXPECT_EQ(state.at("w").floats, std::vector<double>{2.0});
}

TEST_F(ReferenceTest, GroupsEvaluateTheirBody) {
  auto results = run(R"(func.func @f() -> tensor<2xf32> {
    %x = dl.constant dense<[1.0, 4.0]> : tensor<2xf32>
    %y = dl.group kind(pointwise) [2] (%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
      %s = dl.sqrt %a : tensor<2xf32>
      dl.yield %s : tensor<2xf32>
    }
    return %y : tensor<2xf32>
  })");
  EXPECT_EQ(results[0].floats, (std::vector<double>{1.0, 2.0}));
}

TEST_F(ReferenceTest, GradientMustBeExpandedFirst) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(run(R"(func.func @f() -> tensor<f32> {
    %x = dl.constant dense<1.0> : tensor<f32>
    %g = dl.gradient %x wrt %x : tensor<f32>, tensor<f32>
    return %g : tensor<f32>
  })")
                  .empty());
  EXPECT_EQ(message, "'dl.gradient' op expects an op with a reference value, got one without");
}

TEST_F(ReferenceTest, ElementsSurviveTheRoundTrip) {
  for (StringRef text : {"dense<[1.5, 0x7FC00000, -0.0]> : tensor<3xf32>", "dense<[-1, 127]> : tensor<2xi8>",
                         "dense<[true, false]> : tensor<2xi1>", "dense<> : tensor<0xf64>"}) {
    auto elements = cast<ElementsAttr>(parseAttribute(text, &context));
    auto tensor = ReferenceTensor::fromElements(elements);
    ASSERT_TRUE(succeeded(tensor)) << text.str();
    EXPECT_EQ(tensor->toElements(), elements) << text.str();
  }
}
