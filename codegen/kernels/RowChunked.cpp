// Rows longer than a chunk, full reductions above all. For each stage of reductions, one phase over (row, chunk) leaves
// partial results in workspace and a second one over rows combines them by a pairwise tree:
//   partial[row][chunk]  ->  finished[row]
// A last phase over (row, chunk) stores the results of the domain's shape.
#include "kernels/Emitters.h"
#include "kernels/Row.h"

#include "dlc/ir/Dl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {
class ChunkedEmitter {
public:
  ChunkedEmitter(KernelBuilder &kernel, IndexSpace &space, const RowGroup &parts)
      : kernel(kernel), space(space), parts(parts), width(std::min(lanesOf(kernel, parts.group), virtualLanes)),
        chunks((parts.columns + chunkElements - 1) / chunkElements) {}

  void emit();

private:
  struct Piece {
    AffineExpr row, iteration;
    Value last; ///< whether it is the row's last chunk; null when chunks are all full
    Value chunk;
  };

  void emitPieces(double nanoseconds, llvm::function_ref<void(ElementScope &, const Piece &)> body);
  void emitPartials(size_t stage);
  void emitCombine(size_t stage);
  void emitDomainResults();
  SmallVector<Value> emitTree(ElementScope &scope, AffineExpr row, Accumulators &accumulators);
  void provideFinished(ElementScope &scope, AffineExpr row, size_t stages);
  SmallVector<Memory> partials(Accumulators &accumulators);
  Memory finished(Operation *reduction);

  KernelBuilder &kernel;
  IndexSpace &space;
  const RowGroup &parts;
  int64_t width, chunks;
};
} // namespace

static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// First the finished values of every reduction, 8 bytes each at most, then the partials of the stage at work.
static int64_t finishedBytes(const RowGroup &parts) {
  int64_t reductions = 0;
  for (auto &stage : parts.stages)
    reductions += stage.size();
  return reductions * aligned(parts.rows * 8);
}

Memory ChunkedEmitter::finished(Operation *reduction) {
  int64_t number = 0;
  for (auto &stage : parts.stages)
    for (Operation *op : stage) {
      if (op == reduction)
        return kernel.workspace(number * aligned(parts.rows * 8), getElementTypeOrSelf(op->getResult(0).getType()));
      ++number;
    }
  return {};
}

SmallVector<Memory> ChunkedEmitter::partials(Accumulators &accumulators) {
  SmallVector<Memory> memories;
  int64_t offset = finishedBytes(parts);
  for (Type type : accumulators.getTypes()) {
    memories.push_back(kernel.workspace(offset, type));
    offset += aligned(parts.rows * chunks * bytesOf(type));
  }
  return memories;
}

void ChunkedEmitter::provideFinished(ElementScope &scope, AffineExpr row, size_t stages) {
  for (size_t stage = 0; stage < stages; ++stage)
    for (Operation *op : parts.stages[stage])
      scope.provide(op->getResult(0), parts.rowIndex(space, row),
                    [this, op, row](ElementScope &asking) { return asking.load(finished(op), parts.rows, row); });
}

void ChunkedEmitter::emitPieces(double nanoseconds, llvm::function_ref<void(ElementScope &, const Piece &)> body) {
  kernel.parallelRange(parts.rows * chunks, 1, nanoseconds, [&](Value lo, Value hi) {
    ElementScope root(kernel, space);
    emitLoop(root, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
      ElementScope scope(root);
      AffineExpr iteration = scope.bind(iv, 0, parts.rows * chunks - 1);
      AffineExpr row = space.simplify(iteration.floorDiv(chunks));
      Value chunk = scope.index(space.simplify(iteration % chunks)), last;
      if (parts.columns % chunkElements)
        last = arith::CmpIOp::create(kernel.getBuilder(), kernel.getLoc(), arith::CmpIPredicate::eq, chunk,
                                     scope.i64(chunks - 1));
      body(scope, Piece{row, iteration, last, chunk});
      return {};
    });
  });
}

// [chunk * each, …) up to the row's `whole`, counted in steps or vectors.
static std::pair<Value, Value> bounds(ElementScope &scope, Value chunk, Value last, int64_t each, int64_t whole) {
  OpBuilder &b = scope.getBuilder();
  Location loc = scope.getKernel().getLoc();
  Value lo = arith::MulIOp::create(b, loc, chunk, scope.i64(each));
  Value hi = arith::AddIOp::create(b, loc, lo, scope.i64(each));
  if (last)
    hi = arith::SelectOp::create(b, loc, last, scope.i64(whole), hi);
  return {lo, hi};
}

void ChunkedEmitter::emitPartials(size_t stage) {
  Accumulators accumulators(kernel, parts.stages[stage]);
  emitPieces(parts.nanoseconds * double(chunkElements), [&](ElementScope &scope, const Piece &piece) {
    provideFinished(scope, piece.row, stage);
    int64_t steps = parts.columns / virtualLanes;
    auto [lo, hi] = bounds(scope, piece.chunk, piece.last, chunkElements / virtualLanes, steps);
    LaneSpan span{lo, hi, steps, false, parts.columns % virtualLanes, piece.last};
    SmallVector<Value> sums =
        emitLaneOrder(scope, accumulators, span, width, [&](ElementScope &lanes, AffineExpr column) {
          SmallVector<Value> elements;
          for (Value root : parts.rootsOf(stage))
            elements.push_back(lanes.element(root, parts.index(space, piece.row, column)));
          return elements;
        });
    for (auto [memory, sum] : llvm::zip(partials(accumulators), sums))
      scope.store(memory, piece.iteration, sum);
  });
}

// ((p0 + p1) + (p2 + p3)) + …, in place; what is left over moves up a level.
SmallVector<Value> ChunkedEmitter::emitTree(ElementScope &scope, AffineExpr row, Accumulators &accumulators) {
  SmallVector<Memory> memories = partials(accumulators);
  int64_t all = parts.rows * chunks;
  AffineExpr base = space.simplify(row * chunks);
  auto loadAt = [&](ElementScope &at, AffineExpr offset) {
    SmallVector<Value> values;
    for (const Memory &memory : memories)
      values.push_back(at.load(memory, all, space.simplify(base + offset)));
    return values;
  };
  auto storeAt = [&](ElementScope &at, AffineExpr offset, ArrayRef<Value> values) {
    for (auto [memory, value] : llvm::zip(memories, values))
      at.store(memory, space.simplify(base + offset), value);
  };
  for (int64_t count = chunks; count > 1; count = (count + 1) / 2) {
    int64_t pairs = count / 2;
    emitLoop(scope, scope.i64(0), scope.i64(pairs), {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
      ElementScope pair(scope);
      std::optional<int64_t> fixed = constantOf(iv);
      AffineExpr i = fixed ? space.constant(*fixed) : pair.bind(iv, 0, pairs - 1);
      SmallVector<Value> left = loadAt(pair, i * 2), right = loadAt(pair, i * 2 + 1);
      storeAt(pair, i, accumulators.combine(0, left, right));
      return {};
    });
    if (count % 2)
      storeAt(scope, space.constant(pairs), loadAt(scope, space.constant(count - 1)));
  }
  return loadAt(scope, space.constant(0));
}

void ChunkedEmitter::emitCombine(size_t stage) {
  Accumulators accumulators(kernel, parts.stages[stage]);
  bool isLast = stage + 1 == parts.stages.size();
  kernel.parallelRange(parts.rows, 1, 2.0 * double(chunks) + 10, [&](Value lo, Value hi) {
    ElementScope root(kernel, space);
    emitLoop(root, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
      ElementScope scope(root);
      std::optional<int64_t> fixed = constantOf(iv);
      AffineExpr row = fixed ? space.constant(*fixed) : space.simplify(scope.bind(iv, 0, parts.rows - 1));
      provideFinished(scope, row, stage);
      SmallVector<Value> values = accumulators.finish(0, emitTree(scope, row, accumulators), parts.columns);
      for (auto [op, value] : llvm::zip(parts.stages[stage], values)) {
        scope.provide(op->getResult(0), parts.rowIndex(space, row), value);
        scope.store(finished(op), row, value);
      }
      if (!isLast)
        return {};
      SmallVector<Value> scalars;
      for (unsigned i : parts.rowResults)
        scalars.push_back(scope.element(resultsOf(parts.group)[i], parts.rowIndex(space, row)));
      for (auto [i, scalar] : llvm::zip(parts.rowResults, scalars))
        scope.store(resultMemory(kernel, parts.group, i), row, scalar);
      return {};
    });
  });
}

void ChunkedEmitter::emitDomainResults() {
  emitPieces(parts.nanoseconds * double(chunkElements), [&](ElementScope &scope, const Piece &piece) {
    provideFinished(scope, piece.row, parts.stages.size());
    int64_t whole = parts.columns / width;
    auto [lo, hi] = bounds(scope, piece.chunk, piece.last, chunkElements / width, whole);
    VectorSpan span{lo, hi, whole, width, parts.columns % width, piece.last, space.constant(whole * width)};
    emitSpan(scope, space.constant(0), span, [&](ElementScope &lanes, AffineExpr column) {
      SmallVector<Value> elements;
      for (Value root : parts.rootsOf(parts.stages.size()))
        elements.push_back(lanes.element(root, parts.index(space, piece.row, column)));
      AffineExpr offset = space.simplify(piece.row * parts.columns + column);
      for (auto [i, element] : llvm::zip(parts.domainResults, elements))
        lanes.store(resultMemory(kernel, parts.group, i), offset, element);
    });
  });
}

void ChunkedEmitter::emit() {
  for (size_t stage = 0; stage < parts.stages.size(); ++stage) {
    emitPartials(stage);
    emitCombine(stage);
  }
  if (!parts.domainResults.empty())
    emitDomainResults();
}

LogicalResult codegen::emitChunkedRows(KernelBuilder &kernel, IndexSpace &space, const RowGroup &parts) {
  ChunkedEmitter(kernel, space, parts).emit();
  return success();
}

int64_t codegen::rowWorkspaceBytes(dl::GroupOp group) {
  IndexSpace space(group.getContext());
  FailureOr<RowGroup> parts = RowGroup::analyse(group, space);
  if (failed(parts) || parts->columns <= chunkElements)
    return 0;
  int64_t most = 0, chunks = (parts->columns + chunkElements - 1) / chunkElements;
  for (auto &stage : parts->stages) {
    int64_t bytes = 0;
    for (Operation *op : stage)
      for (Type type : cast<dl::ReductionOpInterface>(op).getAccumulatorTypes())
        bytes += aligned(parts->rows * chunks * bytesOf(type));
    most = std::max(most, bytes);
  }
  return finishedBytes(*parts) + most;
}
