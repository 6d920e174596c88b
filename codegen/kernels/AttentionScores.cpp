// Scores of a block of queries and keys as [key][query], from products to weights.
#include "kernels/Attention.h"

#include "contraction/PlaneCopy.h"
#include "contraction/TileLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

void AttentionEmitter::transposeQueries(Value depth, int64_t extent) {
  for (int64_t vector = 0; vector < vectors; ++vector) {
    auto square = [&](Value column, int64_t live) {
      SmallVector<Value> rows;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value row = scaled(kernel, queryRow(vector * lanes + lane), dims.depth);
        rows.push_back(loadLanes(kernel, q, add(kernel, row, add(kernel, depth, column)), 1, live, lanes));
      }
      rows = transposeSquare(kernel, std::move(rows));
      Value to = addOffset(kernel, scaled(kernel, column, block), vector * lanes);
      for (int64_t i = 0; i < live; ++i)
        kernel.store(queriesT, addOffset(kernel, to, i * block), Lane{lanes}, rows[size_t(i)]);
    };
    int64_t whole = extent / lanes;
    forLoop(kernel, i64(kernel, 0), i64(kernel, whole), [&](Value i) { square(scaled(kernel, i, lanes), lanes); });
    if (extent % lanes)
      square(i64(kernel, whole * lanes), extent % lanes);
  }
}

void AttentionEmitter::addScores(Value base, int64_t extent, Value limit, Value depth, int64_t depthExtent,
                                 bool isFirst) {
  RegisterTile tile;
  tile.element = element;
  tile.lanes = lanes;
  tile.loops = {{depthExtent, 1, block}};
  for (int64_t vector = 0; vector < vectors; ++vector)
    tile.columns.push_back({vector * lanes, lanes});
  auto split = TileSplit::of(extent, mostTileRows(vectors, traits));
  Value tiles = i64(kernel, split.count());
  if (op.getCausal()) // a tile has at least `size` keys
    tiles = smaller(tiles, ceilDiv(limit, split.size));
  forEachTile(kernel, split, i64(kernel, 0), tiles, [&](Value firstKey, int64_t height) {
    tile.rows.clear();
    for (int64_t row = 0; row < height; ++row)
      tile.rows.push_back(row * dims.depth);
    Value key = add(kernel, add(kernel, scaled(kernel, batch, dims.keys), base), firstKey);
    SmallVector<Value> sums =
        tile.emit(kernel, k, add(kernel, scaled(kernel, key, dims.depth), depth), queriesT, i64(kernel, 0));
    Value to = scaled(kernel, firstKey, block);
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value offset = addOffset(kernel, to, int64_t(i) * lanes);
      kernel.store(scores, offset, Lane{lanes},
                   isFirst ? sum : scalar.add(kernel.load(scores, offset, 1, Lane{lanes}), sum));
    }
  });
}

void AttentionEmitter::emitScores(Value base, int64_t extent, Value limit) {
  Value start = i64(kernel, 0);
  if (dims.depth <= depthBlock)
    return addScores(base, extent, limit, start, dims.depth, true);
  auto addBlock = [&](Value depth, int64_t depthExtent, bool isFirst) {
    transposeQueries(depth, depthExtent);
    addScores(base, extent, limit, depth, depthExtent, isFirst);
  };
  int64_t whole = (dims.depth - 1) / depthBlock; // all but the last
  addBlock(start, depthBlock, true);
  forLoop(kernel, i64(kernel, 1), i64(kernel, whole),
          [&](Value i) { addBlock(scaled(kernel, i, depthBlock), depthBlock, false); });
  addBlock(i64(kernel, whole * depthBlock), dims.depth - whole * depthBlock, false);
}

// [key][lane of queries], from rows of a query's keys; an i1 mask as 1 or 0.
SmallVector<Value> AttentionEmitter::loadMasks(Value key, int64_t vector, int64_t live) {
  SmallVector<Value> rows;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value offset = add(kernel, scaled(kernel, queryRow(vector * lanes + lane), dims.keys), key);
    Value row = loadLanes(kernel, mask, offset, 1, live, lanes);
    if (!isa<FloatType>(mask.element))
      row = scalar.select(row, scalar.constant(1.0, element), scalar.constant(0.0, element));
    rows.push_back(row);
  }
  return transposeSquare(kernel, std::move(rows));
}

// Scale, mask and maximum for one key; `masks` is empty or has one vector a group of lanes.
SmallVector<Value> AttentionEmitter::finishKey(Value base, Value key, ArrayRef<Value> masks, ArrayRef<Value> max) {
  Value lowest = scalar.constant(-std::numeric_limits<double>::infinity(), element), number;
  if (op.getCausal())
    number = splatI32(add(kernel, base, key));
  Vectors next;
  for (int64_t vector = 0; vector < vectors; ++vector) {
    Value offset = addOffset(kernel, scaled(kernel, key, block), vector * lanes);
    Value score = kernel.load(scores, offset, 1, Lane{lanes});
    score = scalar.mul(score, scalar.constant(op.getScale().convertToDouble(), element));
    if (!masks.empty() && isa<FloatType>(mask.element))
      score = scalar.add(score, masks[size_t(vector)]);
    else if (!masks.empty())
      score = scalar.select(scalar.ne(masks[size_t(vector)], scalar.constant(0.0, element)), score, lowest);
    if (number)
      score = scalar.select(scalar.le(number, queries[size_t(vector)]), score, lowest);
    kernel.store(scores, offset, Lane{lanes}, score);
    next.push_back(scalar.maximum(max[size_t(vector)], score));
  }
  return next;
}

SmallVector<Value> AttentionEmitter::finishScores(Value base, int64_t extent, Value limit, ArrayRef<Value> max) {
  Value zero = i64(kernel, 0);
  if (!op.getMask())
    return loop(zero, limit, max,
                [&](Value key, ArrayRef<Value> carried) { return finishKey(base, key, {}, carried); });
  auto keys = [&](Value firstKey, int64_t live, ArrayRef<Value> carried) {
    SmallVector<Vectors> masks; // [group of lanes][key]
    for (int64_t vector = 0; vector < vectors; ++vector)
      masks.push_back(loadMasks(add(kernel, base, firstKey), vector, live));
    Vectors next(carried);
    for (int64_t i = 0; i < live; ++i) {
      Vectors ofKey = llvm::map_to_vector(masks, [&](const Vectors &group) { return group[size_t(i)]; });
      next = finishKey(base, addOffset(kernel, firstKey, i), ofKey, next);
    }
    return next;
  };
  int64_t whole = extent / lanes, rest = extent % lanes;
  // The limit is a multiple of 32, or all of the keys.
  Value steps = op.getCausal() ? Value(arith::DivUIOp::create(b, loc, limit, i64(kernel, lanes))) : i64(kernel, whole);
  Vectors next = loop(zero, steps, max, [&](Value step, ArrayRef<Value> carried) {
    return keys(scaled(kernel, step, lanes), lanes, carried);
  });
  if (!rest)
    return next;
  auto last = [&] { return keys(i64(kernel, whole * lanes), rest, next); };
  if (!op.getCausal())
    return last();
  return emitIf(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, limit, i64(kernel, extent)), next, last);
}

// Scores become weights.
SmallVector<Value> AttentionEmitter::exponentials(Value limit, ArrayRef<Value> shift) {
  return loop(i64(kernel, 0), limit, repeated(0.0), [&](Value key, ArrayRef<Value> carried) {
    Vectors next;
    for (int64_t vector = 0; vector < vectors; ++vector) {
      Value offset = addOffset(kernel, scaled(kernel, key, block), vector * lanes);
      Value score = kernel.load(scores, offset, 1, Lane{lanes});
      Value weight = scalar.exp(scalar.sub(score, shift[size_t(vector)]));
      kernel.store(scores, offset, Lane{lanes}, weight);
      next.push_back(scalar.add(carried[size_t(vector)], weight));
    }
    return next;
  });
}
