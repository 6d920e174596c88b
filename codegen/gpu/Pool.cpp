// Pooling: one thread a window. Gradients gather: one thread an input element, which adds those of the windows that
// hold it in row-major order, so that no two threads add to one place. A window's first maximum is found again where
// windows do not overlap, else once by a launch of its own.
#include "dlc/ir/Pool.h"

#include "gpu/GpuRegistry.h"
#include "kernels/Pool.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {
class GpuPool : public PoolEmitter {
public:
  GpuPool(GpuKernelBuilder &kernel, dl::GroupOp group, Operation *anchor, const dl::PoolDims &dims)
      : PoolEmitter(kernel, group, anchor, dims), gpu(kernel), epilogue(kernel, group, anchor) {}

  LogicalResult emitForward(bool average);
  LogicalResult emitMaxGrad();
  LogicalResult emitAvgGrad();

private:
  /// An element or window of a plane, and its number in all planes.
  struct Place {
    AffineExpr plane, i, j, offset;
  };
  using PlaceBody = llvm::function_ref<void(ElementScope &scope, const Place &place)>;
  /// One thread a place of planes of `extents`.
  void forPlaces(const int64_t (&extents)[2], PlaceBody body);
  Value inRange(ElementScope &scope, AffineExpr number, int64_t count);

  /// The sum of what `add` makes of the sum so far, for each window that may hold an input element.
  using AddWindow = llvm::function_ref<Value(ElementScope &scope, const Covering &window, Value sum)>;
  Value sumOfWindows(ElementScope &scope, const Place &place, AddWindow add);

  GpuKernelBuilder &gpu;
  Epilogue epilogue;
};
} // namespace

Value GpuPool::inRange(ElementScope &scope, AffineExpr number, int64_t count) {
  if (space.contains(number, 0, count))
    return {};
  return scalars(scope).lt(scope.index(number), scope.i64(count));
}

void GpuPool::forPlaces(const int64_t (&extents)[2], PlaceBody body) {
  int64_t count = dims.planes * extents[0] * extents[1];
  if (!count)
    return;
  int64_t threads = std::min<int64_t>(256, int64_t(llvm::alignTo(uint64_t(count), warpSize)));
  GpuKernelBuilder::Extents grid = blocksFor(count, threads);
  gpu.launch(grid, {threads, 1, 1}, [&] {
    ElementScope root(kernel, space), scope(root);
    AffineExpr block = scope.bind(gpu.blockId(), 0, grid[0] - 1);
    AffineExpr number = space.simplify(block * threads + scope.bind(gpu.threadId(), 0, threads - 1));
    emitIf(scope, inRange(scope, number, count), {}, [&]() -> SmallVector<Value> {
      ElementScope one(scope);
      AffineExpr offset = space.simplify(one.bind(scope.index(number), 0, count - 1));
      SmallVector<AffineExpr> index = space.delinearize({dims.planes, extents[0], extents[1]}, offset);
      body(one, {index[0], index[1], index[2], offset});
      return {};
    });
  });
}

LogicalResult GpuPool::emitForward(bool average) {
  FailureOr<unsigned> x = operandNumber(anchor, 0);
  if (failed(x) || failed(epilogue.verify()))
    return failure();
  forPlaces(dims.out, [&](ElementScope &scope, const Place &at) {
    Value result = window(scope, *x, average, at.plane, at.i, at.j);
    if (average)
      result = scalars(scope).div(result, divisor(scope, at.i, at.j));
    epilogue.store(scope, at.offset, result);
  });
  return success();
}

Value GpuPool::sumOfWindows(ElementScope &scope, const Place &at, AddWindow add) {
  int64_t down = windowsAlong(0), across = windowsAlong(1);
  Value zero = scalars(scope).constant(0.0, element);
  constexpr int64_t written = 9; // windows beyond that loop
  if (down * across <= written) {
    Value sum = zero;
    for (int64_t a = down - 1; a >= 0; --a)
      for (int64_t c = across - 1; c >= 0; --c)
        sum = add(scope, covering(scope, at.i, at.j, space.constant(a), space.constant(c)), sum);
    return sum;
  }
  return emitLoop(scope, scope.i64(0), scope.i64(down), zero, [&](Value iv, ValueRange outer) {
    ElementScope line(scope);
    AffineExpr a = space.simplify(down - 1 - line.bind(iv, 0, down - 1));
    return emitLoop(line, line.i64(0), line.i64(across), outer, [&](Value iv, ValueRange inner) {
      ElementScope one(line);
      AffineExpr c = space.simplify(across - 1 - one.bind(iv, 0, across - 1));
      return SmallVector<Value>{add(one, covering(one, at.i, at.j, a, c), inner[0])};
    });
  })[0];
}

LogicalResult GpuPool::emitMaxGrad() {
  FailureOr<unsigned> x = operandNumber(anchor, 0), dy = operandNumber(anchor, 1);
  if (failed(x) || failed(dy) || failed(epilogue.verify()))
    return failure();
  bool overlap = windowsAlong(0) * windowsAlong(1) > 1;
  Type i32 = kernel.getBuilder().getI32Type();
  int64_t windows = dims.planes * dims.out[0] * dims.out[1];
  if (overlap)
    forPlaces(dims.out, [&](ElementScope &scope, const Place &at) {
      scope.store(kernel.workspace(0, i32), at.offset, maximumPosition(scope, *x, at.plane, at.i, at.j));
    });
  auto positionOf = [&](ElementScope &scope, AffineExpr plane, const Covering &window) {
    if (!overlap)
      return maximumPosition(scope, *x, plane, window.i, window.j);
    AffineExpr number = space.simplify((plane * dims.out[0] + window.i) * dims.out[1] + window.j);
    return scope.load(kernel.workspace(0, i32), windows, number, window.live);
  };
  forPlaces(dims.in, [&](ElementScope &scope, const Place &at) {
    Value own = scalars(scope).cast(scope.index(space.simplify(at.i * dims.in[1] + at.j)), i32);
    Value sum = sumOfWindows(scope, at, [&](ElementScope &each, const Covering &window, Value sum) {
      dl::ScalarBuilder b = scalars(each);
      Value wins = b.eq(positionOf(each, at.plane, window), own);
      if (window.live)
        wins = b.bitAnd(wins, window.live);
      Value gradient = load(each, *dy, dims.out, at.plane, window.i, window.j, window.live);
      return b.select(wins, b.add(sum, gradient), sum);
    });
    epilogue.store(scope, at.offset, sum);
  });
  return success();
}

LogicalResult GpuPool::emitAvgGrad() {
  FailureOr<unsigned> dy = operandNumber(anchor, 0);
  if (failed(dy) || failed(epilogue.verify()))
    return failure();
  forPlaces(dims.in, [&](ElementScope &scope, const Place &at) {
    Value sum = sumOfWindows(scope, at, [&](ElementScope &each, const Covering &window, Value sum) {
      dl::ScalarBuilder b = scalars(each);
      Value gradient = load(each, *dy, dims.out, at.plane, window.i, window.j, window.live);
      Value more = b.add(sum, b.div(gradient, divisor(each, window.i, window.j)));
      return window.live ? b.select(window.live, more, sum) : more;
    });
    epilogue.store(scope, at.offset, sum);
  });
  return success();
}

template <typename OpTy, bool average>
static LogicalResult emitForward(GpuKernelBuilder &kernel, dl::GroupOp group, Operation *anchor) {
  return GpuPool(kernel, group, anchor, cast<OpTy>(anchor).getDims()).emitForward(average);
}

static LogicalResult emitMaxGrad(GpuKernelBuilder &kernel, dl::GroupOp group, Operation *anchor) {
  return GpuPool(kernel, group, anchor, cast<dl::MaxPoolGradOp>(anchor).getDims()).emitMaxGrad();
}

static LogicalResult emitAvgGrad(GpuKernelBuilder &kernel, dl::GroupOp group, Operation *anchor) {
  return GpuPool(kernel, group, anchor, cast<dl::AvgPoolGradOp>(anchor).getDims()).emitAvgGrad();
}

static int64_t maxGradWorkspaceBytes(dl::GroupOp, Operation *anchor, const GpuOptions &) {
  dl::PoolDims dims = cast<dl::MaxPoolGradOp>(anchor).getDims();
  bool overlap = dims.kernel[0] > dims.stride[0] || dims.kernel[1] > dims.stride[1];
  return overlap ? dims.planes * dims.out[0] * dims.out[1] * 4 : 0;
}

void dlc::codegen::registerPoolGpuKernels(GpuRegistry &registry) {
  registry.add<dl::MaxPoolOp>({emitForward<dl::MaxPoolOp, false>});
  registry.add<dl::AvgPoolOp>({emitForward<dl::AvgPoolOp, true>});
  registry.add<dl::MaxPoolGradOp>({emitMaxGrad, maxGradWorkspaceBytes});
  registry.add<dl::AvgPoolGradOp>({emitAvgGrad});
}
