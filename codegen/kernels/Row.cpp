// Row groups: each row is walked once for every stage of reductions and once for the results of the domain's shape.
// Values that are dear to compute and needed in two passes are kept in memory of the thread.
#include "kernels/Row.h"

#include "dlc/ir/Dl.h"
#include "kernels/Emitters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

SmallVector<Value> codegen::emitLaneOrder(ElementScope &scope, Accumulators &accumulators, const LaneSpan &span,
                                          int64_t width, LaneElements elements) {
  IndexSpace &space = scope.getSpace();
  int64_t vectors = virtualLanes / width;
  size_t each = accumulators.size();
  auto visit = [&](ElementScope &step, AffineExpr column, int64_t live) {
    ElementScope lanes(step, Lane{width, leadingLanes(step, live, width)});
    AffineExpr position = space.simplify(column + lanes.getLaneDim());
    SmallVector<Value> lifted = accumulators.lift(width, elements(lanes, position), lanes.indexVector(position));
    return accumulators.masked(width, lanes.getLane().mask, lifted);
  };

  SmallVector<Value> sums; // [vector][accumulator]; vectors that no element reaches are missing at the end
  if (!span.never) {
    SmallVector<Value> start;
    for (int64_t v = 0; v < vectors; ++v)
      llvm::append_range(start, accumulators.identity(width));
    sums = emitLoop(scope, span.lo, span.hi, start, [&](Value iv, ValueRange carried) {
      ElementScope step(scope);
      std::optional<int64_t> fixed = constantOf(iv);
      AffineExpr q = fixed ? space.constant(*fixed) : step.bind(iv, 0, span.steps - 1);
      SmallVector<Value> next;
      for (int64_t v = 0; v < vectors; ++v)
        llvm::append_range(next, accumulators.combine(width, carried.slice(v * each, each),
                                                      visit(step, q * virtualLanes + v * width, width)));
      return next;
    });
  }
  if (span.tail) {
    SmallVector<Value> before = sums;
    sums = emitIf(scope, span.tailCondition, before, [&] {
      SmallVector<Value> next = before;
      for (int64_t v = 0; v * width < span.tail; ++v) {
        ElementScope step(scope);
        SmallVector<Value> more =
            visit(step, space.constant(span.steps * virtualLanes + v * width), span.tail - v * width);
        if (before.empty()) {
          llvm::append_range(next, more);
          continue;
        }
        SmallVector<Value> both = accumulators.combine(width, ValueRange(next).slice(v * each, each), more);
        llvm::copy(both, next.begin() + v * each);
      }
      return next;
    });
  }
  if (sums.empty())
    return accumulators.identity(0);
  for (int64_t half = vectors / 2; half >= 1; half /= 2)
    for (int64_t v = 0; v < half && size_t(v + half) * each < sums.size(); ++v) {
      SmallVector<Value> both = accumulators.combine(width, ValueRange(sums).slice(v * each, each),
                                                     ValueRange(sums).slice((v + half) * each, each));
      llvm::copy(both, sums.begin() + v * each);
    }
  return accumulators.halve(width, ValueRange(sums).take_front(each));
}

namespace {
/// A value computed in one pass over the row and read back in later ones.
struct KeptValue {
  Value value;
  size_t pass;
  Memory memory;
};

class RowEmitter {
public:
  RowEmitter(KernelBuilder &kernel, IndexSpace &space, const RowGroup &parts)
      : kernel(kernel), space(space), parts(parts), width(std::min(lanesOf(kernel, parts.group), virtualLanes)) {}

  void emit();

private:
  void chooseKept();
  void emitOneRow(ElementScope &scope, AffineExpr row);
  void emitStage(ElementScope &scope, AffineExpr row, size_t stage);
  void emitResults(ElementScope &scope, AffineExpr row);
  SmallVector<Value> evaluate(ElementScope &lanes, AffineExpr row, AffineExpr column, size_t pass);

  KernelBuilder &kernel;
  IndexSpace &space;
  const RowGroup &parts;
  int64_t width;
  SmallVector<KeptValue> kept;
};
} // namespace

// What a pass computes anew, down to the values that an earlier pass keeps.
void RowEmitter::chooseKept() {
  constexpr unsigned dear = 8;
  constexpr int64_t mostBytes = 64 << 10;
  int64_t bytes = 0;
  llvm::DenseMap<Value, size_t> firstPass;
  llvm::DenseSet<Value> chosen;
  for (size_t pass = 0; pass <= parts.stages.size(); ++pass) {
    SmallVector<Value> todo = parts.rootsOf(pass);
    llvm::DenseSet<Value> seen;
    while (!todo.empty()) {
      Value value = todo.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || isa<dl::ReductionOpInterface>(op) || !seen.insert(value).second)
        continue;
      auto body = dyn_cast<dl::ScalarBodyOpInterface>(op);
      bool candidate = body && body.getScalarCost() >= dear && shapeOf(value) == parts.domain;
      auto [first, isNew] = firstPass.try_emplace(value, pass);
      if (candidate && !isNew && first->second < pass) {
        int64_t more = parts.columns * bytesOf(getElementTypeOrSelf(value.getType()));
        if (chosen.contains(value))
          continue;
        if (bytes + more <= mostBytes) {
          bytes += more;
          chosen.insert(value);
          kept.push_back({value, first->second, {}});
          continue;
        }
      }
      llvm::append_range(todo, op->getOperands());
    }
  }
}

SmallVector<Value> RowEmitter::evaluate(ElementScope &lanes, AffineExpr row, AffineExpr column, size_t pass) {
  SmallVector<AffineExpr> index = parts.index(space, row, column);
  for (const KeptValue &each : kept)
    if (each.pass < pass)
      lanes.provide(each.value, index, [this, &each, column](ElementScope &asking) {
        return asking.load(each.memory, parts.columns, column);
      });
  SmallVector<Value> roots;
  for (Value root : parts.rootsOf(pass))
    roots.push_back(lanes.element(root, index));
  for (const KeptValue &each : kept)
    if (each.pass == pass)
      lanes.store(each.memory, column, lanes.element(each.value, index));
  return roots;
}

void RowEmitter::emitStage(ElementScope &scope, AffineExpr row, size_t stage) {
  Accumulators accumulators(kernel, parts.stages[stage]);
  int64_t steps = parts.columns / virtualLanes;
  LaneSpan span{scope.i64(0), scope.i64(steps), steps, steps == 0, parts.columns % virtualLanes, {}};
  SmallVector<Value> sums =
      emitLaneOrder(scope, accumulators, span, width,
                    [&](ElementScope &lanes, AffineExpr column) { return evaluate(lanes, row, column, stage); });
  SmallVector<Value> results = accumulators.finish(0, sums, parts.columns);
  for (auto [op, result] : llvm::zip(parts.stages[stage], results))
    scope.provide(op->getResult(0), parts.rowIndex(space, row), result);
}

void RowEmitter::emitResults(ElementScope &scope, AffineExpr row) {
  OperandRange values = resultsOf(parts.group);
  SmallVector<Value> scalars;
  for (unsigned i : parts.rowResults)
    scalars.push_back(scope.element(values[i], parts.rowIndex(space, row)));
  if (!parts.domainResults.empty())
    emitSpan(scope, parts.columns, width, [&](ElementScope &lanes, AffineExpr column) {
      SmallVector<Value> elements = evaluate(lanes, row, column, parts.stages.size());
      AffineExpr offset = space.simplify(row * parts.columns + column);
      for (auto [i, element] : llvm::zip(parts.domainResults, elements))
        lanes.store(resultMemory(kernel, parts.group, i), offset, element);
    });
  for (auto [i, scalar] : llvm::zip(parts.rowResults, scalars))
    scope.store(resultMemory(kernel, parts.group, i), row, scalar);
}

void RowEmitter::emitOneRow(ElementScope &scope, AffineExpr row) {
  for (size_t stage = 0; stage < parts.stages.size(); ++stage)
    emitStage(scope, row, stage);
  emitResults(scope, row);
}

void RowEmitter::emit() {
  chooseKept();
  double nanoseconds = parts.nanoseconds * double(parts.columns) + 10.0 * double(parts.stages.size());
  kernel.parallelRange(parts.rows, 1, nanoseconds, [&](Value lo, Value hi) {
    ElementScope root(kernel, space);
    for (KeptValue &each : kept)
      each.memory = kernel.scratch(parts.columns, getElementTypeOrSelf(each.value.getType()));
    emitLoop(root, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
      ElementScope scope(root);
      std::optional<int64_t> fixed = constantOf(iv);
      emitOneRow(scope, fixed ? space.constant(*fixed) : scope.bind(iv, 0, parts.rows - 1));
      return {};
    });
  });
}

LogicalResult codegen::emitRow(KernelBuilder &kernel, dl::GroupOp group) {
  IndexSpace space(group.getContext());
  FailureOr<RowGroup> parts = RowGroup::analyse(group, space);
  if (failed(parts))
    return failure();
  if (parts->rows == 0)
    return success();
  if (parts->columns > chunkElements)
    return emitChunkedRows(kernel, space, *parts);
  RowEmitter(kernel, space, *parts).emit();
  return success();
}
