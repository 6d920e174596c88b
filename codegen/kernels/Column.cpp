// Column groups: reductions over axes that are not the last ones. The reduced elements of an output, in row-major order
// of the reduced axes, fall into blocks of 256; each block is one chain of combines from the identity, and blocks are
// combined from left to right. Several outputs are walked at once, each with its own chain: vectors along the last axis
// where that is kept, scalars side by side where it is reduced.
#include "kernels/Accumulators.h"
#include "kernels/ColumnGroup.h"
#include "kernels/Emitters.h"
#include "kernels/Loops.h"

#include "dlc/ir/Dl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

static constexpr int64_t blockRows = 256;

static int64_t blocksOf(const ColumnGroup &parts) {
  return std::max<int64_t>((parts.rows + blockRows - 1) / blockRows, 1);
}

/// Whether blocks become partial results in workspace, combined by a second phase.
static bool isSplit(const ColumnGroup &parts) {
  return blocksOf(parts) > 1 && parts.outputs < 1024 &&
         parts.nanoseconds * double(parts.outputs) * double(parts.rows) > 10000;
}

namespace {
/// Outputs walked together: `count` slots of `width` consecutive ones (0: single ones) from `base`.
struct Tile {
  AffineExpr base;
  int64_t count;
  int64_t width;
  int64_t tail; ///< live lanes of the last slot, or 0: all
};

class ColumnEmitter {
public:
  ColumnEmitter(KernelBuilder &kernel, IndexSpace &space, const ColumnGroup &parts)
      : kernel(kernel), space(space), parts(parts), accumulators(kernel, parts.reductions),
        width(parts.innerKept > 1 ? lanesOf(kernel, parts.group) : 0) {
    slots = parts.values <= 3 ? 8 : parts.values <= 8 ? 4 : 2;
  }

  void emit();

private:
  using TileBody = llvm::function_ref<void(ElementScope &, const Tile &)>;
  using SlotBody = llvm::function_ref<void(ElementScope &, AffineExpr output, int64_t slot)>;
  int64_t tilesOfRun() const;
  void emitTile(ElementScope &scope, AffineExpr iteration, TileBody body);
  void forSlots(ElementScope &scope, const Tile &tile, SlotBody body);
  SmallVector<Value> identities(const Tile &tile);
  SmallVector<Value> emitChain(ElementScope &scope, const Tile &tile, Value block);
  SmallVector<Value> emitRows(ElementScope &scope, const Tile &tile, Value lo, Value hi, AffineExpr base,
                              ValueRange init);
  SmallVector<Value> combineAll(const Tile &tile, ValueRange left, ValueRange right);
  void storeResults(ElementScope &scope, const Tile &tile, ValueRange sums);
  SmallVector<Memory> partials();
  void emitWhole();
  void emitSplit();

  KernelBuilder &kernel;
  IndexSpace &space;
  const ColumnGroup &parts;
  Accumulators accumulators;
  int64_t width, slots;
};
} // namespace

// Tiles of one run of consecutive outputs: `innerKept` of them, or for scalars all.
int64_t ColumnEmitter::tilesOfRun() const {
  int64_t perTile = slots * std::max<int64_t>(width, 1), run = width ? parts.innerKept : parts.outputs;
  return (run + perTile - 1) / perTile;
}

void ColumnEmitter::emitTile(ElementScope &scope, AffineExpr iteration, TileBody body) {
  int64_t lanes = std::max<int64_t>(width, 1), run = width ? parts.innerKept : parts.outputs;
  int64_t tiles = tilesOfRun(), full = run / (slots * lanes), rest = run % (slots * lanes);
  AffineExpr base = space.simplify(iteration.floorDiv(tiles) * run), number = space.simplify(iteration % tiles);
  Tile last{space.simplify(base + full * slots * lanes), (rest + lanes - 1) / lanes, width, rest % lanes};
  if (!full)
    return body(scope, last);
  Value tile = scope.index(number), isFull, isLast;
  if (rest) {
    OpBuilder &b = kernel.getBuilder();
    isFull = arith::CmpIOp::create(b, kernel.getLoc(), arith::CmpIPredicate::slt, tile, scope.i64(full));
    isLast = arith::CmpIOp::create(b, kernel.getLoc(), arith::CmpIPredicate::sge, tile, scope.i64(full));
  }
  emitIf(scope, isFull, {}, [&]() -> SmallVector<Value> {
    ElementScope inside(scope);
    AffineExpr whole = inside.bind(tile, 0, full - 1);
    body(inside, Tile{space.simplify(base + whole * (slots * lanes)), slots, width, 0});
    return {};
  });
  if (rest)
    emitIf(scope, isLast, {}, [&]() -> SmallVector<Value> {
      ElementScope inside(scope);
      body(inside, last);
      return {};
    });
}

void ColumnEmitter::forSlots(ElementScope &scope, const Tile &tile, SlotBody body) {
  for (int64_t slot = 0; slot < tile.count; ++slot) {
    if (!tile.width) {
      ElementScope one(scope);
      body(one, space.simplify(tile.base + slot), slot);
      continue;
    }
    int64_t live = tile.tail && slot + 1 == tile.count ? tile.tail : tile.width;
    ElementScope lanes(scope, Lane{tile.width, leadingLanes(scope, live, tile.width)});
    body(lanes, space.simplify(tile.base + slot * tile.width + lanes.getLaneDim()), slot);
  }
}

SmallVector<Value> ColumnEmitter::identities(const Tile &tile) {
  SmallVector<Value> values;
  for (int64_t slot = 0; slot < tile.count; ++slot)
    llvm::append_range(values, accumulators.identity(tile.width));
  return values;
}

SmallVector<Value> ColumnEmitter::combineAll(const Tile &tile, ValueRange left, ValueRange right) {
  SmallVector<Value> values;
  size_t each = accumulators.size();
  for (int64_t slot = 0; slot < tile.count; ++slot)
    llvm::append_range(values,
                       accumulators.combine(tile.width, left.slice(slot * each, each), right.slice(slot * each, each)));
  return values;
}

// Rows base + [lo, hi) of the chain.
SmallVector<Value> ColumnEmitter::emitRows(ElementScope &scope, const Tile &tile, Value lo, Value hi, AffineExpr base,
                                           ValueRange init) {
  return emitLoop(scope, lo, hi, init, [&](Value iv, ValueRange carried) {
    ElementScope step(scope);
    std::optional<int64_t> fixed = constantOf(iv);
    AffineExpr inner = fixed ? space.constant(*fixed) : step.bind(iv, 0, parts.innerRows - 1);
    AffineExpr row = space.simplify(base + inner);
    SmallVector<Value> lifted;
    forSlots(step, tile, [&](ElementScope &lanes, AffineExpr output, int64_t) {
      SmallVector<Value> elements;
      for (Operation *op : parts.reductions)
        elements.push_back(lanes.element(op->getOperand(0), parts.index(space, output, row)));
      llvm::append_range(lifted, accumulators.lift(tile.width, elements, lanes.indexVector(row)));
    });
    return combineAll(tile, carried, lifted);
  });
}

SmallVector<Value> ColumnEmitter::emitChain(ElementScope &scope, const Tile &tile, Value block) {
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  Value lo = b.createOrFold<arith::MulIOp>(loc, block, scope.i64(blockRows));
  Value hi = b.createOrFold<arith::MinSIOp>(loc, b.createOrFold<arith::AddIOp>(loc, lo, scope.i64(blockRows)),
                                            scope.i64(parts.rows));
  int64_t run = parts.innerRows, runs = run ? parts.rows / run : 0;
  if (runs <= 1)
    return emitRows(scope, tile, lo, hi, space.constant(0), identities(tile));
  Value first = b.createOrFold<arith::DivUIOp>(loc, lo, scope.i64(run));
  Value behind = b.createOrFold<arith::AddIOp>(loc, hi, scope.i64(run - 1));
  behind = b.createOrFold<arith::DivUIOp>(loc, behind, scope.i64(run));
  return emitLoop(scope, first, behind, identities(tile), [&](Value iv, ValueRange carried) {
    ElementScope outer(scope);
    std::optional<int64_t> fixed = constantOf(iv);
    AffineExpr q = fixed ? space.constant(*fixed) : outer.bind(iv, 0, runs - 1);
    Value start = b.createOrFold<arith::MulIOp>(loc, iv, scope.i64(run));
    Value from = b.createOrFold<arith::MaxSIOp>(loc, b.createOrFold<arith::SubIOp>(loc, lo, start), scope.i64(0));
    Value to = b.createOrFold<arith::MinSIOp>(loc, b.createOrFold<arith::SubIOp>(loc, hi, start), scope.i64(run));
    return emitRows(outer, tile, from, to, q * run, carried);
  });
}

void ColumnEmitter::storeResults(ElementScope &scope, const Tile &tile, ValueRange sums) {
  size_t each = accumulators.size();
  SmallVector<SmallVector<Value>> values;
  forSlots(scope, tile, [&](ElementScope &lanes, AffineExpr output, int64_t slot) {
    SmallVector<AffineExpr> index = parts.outputIndex(space, output);
    SmallVector<Value> finished = accumulators.finish(tile.width, sums.slice(slot * each, each), parts.rows);
    for (auto [op, value] : llvm::zip(parts.reductions, finished))
      lanes.provide(op->getResult(0), index, value);
    SmallVector<Value> elements;
    for (Value result : resultsOf(parts.group))
      elements.push_back(lanes.element(result, index));
    for (auto [i, element] : llvm::enumerate(elements))
      lanes.store(resultMemory(kernel, parts.group, i), output, element);
  });
}

void ColumnEmitter::emitWhole() {
  int64_t tiles = parts.outputs / (width ? parts.innerKept : parts.outputs) * tilesOfRun();
  double nanoseconds = parts.nanoseconds * double(parts.rows) * double(parts.outputs) / double(tiles) + 5;
  kernel.parallelRange(tiles, 1, nanoseconds, [&](Value lo, Value hi) {
    ElementScope root(kernel, space);
    emitLoop(root, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
      ElementScope scope(root);
      std::optional<int64_t> fixed = constantOf(iv);
      AffineExpr iteration = fixed ? space.constant(*fixed) : scope.bind(iv, 0, tiles - 1);
      emitTile(scope, iteration, [&](ElementScope &inside, const Tile &tile) {
        SmallVector<Value> sums;
        if (blocksOf(parts) == 1)
          sums = emitChain(inside, tile, inside.i64(0));
        else
          sums = emitLoop(inside, inside.i64(0), inside.i64(blocksOf(parts)), identities(tile),
                          [&](Value block, ValueRange carried) {
                            ElementScope each(inside);
                            return combineAll(tile, carried, emitChain(each, tile, block));
                          });
        storeResults(inside, tile, sums);
      });
      return {};
    });
  });
}

static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

SmallVector<Memory> ColumnEmitter::partials() {
  SmallVector<Memory> memories;
  int64_t offset = 0;
  for (Type type : accumulators.getTypes()) {
    memories.push_back(kernel.workspace(offset, type));
    offset += aligned(blocksOf(parts) * parts.outputs * bytesOf(type));
  }
  return memories;
}

// partial[block][output], then the same tiles again to combine them.
void ColumnEmitter::emitSplit() {
  int64_t tiles = parts.outputs / (width ? parts.innerKept : parts.outputs) * tilesOfRun();
  int64_t all = blocksOf(parts) * parts.outputs;
  size_t each = accumulators.size();
  double perTile = parts.nanoseconds * double(blockRows) * double(parts.outputs) / double(tiles) + 5;
  kernel.parallelRange(tiles * blocksOf(parts), 1, perTile, [&](Value lo, Value hi) {
    ElementScope root(kernel, space);
    emitLoop(root, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
      ElementScope scope(root);
      AffineExpr iteration = scope.bind(iv, 0, tiles * blocksOf(parts) - 1);
      AffineExpr block = space.simplify(iteration % blocksOf(parts));
      emitTile(scope, space.simplify(iteration.floorDiv(blocksOf(parts))), [&](ElementScope &inside, const Tile &tile) {
        SmallVector<Value> sums = emitChain(inside, tile, inside.index(block));
        SmallVector<Memory> memories = partials();
        forSlots(inside, tile, [&](ElementScope &lanes, AffineExpr output, int64_t slot) {
          for (size_t a = 0; a < each; ++a)
            lanes.store(memories[a], space.simplify(block * parts.outputs + output), sums[slot * each + a]);
        });
      });
      return {};
    });
  });
  kernel.parallelRange(tiles, 1, 5.0 * double(slots) * double(blocksOf(parts)), [&](Value lo, Value hi) {
    ElementScope root(kernel, space);
    emitLoop(root, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
      ElementScope scope(root);
      std::optional<int64_t> fixed = constantOf(iv);
      AffineExpr iteration = fixed ? space.constant(*fixed) : scope.bind(iv, 0, tiles - 1);
      emitTile(scope, iteration, [&](ElementScope &inside, const Tile &tile) {
        SmallVector<Memory> memories = partials();
        SmallVector<Value> sums = emitLoop(
            inside, inside.i64(0), inside.i64(blocksOf(parts)), identities(tile), [&](Value iv, ValueRange carried) {
              ElementScope step(inside);
              AffineExpr block = step.bind(iv, 0, blocksOf(parts) - 1);
              SmallVector<Value> loaded;
              forSlots(step, tile, [&](ElementScope &lanes, AffineExpr output, int64_t) {
                for (const Memory &memory : memories)
                  loaded.push_back(lanes.load(memory, all, space.simplify(block * parts.outputs + output)));
              });
              return combineAll(tile, carried, loaded);
            });
        storeResults(inside, tile, sums);
      });
      return {};
    });
  });
}

void ColumnEmitter::emit() {
  if (parts.outputs == 0)
    return;
  if (isSplit(parts))
    emitSplit();
  else
    emitWhole();
}

LogicalResult codegen::emitColumn(KernelBuilder &kernel, dl::GroupOp group) {
  IndexSpace space(group.getContext());
  FailureOr<ColumnGroup> parts = ColumnGroup::analyse(group, space);
  if (failed(parts))
    return failure();
  ColumnEmitter(kernel, space, *parts).emit();
  return success();
}

int64_t codegen::columnWorkspaceBytes(dl::GroupOp group) {
  IndexSpace space(group.getContext());
  FailureOr<ColumnGroup> parts = ColumnGroup::analyse(group, space);
  if (failed(parts) || !isSplit(*parts))
    return 0;
  int64_t bytes = 0;
  for (Operation *op : parts->reductions)
    for (Type type : cast<dl::ReductionOpInterface>(op).getAccumulatorTypes())
      bytes += aligned(blocksOf(*parts) * parts->outputs * bytesOf(type));
  return bytes;
}
