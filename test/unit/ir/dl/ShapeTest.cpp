#include "dlc/ir/Shape.h"
#include "dlc/ir/Reference.h"

#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace dlc::dl;

namespace {

bool holds(const IndexBound &bound, const AffineMap &dims, ArrayRef<Attribute> index) {
  auto map = AffineMap::get(dims.getNumDims(), 0, bound.expr);
  SmallVector<Attribute> value;
  EXPECT_TRUE(succeeded(map.constantFold(index, value)));
  int64_t at = cast<IntegerAttr>(value[0]).getInt();
  return bound.lower <= at && at < bound.upper;
}

/// Every element of the result, through the index sources, against the reference value.
void checkIndexSources(IndexMapOpInterface op) {
  std::vector<ReferenceTensor> operands;
  int64_t next = 1;
  for (Value operand : op->getOperands()) {
    operands.emplace_back(cast<RankedTensorType>(operand.getType()));
    for (double &element : operands.back().floats)
      element = double(next++);
  }
  FailureOr<SmallVector<ReferenceTensor>> expected = evaluate(op, operands);
  ASSERT_TRUE(succeeded(expected));
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<IndexSource> sources = op.getIndexSources();
  ASSERT_TRUE(sources.back().bounds.empty());
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    SmallVector<Attribute> index(type.getRank());
    int64_t rest = i;
    for (int64_t dim = type.getRank(); dim-- > 0; rest /= type.getDimSize(dim))
      index[dim] = IntegerAttr::get(IndexType::get(op->getContext()), rest % type.getDimSize(dim));
    const IndexSource *source = llvm::find_if(sources, [&](const IndexSource &candidate) {
      return llvm::all_of(candidate.bounds,
                          [&](const IndexBound &bound) { return holds(bound, candidate.map, index); });
    });
    SmallVector<Attribute> from;
    if (source->map.getNumResults()) // rank 0 has nothing to fold
      ASSERT_TRUE(succeeded(source->map.constantFold(index, from)));
    const ReferenceTensor &operand = operands[source->operand];
    ASSERT_EQ(from.size(), operand.shape().size());
    int64_t position = 0;
    for (auto [value, extent] : llvm::zip(from, operand.shape())) {
      int64_t at = cast<IntegerAttr>(value).getInt();
      ASSERT_TRUE(0 <= at && at < extent) << "dimension index " << at << " of extent " << extent;
      position = position * extent + at;
    }
    EXPECT_EQ(operand.floats[position], expected->front().floats[i]) << "element " << i;
  }
}

/// `statements` use %a : tensor<2x3x4xf32>, %b : tensor<6x1x4xf32>, %c : tensor<2x0x4xf32>, %v : tensor<f32>.
void checkStatement(StringRef statement) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<DlDialect, func::FuncDialect>();
  std::string text = ("func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<6x1x4xf32>, %c: tensor<2x0x4xf32>, "
                      "%v: tensor<f32>) {\n  %y = " +
                      statement + "\n  return\n}")
                         .str();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text;
  int checked = 0;
  module->walk([&](IndexMapOpInterface op) {
    checkIndexSources(op);
    ++checked;
  });
  EXPECT_EQ(checked, 1);
}

class IndexSources : public testing::TestWithParam<const char *> {};

} // namespace

TEST_P(IndexSources, GiveTheReferenceElements) { checkStatement(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Shape, IndexSources,
    testing::Values(
        "dl.reshape %a : (tensor<2x3x4xf32>) -> tensor<6x4xf32>",
        "dl.reshape %a : (tensor<2x3x4xf32>) -> tensor<24xf32>",
        "dl.reshape %a : (tensor<2x3x4xf32>) -> tensor<2x1x12x1xf32>",
        "dl.reshape %a : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>",
        "dl.reshape %a : (tensor<2x3x4xf32>) -> tensor<3x8xf32>",
        "dl.reshape %b : (tensor<6x1x4xf32>) -> tensor<1x2x3x2x2xf32>",
        "dl.reshape %b : (tensor<6x1x4xf32>) -> tensor<8x1x3xf32>",
        "dl.reshape %c : (tensor<2x0x4xf32>) -> tensor<0x3xf32>", "dl.reshape %v : (tensor<f32>) -> tensor<1x1xf32>",
        "dl.transpose %a permutation [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>",
        "dl.broadcast %b dims [0, 2, 3] : (tensor<6x1x4xf32>) -> tensor<6x2x3x4xf32>",
        "dl.broadcast %v dims [] : (tensor<f32>) -> tensor<2x2xf32>",
        "dl.slice %a starts [1, 0, 1] limits [2, 3, 4] strides [1, 2, 2] : (tensor<2x3x4xf32>) -> tensor<1x2x2xf32>",
        "dl.pad %a, %v lo [1, 0, 2] hi [0, 0, 1] interior [0, 0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> "
        "tensor<3x3x13xf32>",
        "dl.pad %a, %v lo [0, 0, 0] hi [0, 0, 0] interior [1, 2, 0] : (tensor<2x3x4xf32>, tensor<f32>) -> "
        "tensor<3x7x4xf32>",
        "dl.pad %c, %v lo [0, 1, 0] hi [0, 1, 0] interior [0, 3, 0] : (tensor<2x0x4xf32>, tensor<f32>) -> "
        "tensor<2x2x4xf32>",
        "dl.concat %a, %c, %a axis 1 : (tensor<2x3x4xf32>, tensor<2x0x4xf32>, tensor<2x3x4xf32>) -> tensor<2x6x4xf32>",
        "dl.concat %a, %c axis 1 : (tensor<2x3x4xf32>, tensor<2x0x4xf32>) -> tensor<2x3x4xf32>",
        "dl.reverse %a axes [2, 0] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>"));

TEST(Reshape, SplitsAndMergesWithoutDivisionsAcrossOtherDims) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<DlDialect>();
  OpBuilder b(&context);
  Block block;
  Value x = block.addArgument(RankedTensorType::get({8, 6, 4}, b.getF32Type()), b.getUnknownLoc());
  b.setInsertionPointToEnd(&block);
  auto merged = ReshapeOp::create(b, b.getUnknownLoc(), RankedTensorType::get({48, 4}, b.getF32Type()), x);
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1), d2 = b.getAffineDimExpr(2);
  EXPECT_EQ(merged.getIndexSources()[0].map, AffineMap::get(2, 0, {d0.floorDiv(6), d0 % 6, d1}, &context));
  auto split = ReshapeOp::create(b, b.getUnknownLoc(), RankedTensorType::get({8, 6, 2, 2}, b.getF32Type()), x);
  EXPECT_EQ(split.getIndexSources()[0].map, AffineMap::get(4, 0, {d0, d1, d2 * 2 + b.getAffineDimExpr(3)}, &context));
}
