// Scatter. The rows of the result are shared out over blocks, the rows of a block over teams of threads, the columns of
// a row over the threads of a team. So an element is one thread's, which copies it from x and then takes its updates in
// order, as the CPU does: one chain in row-major order of the indices.
//
//   copy own rows
//   for each 256 positions: which are of the block's rows?  (one bit a thread, a word a warp; rows, in shared memory)
//     for each bit that is set, in order:  row of y += update, if it is the team's
//
// Two sets of words and rows: one barrier a step is enough. With unordered atomics allowed, additions of floats are
// atomic ones, one thread a vector of the updates.
#include "dlc/ir/Index.h"

#include "dlc/ir/ScalarBuilder.h"
#include "gpu/GpuRegistry.h"
#include "kernels/ElementScope.h"
#include "kernels/GroupAnalysis.h"
#include "kernels/Loops.h"
#include "kernels/ScatterBytes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

constexpr int64_t blockThreads = 256, wantedBlocks = 512;

int64_t ceilDivide(int64_t a, int64_t divisor) { return int64_t(llvm::divideCeil(uint64_t(a), uint64_t(divisor))); }

/// How a scatter is shared out, from its shape and element type alone.
struct ScatterShape {
  int64_t vector;       ///< elements of a vector, along a row
  int64_t team;         ///< threads of a team, one vector of each row each
  int64_t rows, ranges; ///< of a block, blocks that share the rows of a group
  int64_t columns;      ///< blocks that share the columns of a row

  int64_t teams() const { return blockThreads / team; }
};

class ScatterKernel {
public:
  ScatterKernel(GpuKernelBuilder &kernel, dl::GroupOp group, dl::ScatterOp op)
      : kernel(kernel), b(kernel.getBuilder()), loc(kernel.getLoc()), group(group), op(op), dims(op.getDims()),
        space(op.getContext()), element(op.getType().getElementType()), scalar(b, loc, 0), shape(shapeOfBlocks()),
        isNarrow(scatterBytes(group, op) > 0) {}

  void emit();

private:
  int64_t groups() const { return dims.batches * dims.outer; }
  bool isAtomic();
  ScatterShape shapeOfBlocks() const;

  // In order.
  void emitBlock();
  void copyRows(ElementScope &scope);
  void announce(ElementScope &scope, AffineExpr step, Value buffer);
  void takeUpdates(ElementScope &scope, AffineExpr step, Value buffer);
  void takeUpdate(ElementScope &scope, AffineExpr position, Value row);

  void emitRounded();

  // Without an order.
  void emitCopies();
  void emitAtomics();

  using VectorBody = llvm::function_ref<void(ElementScope &lanes, AffineExpr column)>;
  /// The thread's vector of a row, if it has one.
  void forOwnVector(ElementScope &scope, VectorBody body);
  /// One thread a vector of `rows` rows.
  void forVectors(int64_t rows, llvm::function_ref<void(ElementScope &scope, AffineExpr row, AffineExpr vector)> body);

  int64_t width() const { return shape.vector > 1 ? shape.vector : 0; }
  AffineExpr columnOf(ElementScope &lanes, AffineExpr vector);
  Value load(ElementScope &scope, Value operand, AffineExpr offset) {
    return scope.element(operand, space.delinearize(shapeOf(operand), offset));
  }
  Value rowAt(ElementScope &scope, AffineExpr batch, AffineExpr position) {
    Value index = load(scope, op.getIndices(), space.simplify(batch * dims.positions + position));
    return scalar.cast(index, b.getI64Type());
  }
  /// Where sums grow: of 16-bit floats in the workspace, to be rounded once by a launch of its own.
  Memory result() { return isNarrow ? kernel.workspace(0, element) : resultMemory(kernel, group, 0); }
  Value word(int64_t value) { return scalar.constant(value, b.getI32Type()); }
  template <typename OpTy>
  Value arith(Value a, Value c) {
    return b.createOrFold<OpTy>(loc, a, c);
  }
  Value inside(ElementScope &scope, AffineExpr number, int64_t extent) {
    return space.contains(number, 0, extent) ? Value() : scalar.lt(scope.index(number), scope.i64(extent));
  }

  GpuKernelBuilder &kernel;
  OpBuilder &b;
  Location loc;
  dl::GroupOp group;
  dl::ScatterOp op;
  dl::GatherDims dims;
  IndexSpace space;
  Type element;
  dl::ScalarBuilder scalar;
  ScatterShape shape;
  bool isNarrow;

  AffineExpr thread, ofGroup, firstRow, vector, team; ///< of the thread; vector and team of its own
  Value rowCount;                                     ///< of the block
  Memory words, rows;                                 ///< shared: [2][warps], [2][threads]
};

} // namespace

ScatterShape ScatterKernel::shapeOfBlocks() const {
  ScatterShape shape{};
  shape.vector = kernel.lanesOf(element);
  while (dims.inner % shape.vector)
    shape.vector /= 2;
  int64_t vectors = dims.inner / shape.vector;
  shape.team =
      std::clamp<int64_t>(int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(vectors, 1)))), 1, blockThreads);
  shape.columns = ceilDivide(vectors, shape.team);
  int64_t others = std::max<int64_t>(groups() * shape.columns, 1);
  int64_t ranges = std::max<int64_t>(wantedBlocks / others, 1);
  shape.rows = ceilDivide(ceilDivide(dims.extent, ranges), shape.teams()) * shape.teams();
  shape.ranges = ceilDivide(dims.extent, std::max<int64_t>(shape.rows, 1));
  return shape;
}

bool ScatterKernel::isAtomic() {
  return kernel.getOptions().unorderedAtomics && op.getKind() == dl::ScatterKind::Add && isa<FloatType>(element);
}

AffineExpr ScatterKernel::columnOf(ElementScope &lanes, AffineExpr vector) {
  return width() ? space.simplify(vector * shape.vector + lanes.getLaneDim()) : vector;
}

void ScatterKernel::forOwnVector(ElementScope &scope, VectorBody body) {
  int64_t vectors = dims.inner / shape.vector;
  emitIf(scope, inside(scope, vector, vectors), {}, [&]() -> SmallVector<Value> {
    ElementScope one(scope);
    AffineExpr own = one.bind(scope.index(vector), 0, vectors - 1);
    ElementScope lanes(one, Lane{width()});
    body(lanes, columnOf(lanes, own));
    return {};
  });
}

void ScatterKernel::copyRows(ElementScope &scope) {
  OpBuilder::InsertionGuard guard(b);
  Value step = scope.i64(shape.teams()), first = scope.index(team);
  Value count = arith<arith::DivSIOp>(
      arith<arith::AddIOp>(arith<arith::SubIOp>(rowCount, first), scope.i64(shape.teams() - 1)), step);
  emitLoop(scope, scope.i64(0), count, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
    ElementScope row(scope);
    Value own = arith<arith::AddIOp>(arith<arith::MulIOp>(iv, step), first);
    AffineExpr number = row.bind(arith<arith::AddIOp>(own, row.index(firstRow)), 0, dims.extent - 1);
    forOwnVector(row, [&](ElementScope &lanes, AffineExpr column) {
      AffineExpr offset = space.simplify((ofGroup * dims.extent + number) * dims.inner + column);
      lanes.store(result(), offset, load(lanes, op.getX(), offset));
    });
    return {};
  });
}

// The row of the thread's position of this step, counted from the block's first one, and whether it is the block's.
void ScatterKernel::announce(ElementScope &scope, AffineExpr step, Value buffer) {
  AffineExpr position = space.simplify(step * blockThreads + thread),
             batch = space.simplify(ofGroup.floorDiv(dims.outer));
  Value exists = inside(scope, position, dims.positions);
  if (exists) {
    Value last = arith<arith::MinUIOp>(scope.index(position), scope.i64(dims.positions - 1));
    position = scope.bind(last, 0, dims.positions - 1);
  }
  Value row = arith<arith::SubIOp>(rowAt(scope, batch, position), scope.index(firstRow));
  // As unsigned, what is before the first row is large.
  Value own = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, rowCount);
  if (exists)
    own = scalar.bitAnd(own, exists);
  Value number = scope.index(thread), lane = scope.index(space.simplify(thread % warpSize));
  Value bit = scalar.shl(word(1), scalar.cast(lane, b.getI32Type()));
  Value bits = scalar.select(own, bit, word(0));
  for (int64_t mask = warpSize / 2; mask; mask /= 2)
    bits = scalar.bitOr(bits, kernel.shuffleXor(bits, mask));
  Value at = arith<arith::AddIOp>(arith<arith::MulIOp>(buffer, scope.i64(blockThreads)), number);
  kernel.store(rows, at, Lane{}, row);
  emitIf(scope, scalar.eq(lane, scope.i64(0)), {}, [&]() -> SmallVector<Value> {
    kernel.store(words, arith<arith::DivUIOp>(at, scope.i64(warpSize)), Lane{}, bits);
    return {};
  });
}

void ScatterKernel::takeUpdate(ElementScope &scope, AffineExpr position, Value row) {
  Value own;
  if (shape.teams() > 1)
    own = scalar.eq(arith<arith::AndIOp>(row, scope.i64(shape.teams() - 1)), scope.index(team));
  emitIf(scope, own, {}, [&]() -> SmallVector<Value> {
    ElementScope one(scope);
    // A row whose number is known could be read before it is known to be the team's.
    int64_t last = std::max<int64_t>(dims.extent - 1, 1);
    AffineExpr to = one.bind(arith<arith::AddIOp>(row, scope.index(firstRow)), 0, last);
    forOwnVector(one, [&](ElementScope &lanes, AffineExpr column) {
      AffineExpr offset = space.simplify((ofGroup * dims.extent + to) * dims.inner + column);
      Value update =
          load(lanes, op.getUpdates(), space.simplify((ofGroup * dims.positions + position) * dims.inner + column));
      if (op.getKind() == dl::ScatterKind::Add)
        update =
            dl::ScalarBuilder(b, loc, width()).add(lanes.load(result(), op.getType().getNumElements(), offset), update);
      lanes.store(result(), offset, update);
    });
    return {};
  });
}

void ScatterKernel::takeUpdates(ElementScope &scope, AffineExpr step, Value buffer) {
  Value zero = scope.i64(0), warps = scope.i64(blockThreads / warpSize);
  emitLoop(scope, zero, warps, {}, [&](Value warp, ValueRange) -> SmallVector<Value> {
    ElementScope ofWarp(scope);
    AffineExpr first = ofWarp.bind(warp, 0, blockThreads / warpSize - 1) * warpSize;
    Value group = arith<arith::AddIOp>(arith<arith::MulIOp>(buffer, warps), warp);
    Value bits = kernel.load(words, group, 1, Lane{});
    Value count = arith::ExtUIOp::create(b, loc, b.getI64Type(), math::CtPopOp::create(b, loc, bits));
    emitLoop(ofWarp, zero, count, bits, [&](Value, ValueRange left) -> SmallVector<Value> {
      ElementScope one(ofWarp);
      Value lane = arith::ExtUIOp::create(b, loc, b.getI64Type(), math::CountTrailingZerosOp::create(b, loc, left[0]));
      Value row =
          kernel.load(rows, arith<arith::AddIOp>(arith<arith::MulIOp>(group, one.i64(warpSize)), lane), 1, Lane{});
      Value place = arith<arith::AddIOp>(one.index(space.simplify(step * blockThreads + first)), lane);
      takeUpdate(one, one.bind(place, 0, dims.positions - 1), row);
      return {scalar.bitAnd(left[0], arith<arith::SubIOp>(left[0], word(1)))};
    });
    return {};
  });
}

void ScatterKernel::emitBlock() {
  ElementScope root(kernel, space), block(root);
  AffineExpr number = block.bind(kernel.blockId(), 0, groups() * shape.ranges * shape.columns - 1);
  thread = block.bind(kernel.threadId(), 0, blockThreads - 1);
  vector = space.simplify(number % shape.columns * shape.team + thread % shape.team);
  team = space.simplify(thread.floorDiv(shape.team));
  firstRow = space.simplify(number.floorDiv(shape.columns) % shape.ranges * shape.rows);
  ofGroup = space.simplify(number.floorDiv(shape.columns * shape.ranges));
  rowCount = block.i64(shape.rows);
  if (dims.extent % shape.rows) {
    Value behind = arith<arith::SubIOp>(block.i64(dims.extent), block.index(firstRow));
    rowCount = arith<arith::MinSIOp>(rowCount, behind);
  }
  copyRows(block);
  int64_t steps = ceilDivide(dims.positions, blockThreads);
  if (!steps)
    return;
  words = kernel.shared(2 * blockThreads / warpSize, b.getI32Type());
  rows = kernel.shared(2 * blockThreads, b.getI64Type());
  emitLoop(block, block.i64(0), block.i64(steps), {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
    ElementScope scope(block);
    AffineExpr step = steps > 1 ? scope.bind(iv, 0, steps - 1) : space.constant(0);
    Value buffer = scope.index(space.simplify(step % 2));
    announce(scope, step, buffer);
    kernel.barrier();
    takeUpdates(scope, step, buffer);
    return {};
  });
}

void ScatterKernel::forVectors(int64_t rows, llvm::function_ref<void(ElementScope &, AffineExpr, AffineExpr)> body) {
  int64_t vectors = dims.inner / shape.vector, count = rows * vectors;
  GpuKernelBuilder::Extents grid = blocksFor(count, blockThreads);
  kernel.launch(grid, {blockThreads, 1, 1}, [&] {
    ElementScope root(kernel, space), scope(root);
    AffineExpr block = scope.bind(kernel.blockId(), 0, grid[0] - 1);
    AffineExpr number = space.simplify(block * blockThreads + scope.bind(kernel.threadId(), 0, blockThreads - 1));
    emitIf(scope, inside(scope, number, count), {}, [&]() -> SmallVector<Value> {
      ElementScope one(scope);
      AffineExpr own = one.bind(scope.index(number), 0, count - 1);
      body(one, space.simplify(own.floorDiv(vectors)), space.simplify(own % vectors));
      return {};
    });
  });
}

void ScatterKernel::emitCopies() {
  forVectors(groups() * dims.extent, [&](ElementScope &scope, AffineExpr row, AffineExpr own) {
    ElementScope lanes(scope, Lane{width()});
    AffineExpr offset = space.simplify(row * dims.inner + columnOf(lanes, own));
    lanes.store(result(), offset, load(lanes, op.getX(), offset));
  });
}

void ScatterKernel::emitRounded() {
  forVectors(groups() * dims.extent, [&](ElementScope &scope, AffineExpr row, AffineExpr own) {
    ElementScope lanes(scope, Lane{width()});
    AffineExpr offset = space.simplify(row * dims.inner + columnOf(lanes, own));
    lanes.store(resultMemory(kernel, group, 0), offset, lanes.load(result(), op.getType().getNumElements(), offset));
  });
}

void ScatterKernel::emitAtomics() {
  forVectors(groups() * dims.positions, [&](ElementScope &scope, AffineExpr from, AffineExpr own) {
    AffineExpr ofGroup = space.simplify(from.floorDiv(dims.positions)),
               position = space.simplify(from % dims.positions);
    Value row = rowAt(scope, space.simplify(ofGroup.floorDiv(dims.outer)), position);
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, scope.i64(dims.extent));
    emitIf(scope, exists, {}, [&]() -> SmallVector<Value> {
      ElementScope one(scope), lanes(one, Lane{width()});
      Value update = load(lanes, op.getUpdates(), space.simplify(from * dims.inner + columnOf(lanes, own)));
      AffineExpr to = one.bind(row, 0, dims.extent - 1);
      for (int64_t lane = 0; lane < shape.vector; ++lane) {
        AffineExpr column = own * shape.vector + lane;
        Value at = one.index(space.simplify((ofGroup * dims.extent + to) * dims.inner + column));
        kernel.atomicAdd(result(), at, width() ? Value(vector::ExtractOp::create(b, loc, update, lane)) : update);
      }
      return {};
    });
  });
}

void ScatterKernel::emit() {
  if (!groups() || !dims.extent || !dims.inner)
    return;
  if (isAtomic()) {
    emitCopies();
    emitAtomics();
  } else {
    kernel.launch({groups() * shape.ranges * shape.columns, 1, 1}, {blockThreads, 1, 1}, [&] { emitBlock(); });
  }
  if (isNarrow)
    emitRounded();
}

static LogicalResult emitScatter(GpuKernelBuilder &kernel, dl::GroupOp group, Operation *anchor) {
  ScatterKernel(kernel, group, cast<dl::ScatterOp>(anchor)).emit();
  return success();
}

static int64_t scatterWorkspaceBytes(dl::GroupOp group, Operation *anchor, const GpuOptions &) {
  return scatterBytes(group, cast<dl::ScatterOp>(anchor));
}

void dlc::codegen::registerIndexGpuKernels(GpuRegistry &registry) {
  registry.add<dl::ScatterOp>({emitScatter, scatterWorkspaceBytes});
}
