// Scatter: the rows of the result are shared out. Each range copies its rows of x, then walks all indices in order and
// takes the updates of its own rows; so an element receives its updates in one order whatever the ranges are.
#include "dlc/ir/Index.h"

#include "dlc/ir/ScalarBuilder.h"
#include "dlc/ir/Widen.h"
#include "kernels/GroupAnalysis.h"
#include "kernels/KernelRegistry.h"
#include "kernels/Loops.h"
#include "kernels/ScatterBytes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

int64_t codegen::scatterBytes(dl::GroupOp group, dl::ScatterOp op) {
  bool isNarrow = dl::hasNarrowFloats(group.getResult(0).getType()) && op.getKind() == dl::ScatterKind::Add;
  return isNarrow ? op.getType().getNumElements() * bytesOf(op.getType().getElementType()) : 0;
}

namespace {
class ScatterEmitter {
public:
  ScatterEmitter(KernelBuilder &kernel, dl::GroupOp group, dl::ScatterOp op)
      : kernel(kernel), group(group), op(op), dims(op.getDims()), space(group.getContext()),
        element(op.getType().getElementType()), width(kernel.lanesOf(element)), isNarrow(scatterBytes(group, op) > 0) {}

  void emit();

private:
  int64_t groups() const { return dims.batches * dims.outer; }
  void emitCopy(ElementScope &scope, Value lo, Value hi);
  void emitUpdates(ElementScope &scope, Value lo, Value hi);
  void emitUpdate(ElementScope &scope, AffineExpr group, AffineExpr position, Value lo, Value hi);

  template <typename OpTy>
  Value arith(Value a, Value b) {
    return kernel.getBuilder().createOrFold<OpTy>(kernel.getLoc(), a, b);
  }
  /// Element of an operand of the op, by its row-major offset.
  Value load(ElementScope &scope, Value operand, AffineExpr offset) {
    return scope.element(operand, space.delinearize(shapeOf(operand), offset));
  }
  /// Where sums grow: of 16-bit floats in the workspace, to be rounded once.
  Memory result() { return isNarrow ? kernel.workspace(0, element) : resultMemory(kernel, group, 0); }
  void emitRounded(ElementScope &scope, Value lo, Value hi);

  KernelBuilder &kernel;
  dl::GroupOp group;
  dl::ScatterOp op;
  dl::GatherDims dims;
  IndexSpace space;
  Type element;
  int64_t width;
  bool isNarrow;
};
} // namespace

void ScatterEmitter::emitRounded(ElementScope &scope, Value lo, Value hi) {
  emitLoop(scope, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
    ElementScope row(scope);
    AffineExpr number = row.bind(iv, 0, groups() * dims.extent - 1);
    emitSpan(row, dims.inner, width, [&](ElementScope &lanes, AffineExpr column) {
      AffineExpr offset = space.simplify(number * dims.inner + column);
      Value sum = lanes.load(result(), op.getType().getNumElements(), offset);
      lanes.store(resultMemory(kernel, group, 0), offset, sum);
    });
    return {};
  });
}

void ScatterEmitter::emitCopy(ElementScope &scope, Value lo, Value hi) {
  int64_t rows = groups() * dims.extent;
  emitLoop(scope, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
    ElementScope row(scope);
    AffineExpr number = row.bind(iv, 0, rows - 1);
    emitSpan(row, dims.inner, width, [&](ElementScope &lanes, AffineExpr column) {
      AffineExpr offset = space.simplify(number * dims.inner + column);
      lanes.store(result(), offset, load(lanes, op.getX(), offset));
    });
    return {};
  });
}

/// `lo`, `hi`: the range's rows of this group.
void ScatterEmitter::emitUpdate(ElementScope &scope, AffineExpr number, AffineExpr position, Value lo, Value hi) {
  AffineExpr batch = space.simplify(number.floorDiv(dims.outer));
  OpBuilder &b = kernel.getBuilder();
  dl::ScalarBuilder scalar(b, kernel.getLoc(), 0);
  Value row = load(scope, op.getIndices(), space.simplify(batch * dims.positions + position));
  row = scalar.cast(row, b.getI64Type());
  Value own = scalar.bitAnd(scalar.ge(row, lo), scalar.lt(row, hi));
  emitIf(scope, own, {}, [&]() -> SmallVector<Value> {
    ElementScope inside(scope);
    AffineExpr to = number * dims.extent + inside.bind(row, 0, dims.extent - 1);
    AffineExpr from = number * dims.positions + position;
    emitSpan(inside, dims.inner, width, [&](ElementScope &lanes, AffineExpr column) {
      AffineExpr offset = space.simplify(to * dims.inner + column);
      Value update = load(lanes, op.getUpdates(), space.simplify(from * dims.inner + column));
      if (op.getKind() == dl::ScatterKind::Add) {
        dl::ScalarBuilder body(b, kernel.getLoc(), lanes.getLane().width);
        update = body.add(lanes.load(result(), op.getType().getNumElements(), offset), update);
      }
      lanes.store(result(), offset, update);
    });
    return {};
  });
}

void ScatterEmitter::emitUpdates(ElementScope &scope, Value lo, Value hi) {
  Value extent = scope.i64(dims.extent);
  Value first = arith<arith::DivUIOp>(lo, extent);
  Value behind = arith<arith::DivUIOp>(arith<arith::AddIOp>(hi, scope.i64(dims.extent - 1)), extent);
  emitLoop(scope, first, behind, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
    ElementScope one(scope);
    AffineExpr number = one.bind(iv, 0, groups() - 1);
    Value start = arith<arith::MulIOp>(iv, extent);
    Value own = arith<arith::MaxSIOp>(arith<arith::SubIOp>(lo, start), one.i64(0));
    Value end = arith<arith::MinSIOp>(arith<arith::SubIOp>(hi, start), extent);
    emitLoop(one, one.i64(0), one.i64(dims.positions), {}, [&](Value at, ValueRange) -> SmallVector<Value> {
      ElementScope step(one);
      emitUpdate(step, number, step.bind(at, 0, dims.positions - 1), own, end);
      return {};
    });
    return {};
  });
}

void ScatterEmitter::emit() {
  int64_t rows = groups() * dims.extent;
  if (!rows || !dims.inner)
    return;
  double ofElement = 0.1 * double(bytesOf(element)), walk = 0.5 * double(dims.positions);
  double perRow = double(dims.inner) * ofElement * (2 + 3 * double(dims.positions) / double(dims.extent));
  // So many rows a range that its walk over the indices is a small part of its time.
  int64_t most = (dims.extent + 3) / 4;
  int64_t multiple = std::clamp<int64_t>(int64_t(std::ceil(8 * walk / perRow)), 1, most);
  kernel.parallelRange(rows, multiple, perRow + walk / double(multiple), [&](Value lo, Value hi) {
    ElementScope scope(kernel, space);
    emitCopy(scope, lo, hi);
    emitUpdates(scope, lo, hi);
    if (isNarrow)
      emitRounded(scope, lo, hi);
  });
}

static LogicalResult emitScatter(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor, const CpuTraits &) {
  ScatterEmitter(kernel, group, cast<dl::ScatterOp>(anchor)).emit();
  return success();
}

static int64_t scatterWorkspaceBytes(Operation *anchor, const CpuTraits &) {
  return scatterBytes(anchor->getParentOfType<dl::GroupOp>(), cast<dl::ScatterOp>(anchor));
}

void dlc::codegen::registerIndexKernels(KernelRegistry &registry) {
  registry.add<dl::ScatterOp>({emitScatter, scatterWorkspaceBytes});
}
