// Pooling forward: vectors of windows side by side; the elements of a window are taken in row-major order.
#include "kernels/Pool.h"

#include "dlc/ir/Pool.h"
#include "kernels/KernelRegistry.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

PoolEmitter::PoolEmitter(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor, const dl::PoolDims &dims)
    : kernel(kernel), group(group), anchor(anchor), dims(dims), space(group.getContext()),
      element(getElementTypeOrSelf(anchor->getResult(0).getType())) {}

void PoolEmitter::forLines(int64_t lines, double nanoseconds, RowBody body) {
  int64_t count = dims.planes * lines;
  if (!count)
    return;
  kernel.parallelRange(count, 1, nanoseconds, [&](Value lo, Value hi) {
    ElementScope root(kernel, space);
    emitLoop(root, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
      ElementScope row(root);
      AffineExpr iteration = row.bind(iv, 0, count - 1);
      body(row, space.simplify(iteration.floorDiv(lines)), space.simplify(iteration % lines));
      return {};
    });
  });
}

void PoolEmitter::forColumns(ElementScope &row, int64_t columns, ColumnBody body) {
  if (columns <= 1) {
    if (columns)
      body(row, space.constant(0), row.i64(0), {});
    return;
  }
  int64_t width = std::min(kernel.lanesOf(element), int64_t(llvm::bit_floor(uint64_t(columns))));
  int64_t whole = columns / width;
  emitLoop(row, row.i64(0), row.i64(whole), {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
    ElementScope step(row);
    std::optional<int64_t> fixed = constantOf(iv);
    AffineExpr q = fixed ? space.constant(*fixed) : step.bind(iv, 0, whole - 1);
    ElementScope lanes(step, Lane{width});
    body(lanes, space.simplify(q * width + lanes.getLaneDim()), step.index(space.simplify(q * width)), {});
    return {};
  });
  int64_t rest = columns % width;
  if (!rest)
    return;
  ElementScope step(row);
  ElementScope lanes(step, Lane{width});
  SmallVector<bool> bits(width, false);
  std::fill_n(bits.rbegin(), rest, true);
  auto type = VectorType::get({width}, kernel.getBuilder().getI1Type());
  Value fresh =
      arith::ConstantOp::create(kernel.getBuilder(), kernel.getLoc(),
                                cast<TypedAttr>(Attribute(DenseElementsAttr::get(type, ArrayRef<bool>(bits)))));
  body(lanes, space.simplify(lanes.getLaneDim() + (columns - width)), row.i64(columns - width), fresh);
}

SmallVector<Value> PoolEmitter::foldWindow(ElementScope &lanes, AffineExpr i, AffineExpr j, ArrayRef<Value> start,
                                           Tap tap) {
  auto at = [&](int axis, AffineExpr window, AffineExpr offset) {
    return space.simplify(window * dims.stride[axis] - dims.paddingLo[axis] + offset);
  };
  constexpr int64_t written = 16; // taps beyond that loop
  if (dims.kernel[0] * dims.kernel[1] <= written) {
    SmallVector<Value> values;
    for (int64_t p = 0; p < dims.kernel[0]; ++p)
      for (int64_t q = 0; q < dims.kernel[1]; ++q)
        values = tap(lanes, values, at(0, i, space.constant(p)), at(1, j, space.constant(q)));
    return values;
  }
  return emitLoop(lanes, lanes.i64(0), lanes.i64(dims.kernel[0]), start, [&](Value iv, ValueRange outer) {
    ElementScope line(lanes, ElementScope::SameLanes());
    AffineExpr h = at(0, i, line.bind(iv, 0, dims.kernel[0] - 1));
    return emitLoop(line, line.i64(0), line.i64(dims.kernel[1]), outer, [&](Value iv, ValueRange inner) {
      ElementScope one(line, ElementScope::SameLanes());
      return tap(one, SmallVector<Value>(inner), h, at(1, j, one.bind(iv, 0, dims.kernel[1] - 1)));
    });
  });
}

Value PoolEmitter::inside(ElementScope &scope, ArrayRef<AffineExpr> exprs, const int64_t (&extents)[2]) {
  dl::ScalarBuilder b = scalars(scope);
  Type i64 = kernel.getBuilder().getI64Type();
  Value all;
  auto require = [&](Value condition) { all = all ? b.bitAnd(all, condition) : condition; };
  for (auto [expr, extent] : llvm::zip(exprs, extents)) {
    auto [low, high] = space.range(expr);
    if (low < 0)
      require(b.ge(scope.indexVector(expr), b.constant(int64_t(0), i64)));
    if (high >= extent)
      require(b.lt(scope.indexVector(expr), b.constant(extent, i64)));
  }
  return all;
}

Value PoolEmitter::divisorFactor(ElementScope &scope, int axis, AffineExpr window) {
  dl::ScalarBuilder b = scalars(scope);
  Type i64 = kernel.getBuilder().getI64Type();
  AffineExpr start = space.simplify(window * dims.stride[axis] - dims.paddingLo[axis]);
  int64_t limit = dims.in[axis] + (dims.countIncludePad ? dims.paddingHi[axis] : 0), size = dims.kernel[axis];
  auto [low, high] = space.range(start);
  if ((low >= 0 || dims.countIncludePad) && high + size <= limit)
    return b.constant(size, i64);
  Value begin = scope.indexVector(start), end = b.add(begin, b.constant(size, i64));
  Value most = b.constant(limit, i64), zero = b.constant(int64_t(0), i64);
  end = b.select(b.lt(end, most), end, most);
  if (!dims.countIncludePad)
    begin = b.select(b.lt(begin, zero), zero, begin);
  return b.sub(end, begin);
}

Value PoolEmitter::divisor(ElementScope &scope, AffineExpr i, AffineExpr j) {
  dl::ScalarBuilder b = scalars(scope);
  return b.cast(b.mul(divisorFactor(scope, 0, i), divisorFactor(scope, 1, j)), element);
}

Value PoolEmitter::load(ElementScope &scope, unsigned operand, const int64_t (&plane)[2], AffineExpr number,
                        AffineExpr i, AffineExpr j, Value guard) {
  int64_t size = plane[0] * plane[1];
  AffineExpr offset = space.simplify(number * size + i * plane[1] + j);
  return scope.load(kernel.operand(operand, element), dims.planes * size, offset, guard);
}

Value PoolEmitter::isBetter(dl::ScalarBuilder &b, Value x, Value best) {
  Value known = b.bitXor(b.isNan(best), b.boolean(true));
  return b.bitOr(b.gt(x, best), b.bitAnd(b.isNan(x), known));
}

Value PoolEmitter::window(ElementScope &lanes, unsigned input, bool average, AffineExpr plane, AffineExpr i,
                          AffineExpr j) {
  Value start = scalars(lanes).constant(average ? -0.0 : -std::numeric_limits<double>::infinity(), element);
  return foldWindow(
      lanes, i, j, start,
      [&](ElementScope &scope, ArrayRef<Value> carried, AffineExpr h, AffineExpr w) -> SmallVector<Value> {
        dl::ScalarBuilder b = scalars(scope);
        Value live = inside(scope, {h, w}, dims.in);
        Value x = load(scope, input, dims.in, plane, h, w, live);
        if (carried.empty() && !live)
          return {x};
        Value before = carried.empty() ? start : carried[0];
        if (average)
          return {live ? b.select(live, b.add(before, x), before) : b.add(before, x)};
        Value better = isBetter(b, x, before);
        return {b.select(live ? b.bitAnd(live, better) : better, x, before)};
      })[0];
}

Value PoolEmitter::maximumPosition(ElementScope &lanes, unsigned input, AffineExpr plane, AffineExpr i, AffineExpr j) {
  Type i32 = kernel.getBuilder().getI32Type(), i64 = kernel.getBuilder().getI64Type();
  dl::ScalarBuilder b = scalars(lanes);
  auto begin = [&](int axis, AffineExpr window) {
    Value start = lanes.indexVector(space.simplify(window * dims.stride[axis] - dims.paddingLo[axis]));
    Value zero = b.constant(int64_t(0), i64);
    return b.select(b.lt(start, zero), zero, start);
  };
  Value first = b.add(b.mul(begin(0, i), b.constant(dims.in[1], i64)), begin(1, j));
  Value start[] = {b.constant(-std::numeric_limits<double>::infinity(), element), b.cast(first, i32)};
  auto tap = [&](ElementScope &scope, ArrayRef<Value> carried, AffineExpr h, AffineExpr w) -> SmallVector<Value> {
    if (carried.empty())
      carried = start;
    Value live = inside(scope, {h, w}, dims.in);
    Value candidate = load(scope, input, dims.in, plane, h, w, live);
    Value better = isBetter(b, candidate, carried[0]);
    better = live ? b.bitAnd(live, better) : better;
    Value at = b.cast(scope.indexVector(space.simplify(h * dims.in[1] + w)), i32);
    return {b.select(better, candidate, carried[0]), b.select(better, at, carried[1])};
  };
  return foldWindow(lanes, i, j, start, tap)[1];
}

int64_t PoolEmitter::windowsAlong(int axis) const { return llvm::divideCeil(dims.kernel[axis], dims.stride[axis]); }

PoolEmitter::Covering PoolEmitter::covering(ElementScope &scope, AffineExpr h, AffineExpr w, AffineExpr backI,
                                            AffineExpr backJ) {
  AffineExpr position[2] = {h, w}, back[2] = {backI, backJ}, window[2], behind[2];
  for (int axis : {0, 1}) {
    AffineExpr at = position[axis] + dims.paddingLo[axis];
    window[axis] = space.simplify(at.floorDiv(dims.stride[axis]) - back[axis]);
    behind[axis] = space.simplify(at % dims.stride[axis] + back[axis] * dims.stride[axis]);
  }
  Value exists = inside(scope, window, dims.out), reaches = inside(scope, behind, dims.kernel);
  Value live = exists && reaches ? scalars(scope).bitAnd(exists, reaches) : exists ? exists : reaches;
  return {window[0], window[1], live};
}

namespace {
class ForwardPool : public PoolEmitter {
public:
  ForwardPool(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor, const dl::PoolDims &dims, bool average)
      : PoolEmitter(kernel, group, anchor, dims), average(average) {}
  LogicalResult emit();

private:
  bool average;
};
} // namespace

LogicalResult ForwardPool::emit() {
  int64_t plane = dims.out[0] * dims.out[1];
  Epilogue epilogue(kernel, group, anchor,
                    {Epilogue::Axis{dims.planes, plane}, {dims.out[0], dims.out[1]}, {dims.out[1], 1}});
  FailureOr<unsigned> number = operandNumber(anchor, 0);
  if (failed(number) || failed(epilogue.verify()))
    return failure();
  forLines(dims.out[0], 0.3 * double(dims.out[1] * dims.kernel[0] * dims.kernel[1]),
           [&](ElementScope &row, AffineExpr plane, AffineExpr i) {
             Value planeValue = row.index(plane), iValue = row.index(i);
             forColumns(row, dims.out[1], [&](ElementScope &lanes, AffineExpr j, Value first, Value fresh) {
               Value result = window(lanes, *number, average, plane, i, j);
               if (average)
                 result = scalars(lanes).div(result, divisor(lanes, i, j));
               epilogue.store({planeValue, iValue, first}, Lane{lanes.getLane().width, fresh}, result);
             });
           });
  return success();
}

template <typename OpTy, bool average>
static LogicalResult emitForward(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor, const CpuTraits &) {
  return ForwardPool(kernel, group, anchor, cast<OpTy>(anchor).getDims(), average).emit();
}

void dlc::codegen::registerPoolKernels(KernelRegistry &registry) {
  registry.add<dl::MaxPoolOp>({emitForward<dl::MaxPoolOp, false>, nullptr});
  registry.add<dl::AvgPoolOp>({emitForward<dl::AvgPoolOp, true>, nullptr});
  registry.add<dl::MaxPoolGradOp>({emitMaxPoolGrad, maxPoolGradWorkspaceBytes});
  registry.add<dl::AvgPoolGradOp>({emitAvgPoolGrad, nullptr});
}
