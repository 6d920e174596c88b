// Attention, forward. A thread takes blocks of queries, one query a lane: scores lie as [key][query], so maximum, exp
// and sum need no lane to know of another, and neither block nor vector width shows in a result. Scores exist for one
// block of keys at a time:
//   score    one fma chain over the depth within blocks of contractionBlock(depth), blocks added in order; times scale
//   sum      one chain over a block's keys from 0;  weighted sum of v: one fma chain over a block's keys from 0
//   blocks   of 256 keys; what is known so far is scaled by exp(old maximum - new maximum), then one fma adds the new
// With `causal`, keys after a block's last query are left out in steps of 32: their weights are exact zeros.
#include "kernels/Attention.h"

#include "contraction/MatrixProduct.h"
#include "contraction/TileLimits.h"
#include "kernels/Epilogue.h"
#include "kernels/KernelRegistry.h"
#include "kernels/WideOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

static constexpr int64_t kKeyBlock = 256, kCausalStep = 32;
static constexpr double kLowest = -std::numeric_limits<double>::infinity(), kNanosecondsPerExp = 0.4;

AttentionEmitter::AttentionEmitter(KernelBuilder &kernel, dl::GroupOp group, dl::AttentionOp op,
                                   const CpuTraits &traits)
    : kernel(kernel), b(kernel.getBuilder()), loc(kernel.getLoc()), group(group), op(op), traits(traits),
      dims(op.getDims()), element(getElementTypeOrSelf(op.getY().getType())),
      lanes(lanesFor(dims.queries, bytesOf(element), traits)), vectors(dims.queries > lanes ? 2 : 1),
      block(lanes * vectors), depthBlock(contractionBlock(dims.depth)), scalar(b, loc, lanes) {}

static bool isOneBlock(const dl::AttentionDims &dims) { return dims.keys > 0 && dims.keys <= kKeyBlock; }
bool AttentionEmitter::isOneBlock() const { return ::isOneBlock(dims); }

/// Bytes of rows of y that grow from block to block and are of 16 bits in the end.
static int64_t sumBytes(dl::AttentionOp op) {
  bool needed = isReadNarrow(op, 0) && !isOneBlock(op.getDims());
  return needed ? product(shapeOf(op.getY())) * bytesOf(getElementTypeOrSelf(op.getY().getType())) : 0;
}

int64_t AttentionEmitter::columnLanes() const { return lanesFor(dims.width, bytesOf(element), traits); }

Value AttentionEmitter::smaller(Value a, Value other) { return arith::MinSIOp::create(b, loc, a, other); }

Value AttentionEmitter::ceilDiv(Value a, int64_t divisor) {
  return arith::DivUIOp::create(b, loc, addOffset(kernel, a, divisor - 1), i64(kernel, divisor));
}

Value AttentionEmitter::splatI32(Value number) {
  Value narrow = arith::TruncIOp::create(b, loc, b.getI32Type(), number);
  return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()), narrow);
}

Value AttentionEmitter::outputRow(Value row) {
  Value query = add(kernel, add(kernel, scaled(kernel, batch, dims.queries), first), row);
  return scaled(kernel, query, dims.width);
}

SmallVector<Value> AttentionEmitter::queryNumbers() {
  Value base = splatI32(first);
  Vectors numbers;
  for (int64_t vector = 0; vector < vectors; ++vector) {
    auto offsets = llvm::to_vector(llvm::seq<int32_t>(int32_t(vector * lanes), int32_t((vector + 1) * lanes)));
    TypedAttr constant = DenseElementsAttr::get(cast<VectorType>(base.getType()), ArrayRef<int32_t>(offsets));
    numbers.push_back(scalar.add(base, arith::ConstantOp::create(b, loc, constant)));
  }
  return numbers;
}

SmallVector<Value> AttentionEmitter::loop(Value lo, Value hi, ArrayRef<Value> init,
                                          llvm::function_ref<SmallVector<Value>(Value, ArrayRef<Value>)> body) {
  auto loop = scf::ForOp::create(b, loc, lo, hi, i64(kernel, 1), ValueRange(init));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> carried(loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, body(loop.getInductionVar(), carried));
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> AttentionEmitter::emitIf(Value condition, ArrayRef<Value> otherwise,
                                            llvm::function_ref<SmallVector<Value>()> body) {
  auto branch = scf::IfOp::create(b, loc, ValueRange(otherwise).getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (Block *side : {branch.thenBlock(), branch.elseBlock()})
    side->clear();
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, body());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  return SmallVector<Value>(branch.getResults());
}

void AttentionEmitter::whenInside(Value row, llvm::function_ref<void()> body) {
  if (!isPartial())
    return body();
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, row, valid);
  emitIf(inside, {}, [&]() -> SmallVector<Value> {
    body();
    return {};
  });
}

void AttentionEmitter::forColumns(llvm::function_ref<void(Value, ArrayRef<RegisterTile::Column>)> body) {
  int64_t width = columnLanes() * columnVectors(), whole = dims.width / width, rest = dims.width % width;
  auto columns = [&](int64_t extent) {
    SmallVector<RegisterTile::Column> list;
    for (int64_t offset = 0; offset < extent; offset += columnLanes())
      list.push_back({offset, std::min(columnLanes(), extent - offset)});
    return list;
  };
  forLoop(kernel, i64(kernel, 0), i64(kernel, whole),
          [&](Value sliver) { body(scaled(kernel, sliver, width), columns(width)); });
  if (rest)
    body(i64(kernel, whole * width), columns(rest));
}

// Lanes behind the last query repeat it; they are not stored.
Value AttentionEmitter::queryRow(int64_t row) {
  Value query = addOffset(kernel, first, row);
  if (isPartial())
    query = smaller(query, i64(kernel, dims.queries - 1));
  return add(kernel, scaled(kernel, batch, dims.queries), query);
}

// One chain over the block's keys up to the limit.
SmallVector<Value> AttentionEmitter::weigh(RegisterTile &tile, Value row, Value value, int64_t extent, Value limit) {
  auto piece = [&](Value key, int64_t count, ArrayRef<Value> start) {
    tile.loops = {{count, block, dims.width}};
    return tile.emit(kernel, scores, add(kernel, row, scaled(kernel, key, block)), v,
                     add(kernel, value, scaled(kernel, key, dims.width)), start);
  };
  if (!op.getCausal())
    return piece(i64(kernel, 0), extent, {});
  dl::ScalarBuilder columns(b, loc, tile.lanes);
  SmallVector<Value> start(tile.rows.size() * tile.columns.size(), columns.constant(0.0, element));
  Value steps = arith::DivUIOp::create(b, loc, limit, i64(kernel, kCausalStep));
  SmallVector<Value> sums = loop(i64(kernel, 0), steps, start, [&](Value step, ArrayRef<Value> carried) {
    return piece(scaled(kernel, step, kCausalStep), kCausalStep, carried);
  });
  int64_t whole = extent / kCausalStep * kCausalStep;
  if (whole == extent)
    return sums;
  return emitIf(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, limit, i64(kernel, extent)), sums,
                [&] { return piece(i64(kernel, whole), extent - whole, sums); });
}

void AttentionEmitter::weighValues(Value base, int64_t extent, Value limit) {
  RegisterTile tile;
  tile.element = element;
  int64_t most = mostTileRows(columnVectors(), traits);
  auto split = TileSplit::of(block, most);
  Value tiles = i64(kernel, split.count());
  if (isPartial())
    tiles = smaller(tiles, ceilDiv(valid, split.size));
  Value values = scaled(kernel, add(kernel, scaled(kernel, batch, dims.keys), base), dims.width);
  forEachTile(kernel, split, i64(kernel, 0), tiles, [&](Value row, int64_t height) {
    tile.rows = llvm::to_vector(llvm::seq<int64_t>(0, height));
    forColumns([&](Value column, ArrayRef<RegisterTile::Column> columns) {
      tile.columns.assign(columns.begin(), columns.end());
      tile.lanes = columnLanes();
      SmallVector<Value> sums = weigh(tile, row, add(kernel, values, column), extent, limit);
      for (int64_t i = 0; i < height; ++i)
        storeRow(addOffset(kernel, row, i), column, columns,
                 ArrayRef(sums).slice(size_t(i) * columns.size(), columns.size()));
    });
  });
}

void AttentionEmitter::storeRow(Value row, Value column, ArrayRef<RegisterTile::Column> columns, ArrayRef<Value> sums) {
  whenInside(row, [&] {
    Value factor = kernel.load(perQuery, row, 0, Lane{columnLanes()}), to = add(kernel, outputRow(row), column);
    for (auto [place, sum] : llvm::zip_equal(columns, sums)) {
      Value offset = addOffset(kernel, to, place.offset);
      Value result = isOneBlock()
                         ? scalar.div(sum, factor)
                         : scalar.fma(loadLanes(kernel, outputs, offset, 1, place.live, columnLanes()), factor, sum);
      storeLanes(kernel, outputs, offset, 1, place.live, result);
    }
  });
}

// What scores are lowered by before exp: their maximum, if finite (a NaN stays).
Value AttentionEmitter::shiftOf(Value max) {
  Value infinite = scalar.eq(scalar.abs(max), scalar.constant(-kLowest, element));
  return scalar.select(infinite, scalar.constant(0.0, element), max);
}

void AttentionEmitter::storePerQuery(ArrayRef<Value> values) {
  for (auto [vector, value] : llvm::enumerate(values))
    kernel.store(perQuery, i64(kernel, int64_t(vector) * lanes), Lane{lanes}, value);
}

// A row without keys divides 0 by 1.
SmallVector<Value> AttentionEmitter::divisors(ArrayRef<Value> sums) {
  return llvm::map_to_vector(sums, [&](Value sum) {
    return scalar.select(scalar.eq(sum, scalar.constant(0.0, element)), scalar.constant(1.0, element), sum);
  });
}

AttentionEmitter::Sums AttentionEmitter::visitKeys(Value base, int64_t extent, Value limit, const Sums &before) {
  limit =
      op.getCausal() ? smaller(arith::SubIOp::create(b, loc, limit, base), i64(kernel, extent)) : i64(kernel, extent);
  emitScores(base, extent, limit);
  Sums sums;
  sums.max = finishScores(base, extent, limit, before.max);
  Vectors shift = llvm::map_to_vector(sums.max, [&](Value max) { return shiftOf(max); });
  sums.sum = exponentials(limit, shift);
  if (isOneBlock()) {
    storePerQuery(divisors(sums.sum));
  } else {
    Vectors fading;
    for (int64_t vector = 0; vector < vectors; ++vector) {
      fading.push_back(scalar.exp(scalar.sub(before.max[size_t(vector)], shift[size_t(vector)])));
      sums.sum[size_t(vector)] = scalar.fma(before.sum[size_t(vector)], fading.back(), sums.sum[size_t(vector)]);
    }
    storePerQuery(fading);
  }
  weighValues(base, extent, limit);
  return sums;
}

AttentionEmitter::Sums AttentionEmitter::visitBlocks(Value limit, Sums sums) {
  auto pack = [](const Sums &sums) {
    Vectors all(sums.max);
    llvm::append_range(all, sums.sum);
    return all;
  };
  auto unpack = [&](ArrayRef<Value> all) {
    return Sums{Vectors(all.take_front(size_t(vectors))), Vectors(all.drop_front(size_t(vectors)))};
  };
  int64_t whole = dims.keys / kKeyBlock, rest = dims.keys % kKeyBlock;
  Value blocks = i64(kernel, whole), done = i64(kernel, whole * kKeyBlock);
  if (op.getCausal())
    blocks = smaller(blocks, ceilDiv(limit, kKeyBlock));
  sums = unpack(loop(i64(kernel, 0), blocks, pack(sums), [&](Value i, ArrayRef<Value> carried) {
    return pack(visitKeys(scaled(kernel, i, kKeyBlock), kKeyBlock, limit, unpack(carried)));
  }));
  if (!rest)
    return sums;
  if (!op.getCausal())
    return visitKeys(done, rest, limit, sums);
  return unpack(emitIf(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, limit, done), pack(sums),
                       [&] { return pack(visitKeys(done, rest, limit, sums)); }));
}

void AttentionEmitter::forOutputs(llvm::function_ref<void(Value row, Value offset, int64_t live)> body) {
  forLoop(kernel, i64(kernel, 0), valid, [&](Value row) {
    forColumns([&](Value column, ArrayRef<RegisterTile::Column> columns) {
      Value to = add(kernel, outputRow(row), column);
      for (const RegisterTile::Column &place : columns)
        body(row, addOffset(kernel, to, place.offset), place.live);
    });
  });
}

void AttentionEmitter::emitBlock(Value iteration) {
  int64_t blocks = llvm::divideCeil(uint64_t(dims.queries), uint64_t(block));
  batch = arith::DivUIOp::create(b, loc, iteration, i64(kernel, blocks));
  first = scaled(kernel, arith::RemUIOp::create(b, loc, iteration, i64(kernel, blocks)), block);
  valid = i64(kernel, block);
  if (isPartial())
    valid = smaller(valid, arith::SubIOp::create(b, loc, i64(kernel, dims.queries), first));
  queries = queryNumbers();
  if (dims.depth <= depthBlock)
    transposeQueries(i64(kernel, 0), dims.depth);
  Value limit = i64(kernel, dims.keys);
  if (op.getCausal()) {
    Value step = arith::DivUIOp::create(b, loc, first, i64(kernel, kCausalStep));
    limit = smaller(limit, scaled(kernel, addOffset(kernel, step, 1), kCausalStep));
  }
  Sums sums{repeated(kLowest), repeated(0.0)};
  if (isOneBlock()) {
    sums = visitKeys(i64(kernel, 0), dims.keys, limit, sums);
  } else {
    forOutputs([&](Value, Value offset, int64_t live) {
      Value zero = dl::ScalarBuilder(b, loc, columnLanes()).constant(0.0, element);
      storeLanes(kernel, outputs, offset, 1, live, zero);
    });
    sums = visitBlocks(limit, sums);
    storePerQuery(divisors(sums.sum));
    forOutputs([&](Value row, Value offset, int64_t live) {
      Value sum = loadLanes(kernel, outputs, offset, 1, live, columnLanes());
      storeLanes(kernel, y, offset, 1, live, scalar.div(sum, kernel.load(perQuery, row, 0, Lane{columnLanes()})));
    });
  }
  storeLogSums(sums);
}

void AttentionEmitter::storeLogSums(const Sums &sums) {
  Value to = add(kernel, scaled(kernel, batch, dims.queries), first);
  for (int64_t vector = 0; vector < vectors; ++vector) {
    Value result = scalar.add(shiftOf(sums.max[size_t(vector)]), scalar.log(sums.sum[size_t(vector)]));
    Value inside;
    if (isPartial())
      inside = scalar.lt(queries[size_t(vector)], scalar.constant(dims.queries, b.getI32Type()));
    kernel.store(lse, addOffset(kernel, to, vector * lanes), Lane{lanes, inside}, result);
  }
}

LogicalResult AttentionEmitter::emit() {
  SmallVector<unsigned> numbers;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    FailureOr<unsigned> number = operandNumber(op, i);
    if (failed(number))
      return failure();
    numbers.push_back(*number);
  }
  if (!yieldsResultsOf(group, op))
    return group.emitOpError("expects the results of attention and nothing else");
  int64_t blocks = dims.batch * int64_t(llvm::divideCeil(uint64_t(dims.queries), uint64_t(block)));
  if (!blocks)
    return success();
  double perPair = double(dims.depth + dims.width) * kNanosecondsPerMultiplyAdd + kNanosecondsPerExp;
  kernel.parallelRange(blocks, 1, double(block * dims.keys) * perPair, [&](Value lo, Value hi) {
    auto operand = [&](unsigned i) {
      return kernel.operand(numbers[i], getElementTypeOrSelf(op->getOperand(i).getType()));
    };
    q = operand(0), k = operand(1), v = operand(2);
    if (op.getMask())
      mask = operand(3);
    y = resultMemory(kernel, group, 0), lse = resultMemory(kernel, group, 1);
    outputs = sumBytes(op) ? kernel.workspace(0, element) : y;
    scores = kernel.scratch(std::clamp<int64_t>(dims.keys, 1, kKeyBlock) * block, element);
    queriesT = kernel.scratch(std::clamp<int64_t>(dims.depth, 1, depthBlock) * block, element);
    perQuery = kernel.scratch(block, element);
    forLoop(kernel, lo, hi, [&](Value iteration) { emitBlock(iteration); });
  });
  return success();
}

/// Keys and values, which every block of queries reads.
static SmallVector<unsigned> readOften(Operation *anchor) {
  SmallVector<unsigned> which;
  for (unsigned i : {1, 2})
    if (isReadNarrow(anchor, i))
      which.push_back(i);
  return which;
}

static LogicalResult emitAttention(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor,
                                   const CpuTraits &traits) {
  auto op = cast<dl::AttentionOp>(anchor);
  WideOperands wide(kernel, anchor, readOften(anchor), sumBytes(op));
  return AttentionEmitter(wide, group, op, traits).emit();
}

static int64_t attentionWorkspaceBytes(Operation *anchor, const CpuTraits &) {
  int64_t wide = WideOperands::workspaceBytes(anchor, readOften(anchor));
  return int64_t(llvm::alignTo(uint64_t(sumBytes(cast<dl::AttentionOp>(anchor))), 64)) + wide;
}

void dlc::codegen::registerAttentionKernels(KernelRegistry &registry) {
  registry.add<dl::AttentionOp>({emitAttention, attentionWorkspaceBytes});
}
