#include "gpu/LineWalk.h"

#include "kernels/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

static int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

LineWalk::LineWalk(GpuKernelBuilder &kernel, ElementScope &scope, const LineShape &shape, AffineExpr thread,
                   AffineExpr first)
    : kernel(kernel), scope(scope), shape(shape), thread(thread), first(first ? first : scope.getSpace().constant(0)) {
  int64_t visited = shape.chunk ? shape.chunk : shape.vectors;
  steps = ceilDivide(visited, shape.threads);
  bool ragged = shape.chunk && shape.vectors % shape.chunk;
  whole = ragged ? 0 : visited / shape.threads;
}

LineWalk::Step::Step(LineWalk &walk, ElementScope &parent, AffineExpr number, bool guarded)
    : scope(parent), lanes(scope, Lane{walk.width()}) {
  IndexSpace &space = parent.getSpace();
  int64_t vectors = walk.shape.vectors;
  if (guarded) {
    OpBuilder &b = parent.getBuilder();
    Location loc = walk.kernel.getLoc();
    Value at = parent.index(space.simplify(number));
    live = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, parent.i64(vectors));
    number = scope.bind(arith::MinSIOp::create(b, loc, at, parent.i64(vectors - 1)), 0, vectors - 1);
  }
  position = number * walk.shape.vector;
  if (walk.width())
    position = position + lanes.getLaneDim();
  position = space.simplify(position);
}

LineWalk::Step &LineWalk::kept(int64_t step) {
  for (auto next = int64_t(unrolled.size()); next <= step; ++next)
    unrolled.push_back(std::make_unique<Step>(*this, scope, first + next * shape.threads + thread, guarded(next)));
  return *unrolled[step];
}

// The steps of a pass that is no reduction.
void LineWalk::inSteps(llvm::function_ref<void(Step &)> body) {
  if (shape.keep) {
    for (int64_t step = 0; step < steps; ++step)
      body(kept(step));
    return;
  }
  emitLoop(scope, scope.i64(0), scope.i64(steps), {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
    ElementScope inside(scope);
    std::optional<int64_t> fixed = constantOf(iv);
    AffineExpr number = fixed ? scope.getSpace().constant(*fixed) : inside.bind(iv, 0, steps - 1);
    Step step(*this, inside, first + number * shape.threads + thread, whole < steps);
    body(step);
    return {};
  });
}

SmallVector<Value> LineWalk::accumulate(Accumulators &accumulators, Values values) {
  auto visit = [&](Step &step) { return accumulators.masked(width(), step.live, values(step.place())); };
  SmallVector<Value> sums;
  if (shape.keep) {
    for (int64_t step = 0; step < steps; ++step) {
      SmallVector<Value> more = visit(kept(step));
      sums = step ? accumulators.combine(width(), sums, more) : more;
    }
  } else if (steps) {
    sums = emitLoop(scope, scope.i64(0), scope.i64(steps), accumulators.identity(width()),
                    [&](Value iv, ValueRange carried) {
                      ElementScope inside(scope);
                      std::optional<int64_t> fixed = constantOf(iv);
                      AffineExpr number = fixed ? scope.getSpace().constant(*fixed) : inside.bind(iv, 0, steps - 1);
                      Step step(*this, inside, first + number * shape.threads + thread, whole < steps);
                      return accumulators.combine(width(), carried, visit(step));
                    });
  }
  if (sums.empty())
    return accumulators.identity(0);
  return width() ? accumulators.halve(width(), sums) : sums;
}

void LineWalk::forEach(Values values, llvm::function_ref<void(const Place &, ValueRange)> store) {
  inSteps([&](Step &step) {
    SmallVector<Value> given = values(step.place());
    emitIf(step.lanes, step.live, {}, [&]() -> SmallVector<Value> {
      store(step.place(), given);
      return {};
    });
  });
}

// Warps leave their accumulators in shared memory; every thread combines them.
static SmallVector<Value> combineWarps(GpuKernelBuilder &kernel, Accumulators &accumulators, ValueRange values,
                                       int64_t warps, Value thread) {
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  auto i64 = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
  SmallVector<Memory> memories;
  for (Type type : accumulators.getTypes())
    memories.push_back(kernel.shared(warps, type));
  Value lane = arith::AndIOp::create(b, loc, thread, i64(warpSize - 1));
  Value warp = arith::ShRUIOp::create(b, loc, thread, i64(5));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, i64(0));
  auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    for (auto [memory, value] : llvm::zip(memories, values))
      kernel.store(memory, warp, Lane{}, value);
  }
  kernel.barrier();
  SmallVector<Value> sums;
  for (int64_t each = 0; each < warps; ++each) {
    SmallVector<Value> more;
    for (const Memory &memory : memories)
      more.push_back(kernel.load(memory, i64(each), 0, Lane{}));
    sums = each ? accumulators.combine(0, sums, more) : more;
  }
  return sums;
}

SmallVector<Value> codegen::combineTeam(GpuKernelBuilder &kernel, Accumulators &accumulators, ValueRange given,
                                        int64_t threads, Value thread) {
  SmallVector<Value> values(given);
  for (int64_t mask = warpSize / 2; mask; mask /= 2) {
    SmallVector<Value> others;
    for (Value value : values)
      others.push_back(kernel.shuffleXor(value, mask));
    values = accumulators.combine(0, values, others);
  }
  if (threads > warpSize)
    return combineWarps(kernel, accumulators, values, threads / warpSize, thread);
  // A combination of two lanes need not have the same bits in both.
  for (Value &value : values)
    value = kernel.shuffleFrom(value, 0);
  return values;
}
