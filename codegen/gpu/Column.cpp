// Column groups: reductions over axes that are not the last ones.
//
// Where the last axis is kept, a block has C x R threads (32 x 8; fewer columns when there are fewer outputs), for C
// neighbouring outputs; the rows of an output go to its R threads in turn:
//
//   thread (x, y):  for (row = y; row < rows; row += R)  sums = combine(sums, element(output + x, row))
//   tile[y][x] = sums;  barrier;  thread (x, 0):  result = finish(tile[0][x], …, tile[R - 1][x], combined in order)
//
// Many rows of few outputs are cut into blocks of rows with partial sums in workspace, which are the rows of a second
// launch of the same form.
//
// Where the last axis is reduced, the rows of an output are a line of gpu/Lines.cpp.
#include "kernels/ColumnGroup.h"

#include "gpu/GpuEmitters.h"
#include "gpu/Lines.h"
#include "gpu/Overwritten.h"
#include "kernels/Accumulators.h"
#include "kernels/ElementScope.h"
#include "kernels/Loops.h"

#include "dlc/ir/Dl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

constexpr int64_t blockThreads = 256, mostColumns = 32, leastColumns = 8;
// Blocks that keep a large device busy; rows a thread should have at least; blocks of rows worth a second launch.
constexpr int64_t manyBlocks = 512, rowsOfThread = 16, worthSplitting = 4;

/// How the threads share outputs and rows: a function of the shape alone.
struct Cut {
  int64_t columns, rows; ///< of threads of a block
  int64_t tiles;         ///< of outputs
  int64_t blocks;        ///< of rows, for each tile
  int64_t rowsOfBlock;

  static Cut of(const ColumnGroup &parts);
};

class ColumnEmitter {
public:
  ColumnEmitter(GpuKernelBuilder &kernel, IndexSpace &space, const ColumnGroup &parts)
      : kernel(kernel), space(space), parts(parts), cut(Cut::of(parts)), accumulators(kernel, parts.reductions) {}

  void emit();

private:
  /// The accumulators of a row.
  using RowBody = llvm::function_ref<SmallVector<Value>(ElementScope &, AffineExpr output, AffineExpr row)>;
  /// What becomes of the sums of a block of rows.
  using SumsBody = llvm::function_ref<void(ElementScope &, AffineExpr output, AffineExpr block, ValueRange sums)>;
  void launch(int64_t rows, int64_t blocks, int64_t rowsOfBlock, RowBody row, SumsBody done);
  SmallVector<Value> sumRows(ElementScope &scope, AffineExpr output, Value first, Value end, int64_t rows,
                             RowBody body);
  SmallVector<Value> combineTile(ElementScope &scope, ArrayRef<Memory> tiles, ValueRange own);
  void storeResults(ElementScope &scope, AffineExpr output, ValueRange sums);
  SmallVector<Memory> partials();

  GpuKernelBuilder &kernel;
  IndexSpace &space;
  const ColumnGroup &parts;
  Cut cut;
  Accumulators accumulators;
};

} // namespace

static int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

Cut Cut::of(const ColumnGroup &parts) {
  Cut cut;
  cut.columns = std::clamp(int64_t(llvm::PowerOf2Ceil(parts.outputs)), leastColumns, mostColumns);
  cut.rows = blockThreads / cut.columns;
  cut.tiles = ceilDivide(parts.outputs, cut.columns);
  int64_t blocks = std::min(ceilDivide(manyBlocks, std::max<int64_t>(cut.tiles, 1)),
                            ceilDivide(parts.rows, rowsOfThread * cut.rows));
  if (blocks < worthSplitting)
    blocks = 1;
  cut.rowsOfBlock = std::max<int64_t>(int64_t(llvm::alignTo(ceilDivide(parts.rows, blocks), cut.rows)), cut.rows);
  cut.blocks = std::max<int64_t>(ceilDivide(parts.rows, cut.rowsOfBlock), 1);
  return cut;
}

// Rows first, first + R, … below end.
SmallVector<Value> ColumnEmitter::sumRows(ElementScope &scope, AffineExpr output, Value first, Value end, int64_t rows,
                                          RowBody body) {
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  // A thread without a row: end < first, and the quotient is 0 or less.
  Value rest = arith::SubIOp::create(b, loc, end, first);
  Value count = arith::ShRSIOp::create(b, loc, arith::AddIOp::create(b, loc, rest, scope.i64(cut.rows - 1)),
                                       scope.i64(llvm::Log2_64(cut.rows)));
  return emitLoop(scope, scope.i64(0), count, accumulators.identity(0), [&](Value iv, ValueRange carried) {
    ElementScope step(scope);
    Value row = arith::AddIOp::create(b, loc, first, arith::MulIOp::create(b, loc, iv, step.i64(cut.rows)));
    return accumulators.combine(0, carried, body(step, output, step.bind(row, 0, rows - 1)));
  });
}

SmallVector<Value> ColumnEmitter::combineTile(ElementScope &scope, ArrayRef<Memory> tiles, ValueRange own) {
  SmallVector<Value> sums(own);
  for (int64_t row = 1; row < cut.rows; ++row) {
    Value at =
        arith::AddIOp::create(kernel.getBuilder(), kernel.getLoc(), kernel.threadId(0), scope.i64(row * cut.columns));
    SmallVector<Value> more;
    for (const Memory &tile : tiles)
      more.push_back(kernel.load(tile, at, 0, Lane{}));
    sums = accumulators.combine(0, sums, more);
  }
  return sums;
}

void ColumnEmitter::launch(int64_t rows, int64_t blocks, int64_t rowsOfBlock, RowBody row, SumsBody done) {
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  kernel.launch({cut.tiles * blocks, 1, 1}, {cut.columns, cut.rows, 1}, [&] {
    SmallVector<Memory> tiles;
    for (Type type : accumulators.getTypes())
      tiles.push_back(kernel.shared(blockThreads, type));
    ElementScope root(kernel, space), scope(root);
    AffineExpr number = scope.bind(kernel.blockId(), 0, cut.tiles * blocks - 1);
    AffineExpr tile = space.simplify(number % cut.tiles), block = space.simplify(number.floorDiv(cut.tiles));
    AffineExpr x = scope.bind(kernel.threadId(0), 0, cut.columns - 1);
    // Threads past the last output do its work once more, and store nothing.
    Value at = scope.index(space.simplify(tile * cut.columns + x)), last = scope.i64(parts.outputs - 1);
    AffineExpr output = space.simplify(scope.bind(arith::MinSIOp::create(b, loc, at, last), 0, parts.outputs - 1));
    Value start = scope.index(space.simplify(block * rowsOfBlock));
    Value first = arith::AddIOp::create(b, loc, start, kernel.threadId(1));
    Value end = arith::AddIOp::create(b, loc, start, scope.i64(rowsOfBlock));
    end = arith::MinSIOp::create(b, loc, end, scope.i64(rows));
    SmallVector<Value> sums = sumRows(scope, output, first, end, rows, row);
    Value place = arith::MulIOp::create(b, loc, kernel.threadId(1), scope.i64(cut.columns));
    place = arith::AddIOp::create(b, loc, place, kernel.threadId(0));
    for (auto [memory, sum] : llvm::zip(tiles, sums))
      kernel.store(memory, place, Lane{}, sum);
    kernel.barrier();
    Value chosen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, kernel.threadId(1), scope.i64(0));
    if (parts.outputs % cut.columns) {
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, at, last);
      chosen = arith::AndIOp::create(b, loc, chosen, inside);
    }
    emitIf(scope, chosen, {}, [&]() -> SmallVector<Value> {
      ElementScope one(scope);
      done(one, output, block, combineTile(one, tiles, sums));
      return {};
    });
  });
}

static SmallVector<unsigned> allResults(dl::GroupOp group) {
  return llvm::to_vector(llvm::seq<unsigned>(0, group.getNumResults()));
}

void ColumnEmitter::storeResults(ElementScope &scope, AffineExpr output, ValueRange sums) {
  SmallVector<AffineExpr> index = parts.outputIndex(space, output);
  SmallVector<Value> results = accumulators.finish(0, sums, parts.rows);
  for (auto [op, result] : llvm::zip(parts.reductions, results))
    scope.provide(op->getResult(0), index, result);
  provideOverwrittenAt(scope, parts.group, allResults(parts.group), index);
  SmallVector<Value> elements;
  for (Value result : resultsOf(parts.group))
    elements.push_back(scope.element(result, index));
  for (auto [i, element] : llvm::enumerate(elements))
    scope.store(resultMemory(kernel, parts.group, i), output, element);
}

static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

SmallVector<Memory> ColumnEmitter::partials() {
  SmallVector<Memory> memories;
  int64_t offset = 0;
  for (Type type : accumulators.getTypes()) {
    memories.push_back(kernel.workspace(offset, type));
    offset += aligned(cut.blocks * parts.outputs * bytesOf(type));
  }
  return memories;
}

void ColumnEmitter::emit() {
  auto element = [&](ElementScope &scope, AffineExpr output, AffineExpr row) {
    SmallVector<Value> elements;
    for (Operation *op : parts.reductions)
      elements.push_back(scope.element(op->getOperand(0), parts.index(space, output, row)));
    return accumulators.lift(0, elements, scope.index(row));
  };
  auto finish = [&](ElementScope &scope, AffineExpr output, AffineExpr, ValueRange sums) {
    storeResults(scope, output, sums);
  };
  if (cut.blocks == 1)
    return launch(parts.rows, 1, cut.rowsOfBlock, element, finish);
  // partial[block][output]
  launch(parts.rows, cut.blocks, cut.rowsOfBlock, element,
         [&](ElementScope &scope, AffineExpr output, AffineExpr block, ValueRange sums) {
           for (auto [memory, sum] : llvm::zip(partials(), sums))
             scope.store(memory, space.simplify(block * parts.outputs + output), sum);
         });
  launch(
      cut.blocks, 1, cut.blocks,
      [&](ElementScope &scope, AffineExpr output, AffineExpr block) {
        SmallVector<Value> sums;
        for (const Memory &memory : partials())
          sums.push_back(
              scope.load(memory, cut.blocks * parts.outputs, space.simplify(block * parts.outputs + output)));
        return sums;
      },
      finish);
}

// Where the rows of an output are a line.
static Lines linesOf(const ColumnGroup &parts, IndexSpace &space) {
  Lines lines{
      parts.group, parts.outputs, parts.rows, parts.innerRows, {parts.reductions}, {}, allResults(parts.group), {}, {}};
  lines.index = [parts, &space](AffineExpr line, AffineExpr position) { return parts.index(space, line, position); };
  lines.lineIndex = [parts, &space](AffineExpr line) { return parts.outputIndex(space, line); };
  return lines;
}

LogicalResult codegen::emitGpuColumn(GpuKernelBuilder &kernel, dl::GroupOp group) {
  IndexSpace space(group.getContext());
  FailureOr<ColumnGroup> parts = ColumnGroup::analyse(group, space);
  if (failed(parts))
    return failure();
  if (parts->innerKept == 1)
    emitLines(kernel, space, linesOf(*parts, space));
  else if (parts->outputs)
    ColumnEmitter(kernel, space, *parts).emit();
  return success();
}

int64_t codegen::gpuColumnWorkspaceBytes(dl::GroupOp group) {
  IndexSpace space(group.getContext());
  FailureOr<ColumnGroup> parts = ColumnGroup::analyse(group, space);
  if (failed(parts))
    return 0;
  if (parts->innerKept == 1)
    return linesWorkspaceBytes(linesOf(*parts, space));
  Cut cut = Cut::of(*parts);
  if (cut.blocks == 1)
    return 0;
  int64_t bytes = 0;
  for (Operation *op : parts->reductions)
    for (Type type : cast<dl::ReductionOpInterface>(op).getAccumulatorTypes())
      bytes += aligned(cut.blocks * parts->outputs * bytesOf(type));
  return bytes;
}
