#include "kernels/IndexSpace.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dlc::codegen;

namespace {

class IndexSpaceTest : public testing::Test {
protected:
  MLIRContext context{MLIRContext::Threading::DISABLED};
  IndexSpace space{&context};
};

TEST_F(IndexSpaceTest, ReshapesOfReshapesAreTheSameOffset) {
  AffineExpr i = space.addDim(0, 5), j = space.addDim(0, 19);
  AffineExpr offset = space.linearize({6, 20}, {i, j});
  for (SmallVector<int64_t> shape : {SmallVector<int64_t>{120}, {4, 30}, {2, 3, 5, 4}, {6, 20}, {1, 120, 1}})
    EXPECT_EQ(space.linearize(shape, space.delinearize(shape, offset)), offset) << shape.size();
  SmallVector<AffineExpr> back = space.delinearize({6, 20}, offset);
  EXPECT_EQ(back[0], i);
  EXPECT_EQ(back[1], j);
}

// A vector that starts at a multiple of its width crosses no row whose extent is one.
TEST_F(IndexSpaceTest, AlignedVectorsStayInARow) {
  AffineExpr q = space.addDim(0, 11), lane = space.addDim(0, 7);
  SmallVector<AffineExpr> index = space.delinearize({6, 16}, space.simplify(q * 8 + lane));
  EXPECT_EQ(index[0], space.simplify(q.floorDiv(2)));
  EXPECT_EQ(index[1], space.simplify((q % 2) * 8 + lane));
  EXPECT_TRUE(space.contains(index[1], 0, 16));
}

TEST_F(IndexSpaceTest, RangesAreKept) {
  AffineExpr i = space.addDim(2, 5), j = space.addDim(0, 9);
  EXPECT_EQ(space.range(i * 3 - j), std::pair(int64_t(-3), int64_t(15)));
  EXPECT_EQ(space.range((i + j).floorDiv(4)), std::pair(int64_t(0), int64_t(3)));
  EXPECT_EQ(space.range(i % 8), std::pair(int64_t(2), int64_t(5)));
  EXPECT_EQ(space.simplify(i % 8), i);
  EXPECT_EQ(space.simplify(space.addDim(3, 3) * 2), space.constant(6));
}

// Every simplification has the value of the expression at every point.
TEST_F(IndexSpaceTest, SimplifiedExpressionsHaveTheSameValues) {
  AffineExpr a = space.addDim(0, 6), b = space.addDim(0, 4);
  AffineExpr c = getAffineConstantExpr(0, &context);
  for (int64_t p : {1, 2, 5, 7, 10})
    for (int64_t q : {1, 2, 3, 5, 35})
      for (int64_t s : {-3, 0, 4}) {
        AffineExpr sum = a * p + b * q + s;
        for (AffineExpr expr : {sum.floorDiv(q), sum % q, sum.floorDiv(p) % q, (sum % (p * q)).floorDiv(p),
                                (sum % q) + sum.floorDiv(q) * q, sum.floorDiv(p).floorDiv(q), c + sum}) {
          AffineExpr simple = space.simplify(expr);
          for (int64_t x = 0; x <= 6; ++x)
            for (int64_t y = 0; y <= 4; ++y) {
              auto at = [&](AffineExpr e) {
                SmallVector<AffineExpr> point = {getAffineConstantExpr(x, &context),
                                                 getAffineConstantExpr(y, &context)};
                return e.replaceDims(point);
              };
              ASSERT_EQ(at(simple), at(expr)) << p << " " << q << " " << s << " at " << x << ", " << y;
            }
        }
      }
}

} // namespace
