// Attention, forward, with an online softmax (Dao et al. 2022): scores exist for a tile of queries and keys at a time.
// A block has some queries of a batch and some columns of y, nearly always all; 16 threads share a query.
//
//   Q to shared memory, if all of its depth fits
//   for each tile of keys, with `causal` up to the block's last query:
//     for each chunk of the depth:  K (and Q) to shared memory; barrier; scores
//     score * scale + mask; largest so far, over the 16 threads by shuffles
//     sum and y fade by exp(old largest - new one); weights exp(score - largest) to shared memory
//     for each part of the tile:    V to shared memory, in place of K; barrier; y
//   y / sum;  lse = largest + log(sum)
//
// Order of additions: a score is one fma chain over the depth, an element of y one over the keys but for its fading. A
// sum has 16 chains, of keys j mod 16, each a sum of the thread's keys of a tile added by the fma that lets it fade; at
// the end chain i comes to chain i ^ 8, …, i ^ 1.
#include "dlc/ir/Attention.h"

#include "gpu/AttentionTile.h"
#include "gpu/GpuRegistry.h"

#include "dlc/ir/ScalarBuilder.h"
#include "kernels/ElementScope.h"
#include "kernels/Epilogue.h"
#include "kernels/GroupAnalysis.h"
#include "kernels/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

constexpr double lowest = -std::numeric_limits<double>::infinity();

Lane laneOf(int64_t width) { return Lane{width > 1 ? width : 0}; }

/// A part of a matrix [extent, columns] of the block's batch, and where it goes: what does not exist becomes 0.
struct Slab {
  unsigned operand;
  int64_t extent, columns;
  AffineExpr firstRow, firstColumn;
  int64_t rows, width; ///< width: of a row, a multiple of what a vector of `columns` may be
  int64_t pitch;
  Memory to;
};

class AttentionKernel {
public:
  AttentionKernel(GpuKernelBuilder &kernel, dl::GroupOp group, dl::AttentionOp op)
      : kernel(kernel), b(kernel.getBuilder()), loc(kernel.getLoc()), group(group), op(op), dims(op.getDims()),
        element(getElementTypeOrSelf(op.getY().getType())), tile(AttentionTile::of(dims, element)),
        space(op.getContext()), scalar(b, loc, 0) {}

  LogicalResult emit();

private:
  using Vectors = SmallVector<Value>;
  /// What is known of the thread's queries: largest score, the thread's part of the sum, columns of y.
  struct State {
    Vectors max, sum, y;

    Vectors pack() const;
    static State unpack(ValueRange all, const AttentionTile &tile);
  };

  void emitBlock();
  State visitKeys(ElementScope &scope, AffineExpr keys, const State &before);
  Vectors scores(ElementScope &scope, AffineExpr keys);
  Vectors addScores(ElementScope &scope, ValueRange scores);
  void finishScores(ElementScope &scope, AffineExpr keys, Vectors &scores);
  State weigh(ElementScope &scope, const State &before, ArrayRef<Value> scores);
  Vectors addValues(ElementScope &scope, AffineExpr keys, ArrayRef<Value> y);
  Vectors addPart(ElementScope &scope, AffineExpr part, ValueRange y);
  void store(ElementScope &scope, const State &state);

  void stage(ElementScope &scope, const Slab &slab);
  void stageVectors(ElementScope &scope, const Slab &slab, int64_t width, AffineExpr first, int64_t count);
  Vectors fragment(Memory memory, Value base, int64_t offset, int64_t width);

  AffineExpr queryOf(int64_t i) { return space.simplify(firstQuery + query * tile.each + i); }
  /// i1; null: always.
  Value inside(ElementScope &scope, AffineExpr number, int64_t extent);
  Value both(Value a, Value c) { return !a ? c : !c ? a : scalar.bitAnd(a, c); }
  Value constant(double value) { return scalar.constant(value, element); }
  Value shiftOf(Value max);
  Value plus(Value base, int64_t offset);
  /// Of the 16 threads of a query.
  Value combined(Value value, llvm::function_ref<Value(Value, Value)> combine);

  GpuKernelBuilder &kernel;
  OpBuilder &b;
  Location loc;
  dl::GroupOp group;
  dl::AttentionOp op;
  dl::AttentionDims dims;
  Type element;
  AttentionTile tile;
  IndexSpace space;
  dl::ScalarBuilder scalar;
  SmallVector<unsigned> operands;

  AffineExpr batch, firstQuery, firstColumn; ///< of the block
  AffineExpr thread, query, across;          ///< number in the block, and in both directions
  Memory queries, keysOrValues, weights;     ///< shared: [query][depth], [key][depth] or [key][column], [query][key]
};

} // namespace

SmallVector<Value> AttentionKernel::State::pack() const {
  Vectors all(max);
  llvm::append_range(all, sum);
  llvm::append_range(all, y);
  return all;
}

AttentionKernel::State AttentionKernel::State::unpack(ValueRange all, const AttentionTile &tile) {
  auto each = size_t(tile.each);
  return {Vectors(all.take_front(each)), Vectors(all.slice(each, each)), Vectors(all.drop_front(2 * each))};
}

Value AttentionKernel::inside(ElementScope &scope, AffineExpr number, int64_t extent) {
  if (space.contains(number, 0, extent))
    return {};
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, scope.index(number), scope.i64(extent));
}

Value AttentionKernel::plus(Value base, int64_t offset) {
  if (!offset)
    return base;
  Value constant = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(offset));
  return arith::AddIOp::create(b, loc, base, constant);
}

Value AttentionKernel::combined(Value value, llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t mask = AttentionTile::across / 2; mask; mask /= 2)
    value = combine(value, kernel.shuffleXor(value, mask));
  return value;
}

// What scores are lowered by before exp: the largest one, if finite (a NaN stays).
Value AttentionKernel::shiftOf(Value max) {
  return scalar.select(scalar.eq(scalar.abs(max), constant(-lowest)), constant(0.0), max);
}

// All loads come before the stores: they are under way together.
void AttentionKernel::stageVectors(ElementScope &scope, const Slab &slab, int64_t width, AffineExpr first,
                                   int64_t count) {
  int64_t ofRow = slab.width / width, vectors = slab.rows * ofRow;
  dl::ScalarBuilder lanes(b, loc, laneOf(width).width);
  Memory from = kernel.operand(operands[slab.operand], element), to = slab.to;
  from.divisor = to.divisor = width;
  Vectors values;
  SmallVector<AffineExpr> numbers;
  for (int64_t i = 0; i < count; ++i) {
    AffineExpr number = space.simplify(first + thread + i * tile.threads());
    AffineExpr row = space.simplify(slab.firstRow + number.floorDiv(ofRow));
    AffineExpr column = space.simplify(slab.firstColumn + number % ofRow * width);
    Value live = both(inside(scope, row, slab.extent), inside(scope, column, slab.columns));
    Value at = scope.index(space.simplify((batch * slab.extent + row) * slab.columns + column));
    if (live)
      at = arith::SelectOp::create(b, loc, live, at, scope.i64(0));
    Value value = kernel.load(from, at, 1, laneOf(width));
    if (live)
      value = arith::SelectOp::create(b, loc, live, value, lanes.constant(0.0, element));
    values.push_back(value);
    numbers.push_back(number);
  }
  for (auto [number, value] : llvm::zip_equal(numbers, values)) {
    Value at = scope.index(space.simplify(number.floorDiv(ofRow) * slab.pitch + number % ofRow * width));
    emitIf(scope, inside(scope, number, vectors), {}, [&, value = value]() -> Vectors {
      kernel.store(to, at, laneOf(width), value);
      return {};
    });
  }
}

void AttentionKernel::stage(ElementScope &scope, const Slab &slab) {
  constexpr int64_t atOnce = 8;
  int64_t width = kernel.lanesOf(element);
  while (slab.columns % width)
    width /= 2;
  int64_t vectors = slab.rows * slab.width / width;
  int64_t count = int64_t(llvm::divideCeil(uint64_t(vectors), uint64_t(tile.threads())));
  int64_t steps = int64_t(llvm::divideCeil(uint64_t(count), uint64_t(atOnce)));
  emitLoop(scope, scope.i64(0), scope.i64(steps), {}, [&](Value iv, ValueRange) -> Vectors {
    ElementScope step(scope);
    AffineExpr first = step.bind(iv, 0, steps - 1) * (atOnce * tile.threads());
    stageVectors(step, slab, width, steps > 1 ? first : space.constant(0), std::min(count, atOnce));
    return {};
  });
}

// `width` neighbours in shared memory, all of them aligned as a vector is.
SmallVector<Value> AttentionKernel::fragment(Memory memory, Value base, int64_t offset, int64_t width) {
  memory.divisor = width;
  Value value = kernel.load(memory, plus(base, offset), 1, laneOf(width));
  if (width == 1)
    return {value};
  Vectors values;
  for (int64_t lane = 0; lane < width; ++lane)
    values.push_back(vector::ExtractOp::create(b, loc, value, lane));
  return values;
}

// One chunk of the depth.
SmallVector<Value> AttentionKernel::addScores(ElementScope &scope, ValueRange scores) {
  int64_t lanes = kernel.lanesOf(element), vectors = tile.depth / lanes, written = 4;
  while (vectors % written)
    --written;
  return emitLoop(scope, scope.i64(0), scope.i64(vectors / written), scores, [&](Value iv, ValueRange carried) {
    ElementScope step(scope);
    AffineExpr term = step.bind(iv, 0, vectors / written - 1) * (written * lanes);
    Value ofQueries = step.index(space.simplify(query * (tile.each * tile.pitch()) + term));
    Value ofKeys = step.index(space.simplify(across * tile.pitch() + term));
    Vectors sums(carried);
    for (int64_t vector = 0; vector < written; ++vector) {
      SmallVector<Vectors> left, right;
      for (int64_t i = 0; i < tile.each; ++i)
        left.push_back(fragment(queries, ofQueries, i * tile.pitch() + vector * lanes, lanes));
      for (int64_t j = 0; j < tile.eachKeys(); ++j)
        right.push_back(
            fragment(keysOrValues, ofKeys, j * AttentionTile::across * tile.pitch() + vector * lanes, lanes));
      for (int64_t lane = 0; lane < lanes; ++lane)
        for (auto [number, sum] : llvm::enumerate(sums))
          sum = scalar.fma(left[number / right.size()][size_t(lane)], right[number % right.size()][size_t(lane)], sum);
    }
    return sums;
  });
}

SmallVector<Value> AttentionKernel::scores(ElementScope &scope, AffineExpr keys) {
  Vectors zeros(size_t(tile.each * tile.eachKeys()), constant(0.0));
  if (!tile.chunks)
    kernel.barrier(); // weights of the tile before have been read
  return emitLoop(scope, scope.i64(0), scope.i64(tile.chunks), zeros, [&](Value iv, ValueRange carried) {
    ElementScope chunk(scope);
    AffineExpr term = space.simplify(chunk.bind(iv, 0, tile.chunks - 1) * tile.depth);
    kernel.barrier();
    if (tile.chunks > 1)
      stage(chunk, {0, dims.queries, dims.depth, firstQuery, term, tile.queries(), tile.depth, tile.pitch(), queries});
    stage(chunk, {1, dims.keys, dims.depth, keys, term, tile.keys, tile.depth, tile.pitch(), keysOrValues});
    kernel.barrier();
    return addScores(chunk, carried);
  });
}

// Scale and mask.
void AttentionKernel::finishScores(ElementScope &scope, AffineExpr keys, Vectors &scores) {
  auto clamped = [&](AffineExpr number, int64_t extent) {
    if (space.contains(number, 0, extent))
      return number;
    return scope.bind(arith::MinUIOp::create(b, loc, scope.index(number), scope.i64(extent - 1)), 0, extent - 1);
  };
  Value none = constant(lowest);
  for (int64_t i = 0; i < tile.each; ++i)
    for (int64_t j = 0; j < tile.eachKeys(); ++j) {
      AffineExpr key = space.simplify(keys + across + j * AttentionTile::across);
      Value &score = scores[size_t(i * tile.eachKeys() + j)], live = inside(scope, key, dims.keys);
      score = scalar.mul(score, constant(op.getScale().convertToDouble()));
      if (op.getMask()) {
        Memory memory = kernel.operand(operands[3], getElementTypeOrSelf(op.getMask().getType()));
        AffineExpr row = batch * dims.queries + clamped(queryOf(i), dims.queries);
        AffineExpr offset = space.simplify(row * dims.keys + clamped(key, dims.keys));
        Value mask = kernel.load(memory, scope.index(offset), 1, Lane{});
        if (isa<FloatType>(memory.element))
          score = scalar.add(score, mask);
        else
          live = both(live, mask);
      }
      if (op.getCausal())
        live = both(live, scalar.le(scope.index(key), scope.index(queryOf(i))));
      if (live)
        score = scalar.select(live, score, none);
    }
}

// Scores become weights in shared memory.
AttentionKernel::State AttentionKernel::weigh(ElementScope &scope, const State &before, ArrayRef<Value> scores) {
  State state;
  Value base = scope.index(space.simplify(query * (tile.each * tile.weightPitch()) + across));
  for (int64_t i = 0; i < tile.each; ++i) {
    ArrayRef<Value> row = scores.slice(size_t(i * tile.eachKeys()), size_t(tile.eachKeys()));
    Value max = row[0], sum;
    for (Value score : row.drop_front())
      max = scalar.maximum(max, score);
    max = combined(max, [&](Value a, Value c) { return scalar.maximum(a, c); });
    max = scalar.maximum(before.max[size_t(i)], max);
    Value shift = shiftOf(max), fading = scalar.exp(scalar.sub(before.max[size_t(i)], shift));
    for (auto [j, score] : llvm::enumerate(row)) {
      Value weight = scalar.exp(scalar.sub(score, shift));
      sum = sum ? scalar.add(sum, weight) : weight;
      Value at = plus(base, i * tile.weightPitch() + int64_t(j) * AttentionTile::across);
      kernel.store(weights, at, Lane{}, weight);
    }
    state.max.push_back(max);
    state.sum.push_back(scalar.fma(before.sum[size_t(i)], fading, sum));
    for (int64_t column = 0; column < tile.eachColumns(); ++column)
      state.y.push_back(scalar.mul(before.y[size_t(i * tile.eachColumns() + column)], fading));
  }
  return state;
}

// The keys whose values are in shared memory.
SmallVector<Value> AttentionKernel::addPart(ElementScope &scope, AffineExpr part, ValueRange y) {
  int64_t lanes = kernel.lanesOf(element), vectors = tile.values / lanes;
  return emitLoop(scope, scope.i64(0), scope.i64(vectors), y, [&](Value iv, ValueRange carried) {
    ElementScope step(scope);
    AffineExpr key = step.bind(iv, 0, vectors - 1) * lanes;
    Value ofQueries = step.index(space.simplify(query * (tile.each * tile.weightPitch()) + part * tile.values + key));
    Value ofColumns = step.index(space.simplify(key * tile.columns + across * tile.group));
    SmallVector<Vectors> left;
    for (int64_t i = 0; i < tile.each; ++i)
      left.push_back(fragment(weights, ofQueries, i * tile.weightPitch(), lanes));
    Vectors sums(carried);
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t column = 0; column < tile.eachColumns(); column += tile.group) {
        int64_t offset = lane * tile.columns + column * AttentionTile::across;
        for (auto [n, value] : llvm::enumerate(fragment(keysOrValues, ofColumns, offset, tile.group)))
          for (int64_t i = 0; i < tile.each; ++i) {
            Value &sum = sums[size_t(i * tile.eachColumns() + column) + n];
            sum = scalar.fma(left[size_t(i)][size_t(lane)], value, sum);
          }
      }
    return sums;
  });
}

SmallVector<Value> AttentionKernel::addValues(ElementScope &scope, AffineExpr keys, ArrayRef<Value> y) {
  int64_t parts = tile.keys / tile.values;
  return emitLoop(scope, scope.i64(0), scope.i64(parts), y, [&](Value iv, ValueRange carried) {
    ElementScope step(scope);
    AffineExpr part = step.bind(iv, 0, parts - 1);
    AffineExpr first = space.simplify(keys + part * tile.values);
    kernel.barrier();
    stage(step, {2, dims.keys, dims.width, first, firstColumn, tile.values, tile.columns, tile.columns, keysOrValues});
    kernel.barrier();
    return addPart(step, part, carried);
  });
}

AttentionKernel::State AttentionKernel::visitKeys(ElementScope &scope, AffineExpr keys, const State &before) {
  Vectors each = scores(scope, keys);
  finishScores(scope, keys, each);
  State state = weigh(scope, before, each);
  if (tile.columns)
    state.y = addValues(scope, keys, state.y);
  return state;
}

void AttentionKernel::store(ElementScope &scope, const State &state) {
  int64_t width = tile.group;
  while (dims.width % width)
    width /= 2;
  Memory y = resultMemory(kernel, group, 0), lse = resultMemory(kernel, group, 1);
  y.divisor = width;
  for (int64_t i = 0; i < tile.each; ++i) {
    Value sum = combined(state.sum[size_t(i)], [&](Value a, Value c) { return scalar.add(a, c); });
    Value divisor = scalar.select(scalar.eq(sum, constant(0.0)), constant(1.0), sum);
    AffineExpr row = space.simplify(batch * dims.queries + queryOf(i));
    emitIf(scope, inside(scope, queryOf(i), dims.queries), {}, [&]() -> Vectors {
      Value isFirst = scalar.eq(scope.index(across), scope.i64(0));
      if (tile.blocks > 1)
        isFirst = both(isFirst, scalar.eq(scope.index(firstColumn), scope.i64(0)));
      emitIf(scope, isFirst, {}, [&]() -> Vectors {
        kernel.store(lse, scope.index(row), Lane{}, scalar.add(shiftOf(state.max[size_t(i)]), scalar.log(sum)));
        return {};
      });
      for (int64_t n = 0; n < tile.eachColumns(); n += width) {
        int64_t place = n / tile.group * tile.group * AttentionTile::across + n % tile.group;
        AffineExpr column = space.simplify(firstColumn + across * tile.group + place);
        emitIf(scope, inside(scope, column, dims.width), {}, [&]() -> Vectors {
          Vectors values;
          for (int64_t lane = 0; lane < width; ++lane)
            values.push_back(scalar.div(state.y[size_t(i * tile.eachColumns() + n + lane)], divisor));
          Value value = values[0];
          if (width > 1)
            value = vector::FromElementsOp::create(b, loc, VectorType::get({width}, element), values);
          kernel.store(y, scope.index(space.simplify(row * dims.width + column)), laneOf(width), value);
          return {};
        });
      }
      return {};
    });
  }
}

void AttentionKernel::emitBlock() {
  ElementScope root(kernel, space), block(root);
  int64_t blocks = int64_t(llvm::divideCeil(uint64_t(dims.queries), uint64_t(tile.queries())));
  AffineExpr number = block.bind(kernel.blockId(), 0, tile.blocks * blocks * dims.batch - 1);
  AffineExpr place = space.simplify(number.floorDiv(tile.blocks) % blocks);
  // The longest blocks start first.
  if (op.getCausal())
    place = space.simplify(blocks - 1 - place);
  firstColumn = space.simplify(number % tile.blocks * tile.columns);
  firstQuery = space.simplify(place * tile.queries());
  batch = space.simplify(number.floorDiv(tile.blocks * blocks));
  thread = block.bind(kernel.threadId(), 0, tile.threads() - 1);
  across = space.simplify(thread % AttentionTile::across);
  query = space.simplify(thread.floorDiv(AttentionTile::across));

  State state{Vectors(size_t(tile.each), constant(lowest)), Vectors(size_t(tile.each), constant(0.0)),
              Vectors(size_t(tile.each * tile.eachColumns()), constant(0.0))};
  int64_t count = int64_t(llvm::divideCeil(uint64_t(dims.keys), uint64_t(tile.keys)));
  if (count) {
    queries = kernel.shared(tile.queries() * tile.pitch(), element);
    keysOrValues = kernel.shared(std::max(tile.keys * tile.pitch(), tile.values * tile.columns), element);
    weights = kernel.shared(tile.queries() * tile.weightPitch(), element);
    if (tile.chunks == 1)
      stage(block, {0, dims.queries, dims.depth, firstQuery, space.constant(0), tile.queries(), tile.depth,
                    tile.pitch(), queries});
    Value steps = block.i64(count);
    if (op.getCausal() && count > 1) {
      AffineExpr behind = space.simplify((firstQuery + tile.queries() - 1).floorDiv(tile.keys) + 1);
      steps = arith::MinUIOp::create(b, loc, steps, block.index(behind));
    }
    Vectors all = emitLoop(block, block.i64(0), steps, state.pack(), [&](Value iv, ValueRange carried) {
      ElementScope scope(block);
      AffineExpr keys = space.simplify(scope.bind(iv, 0, count - 1) * tile.keys);
      return visitKeys(scope, keys, State::unpack(carried, tile)).pack();
    });
    state = State::unpack(all, tile);
  }
  store(block, state);
}

LogicalResult AttentionKernel::emit() {
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    FailureOr<unsigned> number = operandNumber(op, i);
    if (failed(number))
      return failure();
    operands.push_back(*number);
  }
  if (!yieldsResultsOf(group, op))
    return group.emitOpError("expects the results of attention and nothing else");
  int64_t blocks =
      dims.batch * tile.blocks * int64_t(llvm::divideCeil(uint64_t(dims.queries), uint64_t(tile.queries())));
  kernel.launch({blocks, 1, 1}, {tile.threads(), 1, 1}, [&] { emitBlock(); }, tile.registers);
  return success();
}

static LogicalResult emitAttention(GpuKernelBuilder &kernel, dl::GroupOp group, Operation *anchor) {
  return AttentionKernel(kernel, group, cast<dl::AttentionOp>(anchor)).emit();
}

void dlc::codegen::registerAttentionGpuKernels(GpuRegistry &registry) {
  registry.add<dl::AttentionOp>({emitAttention, nullptr});
}
