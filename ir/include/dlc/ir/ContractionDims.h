#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace dlc::dl {

class DotGeneralOp;

/// One loop of a contraction. Strides are in elements of each tensor's row-major storage, 0 where the loop does not
/// index the tensor.
struct ContractionAxis {
  int64_t extent;
  int64_t lhsStride;
  int64_t rhsStride;
  int64_t resultStride;
};

/// The loops of a dot_general by role, outermost first. Loops of extent 1 are dropped, and neighbours that one loop can
/// walk in every tensor are merged, so an ordinary (batched, transposed) matrix product has at most one of each role.
struct ContractionDims {
  llvm::SmallVector<ContractionAxis> batch;
  llvm::SmallVector<ContractionAxis> m;
  llvm::SmallVector<ContractionAxis> n;
  llvm::SmallVector<ContractionAxis> k;
  int64_t leaves = 1;    ///< parts of k whose sums are added as a balanced binary tree
  int64_t leafTerms = 0; ///< indices of k in a leaf, in the order of its loops

  static ContractionDims of(DotGeneralOp op);

  /// Product of the extents; 1 for a role without loops.
  static int64_t extentOf(llvm::ArrayRef<ContractionAxis> axes) {
    int64_t product = 1;
    for (const ContractionAxis &axis : axes)
      product *= axis.extent;
    return product;
  }
  /// Whether every role has at most one loop: a plain (batched) matrix product with strides.
  bool isMatrixProduct() const { return batch.size() <= 1 && m.size() <= 1 && n.size() <= 1 && k.size() <= 1; }
};

} // namespace dlc::dl
