// Gradients of pooling. Windows of 2 x 2 side by side: the maximum is found again in vectors of windows and both
// columns are interleaved. Any other max_pool_grad finds all maxima first, then adds to them one by one. avg_pool_grad
// gathers: each input element adds the windows that hold it, in row-major order.
#include "kernels/Pool.h"

#include "dlc/ir/Pool.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

static bool isTwoByTwo(const dl::PoolDims &dims) {
  for (int axis : {0, 1})
    if (dims.kernel[axis] != 2 || dims.stride[axis] != 2 || dims.paddingLo[axis] || dims.out[axis] * 2 > dims.in[axis])
      return false;
  return true;
}

// Workspace: sums of all planes, then the position of each window's maximum.
static int64_t sumsBytes(const dl::PoolDims &dims, int64_t elementBytes) {
  return int64_t(llvm::alignTo(uint64_t(dims.planes * dims.in[0] * dims.in[1] * elementBytes), 64));
}

namespace {
class MaxPoolGrad : public PoolEmitter {
public:
  MaxPoolGrad(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor, const dl::PoolDims &dims)
      : PoolEmitter(kernel, group, anchor, dims),
        epilogue(kernel, group, anchor,
                 {Epilogue::Axis{dims.planes, dims.in[0] * dims.in[1]}, {dims.in[0], dims.in[1]}, {dims.in[1], 1}}) {}

  LogicalResult emit();

private:
  void emitTwoByTwo();
  void emitPair(ElementScope &lanes, AffineExpr plane, AffineExpr i, AffineExpr j, Value first, Value fresh);
  void emitZeros(ElementScope &row, Value plane, Value line, int64_t from);
  void emitPositions();
  void emitScatter();
  int64_t positionsAt() const { return sumsBytes(dims, bytesOf(element)); }
  void emitFinish();

  Epilogue epilogue;
  unsigned x = 0, dy = 0;
};

class AvgPoolGrad : public PoolEmitter {
public:
  using PoolEmitter::PoolEmitter;
  LogicalResult emit();

private:
  Value gather(ElementScope &lanes, AffineExpr plane, AffineExpr h, AffineExpr w, unsigned dy);
};
} // namespace

// The maximum's position as one mask a tap: taken, and not replaced later.
void MaxPoolGrad::emitPair(ElementScope &lanes, AffineExpr plane, AffineExpr i, AffineExpr j, Value first,
                           Value fresh) {
  dl::ScalarBuilder b = scalars(lanes);
  OpBuilder &builder = kernel.getBuilder();
  Value best, taken[4];
  for (int tap = 0; tap < 4; ++tap) {
    AffineExpr h = space.simplify(i * 2 + tap / 2), w = space.simplify(j * 2 + tap % 2);
    Value element = load(lanes, x, dims.in, plane, h, w, {});
    taken[tap] = best ? isBetter(b, element, best) : b.boolean(true);
    best = best ? b.select(taken[tap], element, best) : element;
  }
  Value gradient = load(lanes, dy, dims.out, plane, i, j, {}), zero = b.constant(0.0, element), later, routed[4];
  for (int tap = 3; tap >= 0; --tap) {
    Value chosen = later ? b.bitAnd(taken[tap], b.bitXor(later, b.boolean(true))) : taken[tap];
    routed[tap] = b.select(chosen, gradient, zero);
    later = later ? b.bitOr(later, taken[tap]) : taken[tap];
  }
  int64_t width = lanes.getLane().width, pair = std::max<int64_t>(width, 1) * 2;
  SmallVector<int64_t> picks;
  for (int64_t lane = 0; lane < pair; ++lane)
    picks.push_back(lane / 2 + lane % 2 * (pair / 2));
  auto interleave = [&](Value left, Value right) -> Value {
    if (!width)
      return vector::FromElementsOp::create(builder, kernel.getLoc(), VectorType::get({2}, element),
                                            ValueRange{left, right});
    return vector::ShuffleOp::create(builder, kernel.getLoc(), left, right, picks);
  };
  Value mask = fresh ? vector::ShuffleOp::create(builder, kernel.getLoc(), fresh, fresh, picks).getResult() : Value();
  Value column = arith::MulIOp::create(builder, kernel.getLoc(), first, lanes.i64(2));
  for (size_t line : {0, 1})
    epilogue.store({lanes.index(plane), lanes.index(space.simplify(i * 2 + int64_t(line))), column}, Lane{pair, mask},
                   interleave(routed[2 * line], routed[2 * line + 1]));
}

// Elements that no window holds, from column `from` of a line on.
void MaxPoolGrad::emitZeros(ElementScope &row, Value plane, Value line, int64_t from) {
  emitLoop(row, row.i64(from), row.i64(dims.in[1]), {}, [&](Value column, ValueRange) -> SmallVector<Value> {
    dl::ScalarBuilder b(kernel.getBuilder(), kernel.getLoc(), 0);
    epilogue.store({plane, line, column}, Lane{}, b.constant(0.0, element));
    return {};
  });
}

void MaxPoolGrad::emitTwoByTwo() {
  int64_t lines = (dims.in[0] + 1) / 2; // pairs of lines, the last one maybe half or without windows
  forLines(lines, double(dims.in[1]), [&](ElementScope &row, AffineExpr plane, AffineExpr line) {
    OpBuilder &b = kernel.getBuilder();
    Value planeValue = row.index(plane), lineValue = row.index(line), covered, uncovered;
    if (dims.out[0] < lines) {
      covered = arith::CmpIOp::create(b, kernel.getLoc(), arith::CmpIPredicate::slt, lineValue, row.i64(dims.out[0]));
      uncovered = arith::CmpIOp::create(b, kernel.getLoc(), arith::CmpIPredicate::sge, lineValue, row.i64(dims.out[0]));
    }
    emitIf(row, covered, {}, [&]() -> SmallVector<Value> {
      ElementScope pair(row);
      AffineExpr i = pair.bind(lineValue, 0, std::max<int64_t>(dims.out[0], 1) - 1);
      forColumns(pair, dims.out[1], [&](ElementScope &lanes, AffineExpr j, Value first, Value fresh) {
        emitPair(lanes, plane, i, j, first, fresh);
      });
      for (int part : {0, 1})
        emitZeros(pair, planeValue, pair.index(space.simplify(i * 2 + part)), dims.out[1] * 2);
      return {};
    });
    if (uncovered)
      emitIf(row, uncovered, {}, [&]() -> SmallVector<Value> {
        Value start = arith::MulIOp::create(b, kernel.getLoc(), lineValue, row.i64(2));
        Value end = arith::MinSIOp::create(
            b, kernel.getLoc(), arith::AddIOp::create(b, kernel.getLoc(), start, row.i64(2)), row.i64(dims.in[0]));
        ElementScope inside(row);
        emitLoop(inside, start, end, {}, [&](Value h, ValueRange) -> SmallVector<Value> {
          ElementScope one(inside);
          emitZeros(one, planeValue, h, 0);
          return {};
        });
        return {};
      });
  });
}

// Position of each window's first maximum in its plane, in vectors of windows.
void MaxPoolGrad::emitPositions() {
  Type i32 = kernel.getBuilder().getI32Type();
  int64_t taps = dims.kernel[0] * dims.kernel[1], size = dims.out[0] * dims.out[1];
  forLines(dims.out[0], double(taps * dims.out[1]), [&](ElementScope &row, AffineExpr plane, AffineExpr i) {
    forColumns(row, dims.out[1], [&](ElementScope &lanes, AffineExpr j, Value, Value) {
      Value position = maximumPosition(lanes, x, plane, i, j);
      lanes.store(kernel.workspace(positionsAt(), i32), space.simplify(plane * size + i * dims.out[1] + j), position);
    });
  });
}

// sums[position of the window] += dy, windows in row-major order.
void MaxPoolGrad::emitScatter() {
  int64_t size = dims.in[0] * dims.in[1], windows = dims.out[0] * dims.out[1];
  Type i64 = kernel.getBuilder().getI64Type(), i32 = kernel.getBuilder().getI32Type();
  kernel.parallelRange(dims.planes, 1, 0.2 * double(size) + 2.0 * double(windows), [&](Value lo, Value hi) {
    ElementScope root(kernel, space);
    emitLoop(root, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
      ElementScope scope(root);
      AffineExpr plane = scope.bind(iv, 0, dims.planes - 1);
      Memory sums = kernel.workspace(0, element), positions = kernel.workspace(positionsAt(), i32);
      emitSpan(scope, size, kernel.lanesOf(element), [&](ElementScope &lanes, AffineExpr position) {
        lanes.store(sums, space.simplify(plane * size + position), scalars(lanes).constant(0.0, element));
      });
      emitLoop(scope, scope.i64(0), scope.i64(windows), {}, [&](Value window, ValueRange) -> SmallVector<Value> {
        ElementScope one(scope);
        dl::ScalarBuilder b = scalars(one);
        AffineExpr offset = space.simplify(plane * windows + one.bind(window, 0, windows - 1));
        Value position = b.cast(one.load(positions, dims.planes * windows, offset), i64);
        Value at = b.add(one.index(space.simplify(plane * size)), position);
        Value gradient = one.load(kernel.operand(dy, element), dims.planes * windows, offset);
        kernel.store(sums, at, Lane{}, b.add(kernel.load(sums, at, 0, Lane{}), gradient));
        return {};
      });
      return {};
    });
  });
}

void MaxPoolGrad::emitFinish() {
  forLines(dims.in[0], double(dims.in[1]), [&](ElementScope &row, AffineExpr plane, AffineExpr h) {
    Value planeValue = row.index(plane), line = row.index(h);
    forColumns(row, dims.in[1], [&](ElementScope &lanes, AffineExpr w, Value first, Value fresh) {
      AffineExpr offset = space.simplify(plane * (dims.in[0] * dims.in[1]) + h * dims.in[1] + w);
      Value sum = lanes.load(kernel.workspace(0, element), dims.planes * dims.in[0] * dims.in[1], offset);
      epilogue.store({planeValue, line, first}, Lane{lanes.getLane().width, fresh}, sum);
    });
  });
}

LogicalResult MaxPoolGrad::emit() {
  FailureOr<unsigned> xNumber = operandNumber(anchor, 0), dyNumber = operandNumber(anchor, 1);
  if (failed(xNumber) || failed(dyNumber) || failed(epilogue.verify()))
    return failure();
  x = *xNumber;
  dy = *dyNumber;
  if (isTwoByTwo(dims)) {
    emitTwoByTwo();
    return success();
  }
  if (!dims.planes)
    return success();
  emitPositions();
  emitScatter();
  emitFinish();
  return success();
}

LogicalResult codegen::emitMaxPoolGrad(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor, const CpuTraits &) {
  return MaxPoolGrad(kernel, group, anchor, cast<dl::MaxPoolGradOp>(anchor).getDims()).emit();
}

int64_t codegen::maxPoolGradWorkspaceBytes(Operation *anchor, const CpuTraits &) {
  dl::PoolDims dims = cast<dl::MaxPoolGradOp>(anchor).getDims();
  int64_t bytes = bytesOf(getElementTypeOrSelf(anchor->getResult(0).getType()));
  return isTwoByTwo(dims) ? 0 : sumsBytes(dims, bytes) + dims.planes * dims.out[0] * dims.out[1] * 4;
}

Value AvgPoolGrad::gather(ElementScope &lanes, AffineExpr plane, AffineExpr h, AffineExpr w, unsigned dy) {
  dl::ScalarBuilder b = scalars(lanes);
  Value sum;
  for (int64_t a = windowsAlong(0) - 1; a >= 0; --a)
    for (int64_t c = windowsAlong(1) - 1; c >= 0; --c) {
      Covering window = covering(lanes, h, w, space.constant(a), space.constant(c));
      Value gradient = load(lanes, dy, dims.out, plane, window.i, window.j, window.live);
      Value part = b.div(gradient, divisor(lanes, window.i, window.j));
      if (!window.live) {
        sum = sum ? b.add(sum, part) : part;
        continue;
      }
      if (!sum)
        sum = b.constant(0.0, element);
      sum = b.select(window.live, b.add(sum, part), sum);
    }
  return sum;
}

LogicalResult AvgPoolGrad::emit() {
  Epilogue epilogue(kernel, group, anchor,
                    {Epilogue::Axis{dims.planes, dims.in[0] * dims.in[1]}, {dims.in[0], dims.in[1]}, {dims.in[1], 1}});
  FailureOr<unsigned> dy = operandNumber(anchor, 0);
  if (failed(dy) || failed(epilogue.verify()))
    return failure();
  forLines(dims.in[0], 2.0 * double(dims.in[1]), [&](ElementScope &row, AffineExpr plane, AffineExpr h) {
    Value planeValue = row.index(plane), line = row.index(h);
    forColumns(row, dims.in[1], [&](ElementScope &lanes, AffineExpr w, Value first, Value fresh) {
      epilogue.store({planeValue, line, first}, Lane{lanes.getLane().width, fresh}, gather(lanes, plane, h, w, *dy));
    });
  });
  return success();
}

LogicalResult codegen::emitAvgPoolGrad(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor, const CpuTraits &) {
  return AvgPoolGrad(kernel, group, anchor, cast<dl::AvgPoolGradOp>(anchor).getDims()).emit();
}
