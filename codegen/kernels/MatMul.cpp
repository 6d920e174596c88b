// Contractions: matrix products by the emitter of contraction/; those whose dims do not merge into one loop a role by
// plain loops. Either way an element is one fma chain from 0 within each block of K, and blocks are added in order.
#include "dlc/ir/MatMul.h"

#include "contraction/MatrixProduct.h"
#include "kernels/Epilogue.h"
#include "kernels/KernelRegistry.h"
#include "kernels/Loops.h"
#include "kernels/WideOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

static Type elementType(Operation *anchor) { return getElementTypeOrSelf(anchor->getResult(0).getType()); }

namespace {
/// Any dot_general: a vector runs over consecutive elements of the result, whatever loops they belong to.
class LoopEmitter {
public:
  LoopEmitter(KernelBuilder &kernel, dl::GroupOp group, dl::DotGeneralOp op, const dl::ContractionDims &dims)
      : kernel(kernel), group(group), op(op), dims(dims), space(op.getContext()), element(elementType(op)),
        count(product(shapeOf(op.getY()))), k(dl::ContractionDims::extentOf(dims.k)) {
    for (const auto &role : {dims.batch, dims.m, dims.n})
      llvm::append_range(loops, role);
  }

  void emit(unsigned lhs, unsigned rhs);

private:
  Value sum(ElementScope &lanes, AffineExpr position, unsigned lhs, unsigned rhs);
  Value tree(ElementScope &lanes, ArrayRef<AffineExpr> index, int64_t leaf, int64_t leaves, unsigned lhs, unsigned rhs);
  Value blocks(ElementScope &lanes, ArrayRef<AffineExpr> index, int64_t first, int64_t last, unsigned lhs,
               unsigned rhs);
  Value chain(ElementScope &lanes, ArrayRef<AffineExpr> index, Value lo, Value hi, unsigned lhs, unsigned rhs);
  AffineExpr offsetOf(ArrayRef<AffineExpr> index, ArrayRef<AffineExpr> kIndex, int64_t dl::ContractionAxis::*stride);

  KernelBuilder &kernel;
  dl::GroupOp group;
  dl::DotGeneralOp op;
  const dl::ContractionDims &dims;
  IndexSpace space;
  Type element;
  int64_t count, k;
  SmallVector<dl::ContractionAxis> loops;
};
} // namespace

static SmallVector<int64_t> extentsOf(ArrayRef<dl::ContractionAxis> axes) {
  SmallVector<int64_t> extents;
  for (const dl::ContractionAxis &axis : axes)
    extents.push_back(axis.extent);
  return extents;
}

AffineExpr LoopEmitter::offsetOf(ArrayRef<AffineExpr> index, ArrayRef<AffineExpr> kIndex,
                                 int64_t dl::ContractionAxis::*stride) {
  AffineExpr offset = space.constant(0);
  for (auto [axis, expr] : llvm::zip(loops, index))
    offset = offset + expr * (axis.*stride);
  for (auto [axis, expr] : llvm::zip(dims.k, kIndex))
    offset = offset + expr * (axis.*stride);
  return space.simplify(offset);
}

// Terms [lo, hi) of the sum, from 0.
Value LoopEmitter::chain(ElementScope &lanes, ArrayRef<AffineExpr> index, Value lo, Value hi, unsigned lhs,
                         unsigned rhs) {
  dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), lanes.getLane().width);
  return emitLoop(lanes, lo, hi, scalar.constant(0.0, element), [&](Value iv, ValueRange carried) {
    ElementScope step(lanes, ElementScope::SameLanes());
    SmallVector<AffineExpr> kIndex = space.delinearize(extentsOf(dims.k), step.bind(iv, 0, k - 1));
    auto factor = [&](Value operand, unsigned number, int64_t dl::ContractionAxis::*stride) {
      return step.load(kernel.operand(number, element), product(shapeOf(operand)), offsetOf(index, kIndex, stride));
    };
    Value a = factor(op.getA(), lhs, &dl::ContractionAxis::lhsStride);
    Value b = factor(op.getB(), rhs, &dl::ContractionAxis::rhsStride);
    return SmallVector<Value>{scalar.fma(a, b, carried[0])};
  })[0];
}

Value LoopEmitter::sum(ElementScope &lanes, AffineExpr position, unsigned lhs, unsigned rhs) {
  dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), lanes.getLane().width);
  SmallVector<AffineExpr> index = space.delinearize(extentsOf(loops), position);
  if (!k)
    return scalar.constant(0.0, element);
  return tree(lanes, index, 0, dims.leaves, lhs, rhs);
}

// The balanced tree over leaves; null where none of them has terms.
Value LoopEmitter::tree(ElementScope &lanes, ArrayRef<AffineExpr> index, int64_t leaf, int64_t leaves, unsigned lhs,
                        unsigned rhs) {
  int64_t first = leaf * dims.leafTerms;
  if (first >= k)
    return {};
  if (leaves == 1)
    return blocks(lanes, index, first, std::min(first + dims.leafTerms, k), lhs, rhs);
  dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), lanes.getLane().width);
  Value lower = tree(lanes, index, leaf, leaves / 2, lhs, rhs);
  Value upper = tree(lanes, index, leaf + leaves / 2, leaves / 2, lhs, rhs);
  return upper ? scalar.add(lower, upper) : lower;
}

// Terms [first, last) of the sum, blocks added in order.
Value LoopEmitter::blocks(ElementScope &lanes, ArrayRef<AffineExpr> index, int64_t first, int64_t last, unsigned lhs,
                          unsigned rhs) {
  int64_t block = contractionBlock(dims.leafTerms), count = (last - first + block - 1) / block;
  if (count == 1)
    return chain(lanes, index, lanes.i64(first), lanes.i64(last), lhs, rhs);
  dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), lanes.getLane().width);
  // -0 leaves the first block's bits as they are.
  return emitLoop(lanes, lanes.i64(0), lanes.i64(count), scalar.constant(-0.0, element),
                  [&](Value iv, ValueRange carried) {
                    OpBuilder &b = kernel.getBuilder();
                    Location loc = kernel.getLoc();
                    Value offset = arith::MulIOp::create(b, loc, iv, lanes.i64(block));
                    Value lo = arith::AddIOp::create(b, loc, lanes.i64(first), offset);
                    Value end = arith::AddIOp::create(b, loc, lo, lanes.i64(block));
                    Value hi = arith::MinSIOp::create(b, loc, end, lanes.i64(last));
                    return SmallVector<Value>{scalar.add(carried[0], chain(lanes, index, lo, hi, lhs, rhs))};
                  })[0];
}

void LoopEmitter::emit(unsigned lhs, unsigned rhs) {
  if (!count)
    return;
  int64_t width = std::min(kernel.lanesOf(element), count), vectors = (count + width - 1) / width;
  kernel.parallelRange(vectors, 1, double(k * width), [&](Value lo, Value hi) {
    ElementScope root(kernel, space);
    emitLoop(root, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
      ElementScope scope(root);
      // The last vector starts early enough to be whole; lanes another vector has done already are not stored again,
      // since the epilogue may read what it overwrites.
      OpBuilder &b = kernel.getBuilder();
      Location loc = kernel.getLoc();
      Value start = arith::MulIOp::create(b, loc, iv, scope.i64(width));
      Value first = arith::MinSIOp::create(b, loc, start, scope.i64(count - width));
      ElementScope lanes(scope, Lane{width});
      Value result = sum(lanes, lanes.bindLanes(first, count), lhs, rhs);
      Value done = arith::SubIOp::create(b, loc, start, first);
      dl::ScalarBuilder scalar(b, loc, width);
      Value splat = vector::BroadcastOp::create(b, loc, scalar.shaped(b.getI64Type()), done);
      Value fresh = scalar.ge(lanes.indexVector(lanes.getLaneDim()), splat);
      Epilogue(kernel, group, op, Epilogue::Axis{count, 1}).store(first, Lane{width, fresh}, result);
      return {};
    });
  });
}

/// Of 16-bit operands, rows are converted a tile at a time, columns vector by vector as they are read.
static MatrixProductPlan planOf(Operation *anchor, const dl::ContractionDims &dims, const CpuTraits &traits) {
  int64_t bytes = bytesOf(elementType(anchor));
  auto plan = MatrixProductPlan::of(dims, bytes, traits);
  unsigned rows = plan.swapped ? 1 : 0;
  plan.wideRows = isReadNarrow(anchor, rows) && plan.wideRowElements() * bytes <= traits.scratchBytes;
  // Without 64-byte vectors, masked lanes of 16 bits are loaded one by one.
  if (isReadNarrow(anchor, 1 - rows) && plan.n % plan.lanes && traits.vectorBytes < 64)
    plan.pack(bytes, traits);
  return plan;
}

static LogicalResult emitDot(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor, const CpuTraits &traits) {
  auto op = cast<dl::DotGeneralOp>(anchor);
  FailureOr<unsigned> lhs = operandNumber(anchor, 0), rhs = operandNumber(anchor, 1);
  auto dims = dl::ContractionDims::of(op);
  SmallVector<Epilogue::Axis> axes;
  for (const auto &role : {dims.batch, dims.m, dims.n})
    for (const dl::ContractionAxis &axis : role)
      axes.push_back({axis.extent, axis.resultStride});
  Epilogue epilogue(kernel, group, anchor, axes);
  if (failed(lhs) || failed(rhs) || failed(epilogue.verify()))
    return failure();
  if (!dims.isMatrixProduct()) {
    LoopEmitter(kernel, group, op, dims).emit(*lhs, *rhs);
    return success();
  }
  emitMatrixProduct(kernel, planOf(anchor, dims, traits), elementType(anchor), *lhs, *rhs,
                    [&](ArrayRef<Value> index, const Lane &lane, Value sum) { epilogue.store(index, lane, sum); });
  return success();
}

static int64_t dotWorkspaceBytes(Operation *anchor, const CpuTraits &traits) {
  auto dims = dl::ContractionDims::of(cast<dl::DotGeneralOp>(anchor));
  if (!dims.isMatrixProduct())
    return 0;
  return planOf(anchor, dims, traits).workspaceBytes(bytesOf(elementType(anchor)));
}

void dlc::codegen::registerMatMulKernels(KernelRegistry &registry) {
  registry.add<dl::DotGeneralOp>({emitDot, dotWorkspaceBytes});
}
