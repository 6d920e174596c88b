#pragma once

#include "contraction/RegisterTile.h"
#include "dlc/ir/ContractionDims.h"
#include "kernels/CpuTraits.h"

namespace dlc::codegen {

/// Takes finished results: `index` are the loops of the result, outermost first, the last one for lane 0.
using EpilogueFn = llvm::function_ref<void(llvm::ArrayRef<mlir::Value> index, const Lane &lane, mlir::Value sum)>;

/// Terms of one fma chain of a contraction over k: equal parts of at most 384, rounded up to a multiple of 8.
int64_t contractionBlock(int64_t k);

/// How a (batched) matrix product is computed: which operand gives the rows, tile shape, packing, what threads share.
/// A pure function of shape and target; the order of every sum depends on K and its leaves alone.
struct MatrixProductPlan {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  bool swapped = false; ///< rows come from rhs, columns from lhs, where only that gives contiguous results
  dl::ContractionAxis batchAxis{}, mAxis{}, nAxis{}, kAxis{};
  int64_t lanes = 0;   ///< of one vector
  int64_t vectors = 0; ///< of one tile row
  TileSplit rows{};
  bool wideRows = false;             ///< of 16-bit floats in memory: converted to scratch, a block and tile at a time
  bool packColumns = false;          ///< copied to workspace as [batch][sliver][k][sliver width]
  bool packInScratch = false;        ///< rather one batch at a time, to the scratch of the thread that needs it
  int64_t blockExtent = 0;           ///< K block of the numerics contract
  int64_t leaves = 1, leafTerms = 0; ///< as ContractionDims

  static MatrixProductPlan of(const dl::ContractionDims &dims, int64_t elementBytes, const CpuTraits &traits);
  void pack(int64_t elementBytes, const CpuTraits &traits);

  int64_t sliverWidth() const { return lanes * vectors; }
  int64_t slivers() const { return (n + sliverWidth() - 1) / sliverWidth(); }
  int64_t workspaceBytes(int64_t elementBytes) const;
  /// Elements of the columns of one batch, packed.
  int64_t packedElements() const { return slivers() * k * sliverWidth(); }
  /// Elements of a thread's scratch, where rows are wide ones.
  int64_t wideRowElements() const;
};

/// `lhs`, `rhs`: operand numbers of the kernel. The epilogue gets the loops {batch, m, n} that exist, in this order, by
/// the roles of the dims, whatever the plan swapped.
void emitMatrixProduct(KernelBuilder &kernel, const MatrixProductPlan &plan, mlir::Type element, unsigned lhs,
                       unsigned rhs, EpilogueFn epilogue);

} // namespace dlc::codegen
