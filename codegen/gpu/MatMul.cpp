// Contractions: any dims, by index maps of the tiled product.
#include "dlc/ir/MatMul.h"

#include "dlc/ir/ContractionDims.h"
#include "gpu/GpuRegistry.h"
#include "gpu/TiledProduct.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

static SmallVector<int64_t> extentsOf(ArrayRef<dl::ContractionAxis> axes) {
  SmallVector<int64_t> extents;
  for (const dl::ContractionAxis &axis : axes)
    extents.push_back(axis.extent);
  return extents;
}

// What a loop over all axes of a role adds to an offset.
static AffineExpr offsetOf(IndexSpace &space, ArrayRef<dl::ContractionAxis> axes, AffineExpr position,
                           int64_t dl::ContractionAxis::*stride) {
  AffineExpr offset = space.constant(0);
  for (auto [axis, index] : llvm::zip(axes, space.delinearize(extentsOf(axes), position)))
    offset = offset + index * (axis.*stride);
  return offset;
}

static int64_t innermostStride(ArrayRef<dl::ContractionAxis> axes, int64_t dl::ContractionAxis::*stride) {
  return axes.empty() ? std::numeric_limits<int64_t>::max() : axes.back().*stride;
}

static TiledProduct productOf(dl::DotGeneralOp op, unsigned lhs, unsigned rhs, const GpuOptions &options) {
  auto dims = dl::ContractionDims::of(op);
  auto leftStride = &dl::ContractionAxis::lhsStride, rightStride = &dl::ContractionAxis::rhsStride;
  auto resultStride = &dl::ContractionAxis::resultStride;
  // Without n, the rows are contiguous in the result: they become the columns.
  if (dims.n.empty()) {
    std::swap(dims.m, dims.n);
    std::swap(leftStride, rightStride);
    std::swap(lhs, rhs);
  }
  TiledProduct product{};
  product.element = getElementTypeOrSelf(op.getType());
  product.batch = dl::ContractionDims::extentOf(dims.batch);
  product.rows = dl::ContractionDims::extentOf(dims.m);
  product.columns = dl::ContractionDims::extentOf(dims.n);
  product.terms = dl::ContractionDims::extentOf(dims.k);
  product.resultCount = product.batch * product.rows * product.columns;
  product.core = coreTypeOf(op, options);

  auto factorOf = [&](unsigned operand, ArrayRef<dl::ContractionAxis> lines, int64_t dl::ContractionAxis::*stride) {
    IndexSpace space(op.getContext());
    AffineExpr batch = space.addDim(0, product.batch - 1);
    AffineExpr line = space.addDim(0, dl::ContractionDims::extentOf(lines) - 1);
    AffineExpr term = space.addDim(0, product.terms - 1);
    AffineExpr offset = offsetOf(space, dims.batch, batch, stride) + offsetOf(space, lines, line, stride) +
                        offsetOf(space, dims.k, term, stride);
    return ProductFactor{operand, offset, {}, innermostStride(dims.k, stride) < innermostStride(lines, stride)};
  };
  product.left = factorOf(lhs, dims.m, leftStride);
  product.right = factorOf(rhs, dims.n, rightStride);

  IndexSpace space(op.getContext());
  AffineExpr batch = space.addDim(0, product.batch - 1), row = space.addDim(0, product.rows - 1);
  AffineExpr column = space.addDim(0, product.columns - 1);
  product.result = offsetOf(space, dims.batch, batch, resultStride) + offsetOf(space, dims.m, row, resultStride) +
                   offsetOf(space, dims.n, column, resultStride);
  return product;
}

static LogicalResult emitDot(GpuKernelBuilder &kernel, dl::GroupOp group, Operation *anchor) {
  if (cast<dl::DotGeneralOp>(anchor).getLeaves() > 1) // the tiles know no tree
    return emitGpuFallback(kernel, group);
  FailureOr<unsigned> lhs = operandNumber(anchor, 0), rhs = operandNumber(anchor, 1);
  Epilogue epilogue(kernel, group, anchor);
  if (failed(lhs) || failed(rhs) || failed(epilogue.verify()))
    return failure();
  TiledProduct product = productOf(cast<dl::DotGeneralOp>(anchor), *lhs, *rhs, kernel.getOptions());
  emitTiledProduct(kernel, product, epilogue);
  return success();
}

static int64_t dotWorkspaceBytes(dl::GroupOp group, Operation *anchor, const GpuOptions &options) {
  if (cast<dl::DotGeneralOp>(anchor).getLeaves() > 1)
    return gpuFallbackWorkspaceBytes(group);
  return tiledProductWorkspaceBytes(productOf(cast<dl::DotGeneralOp>(anchor), 0, 1, options));
}

void dlc::codegen::registerMatMulGpuKernels(GpuRegistry &registry) {
  registry.add<dl::DotGeneralOp>({emitDot, dotWorkspaceBytes});
}
