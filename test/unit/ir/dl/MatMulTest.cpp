#include "dlc/ir/MatMul.h"
#include "dlc/ir/ContractionDims.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dlc::dl;

namespace {

using Axes = std::vector<int64_t>;

/// Axes as {extent, lhs stride, rhs stride, result stride}.
std::vector<Axes> plain(ArrayRef<ContractionAxis> axes) {
  std::vector<Axes> list;
  for (const ContractionAxis &axis : axes)
    list.push_back({axis.extent, axis.lhsStride, axis.rhsStride, axis.resultStride});
  return list;
}

struct Contraction {
  Contraction(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs, Axes lhsBatch, Axes rhsBatch, Axes lhsContract,
              Axes rhsContract) {
    context.loadDialect<DlDialect>();
    OpBuilder b(&context);
    Value x = block.addArgument(RankedTensorType::get(lhs, b.getF32Type()), b.getUnknownLoc());
    Value y = block.addArgument(RankedTensorType::get(rhs, b.getF32Type()), b.getUnknownLoc());
    b.setInsertionPointToEnd(&block);
    op = DotGeneralOp::create(b, b.getUnknownLoc(), x, y, lhsBatch, rhsBatch, lhsContract, rhsContract);
    dims = ContractionDims::of(op);
  }
  MLIRContext context{MLIRContext::Threading::DISABLED};
  Block block;
  DotGeneralOp op;
  ContractionDims dims;
};

} // namespace

TEST(ContractionDims, MatrixProduct) {
  Contraction c({4, 8}, {8, 2}, {}, {}, {1}, {0});
  EXPECT_TRUE(c.dims.isMatrixProduct());
  EXPECT_EQ(plain(c.dims.batch), std::vector<Axes>{});
  EXPECT_EQ(plain(c.dims.m), (std::vector<Axes>{{4, 8, 0, 2}}));
  EXPECT_EQ(plain(c.dims.n), (std::vector<Axes>{{2, 0, 1, 1}}));
  EXPECT_EQ(plain(c.dims.k), (std::vector<Axes>{{8, 1, 2, 0}}));
  EXPECT_EQ(c.op.getFlops(), 4 * 8 * 2);
}

TEST(ContractionDims, TransposedOperandsAreStrides) {
  Contraction c({8, 4}, {2, 8}, {}, {}, {0}, {1});
  EXPECT_EQ(plain(c.dims.m), (std::vector<Axes>{{4, 1, 0, 2}}));
  EXPECT_EQ(plain(c.dims.n), (std::vector<Axes>{{2, 0, 8, 1}}));
  EXPECT_EQ(plain(c.dims.k), (std::vector<Axes>{{8, 4, 1, 0}}));
}

TEST(ContractionDims, FreeAndContractedDimsMerge) {
  Contraction c({3, 5, 2, 4}, {2, 4, 7}, {}, {}, {2, 3}, {0, 1});
  EXPECT_EQ(plain(c.dims.m), (std::vector<Axes>{{15, 8, 0, 7}}));
  EXPECT_EQ(plain(c.dims.k), (std::vector<Axes>{{8, 1, 7, 0}}));
}

TEST(ContractionDims, CrossedContractedDimsStayTwo) {
  Contraction c({3, 2, 4}, {4, 2, 7}, {}, {}, {1, 2}, {1, 0});
  EXPECT_FALSE(c.dims.isMatrixProduct());
  EXPECT_EQ(plain(c.dims.k), (std::vector<Axes>{{2, 4, 7, 0}, {4, 1, 14, 0}}));
}

TEST(ContractionDims, BatchesKeepTheirOrderAndOnesVanish) {
  Contraction c({1, 6, 5, 4}, {6, 4, 3}, {1}, {0}, {3}, {1});
  EXPECT_EQ(plain(c.dims.batch), (std::vector<Axes>{{6, 20, 12, 15}}));
  EXPECT_EQ(plain(c.dims.m), (std::vector<Axes>{{5, 4, 0, 3}}));
}

TEST(ContractionDims, EmptyContraction) {
  Contraction c({2, 0}, {0, 3}, {}, {}, {1}, {0});
  EXPECT_EQ(ContractionDims::extentOf(c.dims.k), 0);
  EXPECT_EQ(ContractionDims::extentOf(c.dims.m), 2);
  EXPECT_EQ(ContractionDims::extentOf(c.dims.batch), 1);
}
