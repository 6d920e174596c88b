#include "contraction/RegisterTile.h"

#include "contraction/WideRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dlc::codegen {

Value i64(KernelBuilder &kernel, int64_t value) {
  OpBuilder &b = kernel.getBuilder();
  return arith::ConstantOp::create(b, kernel.getLoc(), b.getI64IntegerAttr(value));
}

Value add(KernelBuilder &kernel, Value a, Value b) {
  if (matchPattern(a, m_Zero()))
    return b;
  if (matchPattern(b, m_Zero()))
    return a;
  return arith::AddIOp::create(kernel.getBuilder(), kernel.getLoc(), a, b);
}

Value addOffset(KernelBuilder &kernel, Value base, int64_t offset) {
  return offset ? add(kernel, base, i64(kernel, offset)) : base;
}

Value scaled(KernelBuilder &kernel, Value value, int64_t factor) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return i64(kernel, constant.getInt() * factor);
  if (factor == 1)
    return value;
  return arith::MulIOp::create(kernel.getBuilder(), kernel.getLoc(), value, i64(kernel, factor));
}

void forLoop(KernelBuilder &kernel, Value lo, Value hi, llvm::function_ref<void(Value)> body) {
  OpBuilder &b = kernel.getBuilder();
  IntegerAttr first, last;
  if (matchPattern(lo, m_Constant(&first)) && matchPattern(hi, m_Constant(&last)) &&
      last.getInt() - first.getInt() <= 1) {
    if (first.getInt() < last.getInt())
      body(lo);
    return;
  }
  auto loop = scf::ForOp::create(b, kernel.getLoc(), lo, hi, i64(kernel, 1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Value prefixMask(KernelBuilder &kernel, int64_t live, int64_t lanes) {
  if (live >= lanes)
    return {};
  SmallVector<bool> bits(size_t(lanes), false);
  std::fill_n(bits.begin(), live, true);
  OpBuilder &b = kernel.getBuilder();
  TypedAttr value = DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), bits);
  return arith::ConstantOp::create(b, kernel.getLoc(), value);
}

Value loadLanes(KernelBuilder &kernel, Memory memory, Value offset, int64_t stride, int64_t live, int64_t lanes) {
  if (stride <= 1 || live >= lanes)
    return kernel.load(memory, offset, stride, Lane{lanes, prefixMask(kernel, live, lanes)});
  OpBuilder &b = kernel.getBuilder();
  TypedAttr zeros =
      DenseElementsAttr::get(VectorType::get({lanes}, memory.element), Attribute(b.getZeroAttr(memory.element)));
  Value vector = arith::ConstantOp::create(b, kernel.getLoc(), zeros);
  for (int64_t lane = 0; lane < live; ++lane) {
    Value element = kernel.load(memory, addOffset(kernel, offset, lane * stride), 1, Lane{});
    vector = vector::InsertOp::create(b, kernel.getLoc(), element, vector, lane);
  }
  return vector;
}

void storeLanes(KernelBuilder &kernel, Memory memory, Value offset, int64_t stride, int64_t live, Value vector) {
  int64_t lanes = cast<VectorType>(vector.getType()).getDimSize(0);
  if (stride == 1)
    return kernel.store(memory, offset, Lane{lanes, prefixMask(kernel, live, lanes)}, vector);
  for (int64_t lane = 0; lane < live; ++lane) {
    Value element = vector::ExtractOp::create(kernel.getBuilder(), kernel.getLoc(), vector, lane);
    kernel.store(memory, addOffset(kernel, offset, lane * stride), Lane{}, element);
  }
}

TileSplit TileSplit::of(int64_t extent, int64_t most) {
  int64_t count = std::max<int64_t>(1, (extent + most - 1) / most);
  return {extent / count, extent % count, count - extent % count};
}

void forEachTile(KernelBuilder &kernel, const TileSplit &split, Value lo, Value hi,
                 llvm::function_ref<void(Value first, int64_t height)> body) {
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  if (split.large) {
    Value end = arith::MinSIOp::create(b, loc, hi, i64(kernel, split.large));
    forLoop(kernel, lo, end, [&](Value tile) { body(scaled(kernel, tile, split.size + 1), split.size + 1); });
  }
  if (split.small && split.size) {
    Value start = split.large ? Value(arith::MaxSIOp::create(b, loc, lo, i64(kernel, split.large))) : lo;
    forLoop(kernel, start, hi,
            [&](Value tile) { body(addOffset(kernel, scaled(kernel, tile, split.size), split.large), split.size); });
  }
}

namespace {

using Accumulators = SmallVector<Value>;

// Steps that are written out one after the other; more only lengthens compilation.
constexpr int64_t kUnrolledSteps = 12;
constexpr int64_t kUnroll = 4;

/// Emits one tile; the state of the recursion over the loops.
class TileEmitter {
public:
  TileEmitter(KernelBuilder &kernel, const RegisterTile &tile, Memory a, Memory b)
      : kernel(kernel), b(kernel.getBuilder()), loc(kernel.getLoc()), tile(tile), a(a), bMemory(b),
        vector(VectorType::get({tile.lanes}, tile.element)) {}

  Accumulators constant(double value) {
    TypedAttr splat = DenseElementsAttr::get(vector, Attribute(b.getFloatAttr(tile.element, value)));
    return Accumulators(tile.rows.size() * tile.columns.size(), arith::ConstantOp::create(b, loc, splat));
  }

  /// Loops `level` and inner over their whole extents.
  Accumulators sum(size_t level, Value aBase, Value bBase, Accumulators in) {
    if (level == tile.loops.size())
      return step(aBase, bBase, std::move(in));
    return sum(level, tile.loops[level].extent, aBase, bBase, std::move(in));
  }

  /// The same with another extent of the outermost loop.
  Accumulators sum(size_t level, int64_t extent, Value aBase, Value bBase, Accumulators in) {
    const ReductionLoop &loop = tile.loops[level];
    int64_t inner = 1;
    for (size_t i = level + 1; i < tile.loops.size(); ++i)
      inner *= tile.loops[i].extent;
    if (extent * inner <= kUnrolledSteps)
      return unrolled(level, 0, extent, aBase, bBase, std::move(in));
    int64_t unroll = inner * kUnroll <= kUnrolledSteps ? kUnroll : 1;
    int64_t whole = extent / unroll * unroll;
    in = loopOver(whole, unroll, in, [&](Value i, Accumulators state) {
      Value aHere = add(kernel, aBase, scaled(kernel, i, loop.a)),
            bHere = add(kernel, bBase, scaled(kernel, i, loop.b));
      return unrolled(level, 0, unroll, aHere, bHere, std::move(state));
    });
    return unrolled(level, whole, extent, aBase, bBase, std::move(in));
  }

  /// One chain from 0.
  Accumulators chain(int64_t extent, Value aBase, Value bBase) {
    if (!tile.wideRows)
      return sum(0, extent, aBase, bBase, constant(0));
    RegisterTile wide = WideRows(kernel, tile, a).copy(aBase, extent);
    return TileEmitter(kernel, wide, *tile.wideRows, bMemory).sum(0, extent, i64(kernel, 0), bBase, constant(0));
  }

  /// Steps [first, first + extent) of the outermost loop, blocks added in order.
  Accumulators blocks(int64_t first, int64_t extent, Value aBase, Value bBase) {
    const ReductionLoop &loop = tile.loops[0];
    aBase = addOffset(kernel, aBase, first * loop.a);
    bBase = addOffset(kernel, bBase, first * loop.b);
    int64_t block = tile.blockExtent;
    if (block == 0 || block >= extent)
      return chain(extent, aBase, bBase);
    int64_t whole = (extent - 1) / block; // all blocks but the last
    // Totals start from -0, which leaves the first block's bits as they are.
    Accumulators totals = loopOver(whole, 1, constant(-0.0), [&](Value number, Accumulators state) {
      Value aHere = add(kernel, aBase, scaled(kernel, number, block * loop.a));
      Value bHere = add(kernel, bBase, scaled(kernel, number, block * loop.b));
      return added(std::move(state), chain(block, aHere, bHere));
    });
    int64_t done = whole * block;
    return added(std::move(totals), chain(extent - done, addOffset(kernel, aBase, done * loop.a),
                                          addOffset(kernel, bBase, done * loop.b)));
  }

  /// The tree over `count` leaves from `leaf` on; empty where none of them has steps.
  Accumulators tree(int64_t leaf, int64_t count, Value aBase, Value bBase) {
    int64_t first = leaf * tile.leafExtent, left = tile.loops[0].extent - first;
    if (left <= 0)
      return {};
    if (count == 1)
      return blocks(first, std::min(tile.leafExtent, left), aBase, bBase);
    Accumulators lower = tree(leaf, count / 2, aBase, bBase);
    Accumulators upper = tree(leaf + count / 2, count / 2, aBase, bBase);
    return upper.empty() ? lower : added(std::move(lower), upper);
  }

  template <typename Body>
  Accumulators loopOver(int64_t extent, int64_t step, const Accumulators &in, Body body) {
    auto loop = scf::ForOp::create(b, loc, i64(kernel, 0), i64(kernel, extent), i64(kernel, step), in);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(b, loc, body(loop.getInductionVar(), Accumulators(loop.getRegionIterArgs())));
    return Accumulators(loop.getResults());
  }

  Accumulators added(Accumulators left, const Accumulators &right) {
    for (auto [sum, term] : llvm::zip(left, right))
      sum = arith::AddFOp::create(b, loc, sum, term);
    return left;
  }

private:
  Accumulators unrolled(size_t level, int64_t first, int64_t last, Value aBase, Value bBase, Accumulators state) {
    const ReductionLoop &loop = tile.loops[level];
    for (int64_t i = first; i < last; ++i)
      state =
          sum(level + 1, addOffset(kernel, aBase, i * loop.a), addOffset(kernel, bBase, i * loop.b), std::move(state));
    return state;
  }

  Accumulators step(Value aBase, Value bBase, Accumulators state) {
    SmallVector<Value> columns;
    for (const RegisterTile::Column &column : tile.columns)
      columns.push_back(loadLanes(kernel, bMemory, addOffset(kernel, bBase, column.offset), tile.laneStride,
                                  column.live, tile.lanes));
    for (size_t row = 0; row < tile.rows.size(); ++row) {
      Value factor = kernel.load(a, addOffset(kernel, aBase, tile.rows[row]), 0, Lane{tile.lanes});
      for (size_t column = 0; column < columns.size(); ++column) {
        Value &accumulator = state[row * columns.size() + column];
        accumulator = math::FmaOp::create(b, loc, factor, columns[column], accumulator);
      }
    }
    return state;
  }

  KernelBuilder &kernel;
  OpBuilder &b;
  Location loc;
  const RegisterTile &tile;
  Memory a, bMemory;
  VectorType vector;
};

} // namespace

SmallVector<Value> RegisterTile::emit(KernelBuilder &kernel, Memory a, Value aBase, Memory b, Value bBase,
                                      ArrayRef<Value> start) const {
  TileEmitter emitter(kernel, *this, a, b);
  if (!start.empty())
    return emitter.sum(0, aBase, bBase, Accumulators(start));
  if (loops.empty() || loops[0].extent == 0)
    return emitter.sum(0, aBase, bBase, emitter.constant(0));
  if (leaves > 1)
    return emitter.tree(0, leaves, aBase, bBase);
  return emitter.blocks(0, loops[0].extent, aBase, bBase);
}

} // namespace dlc::codegen
