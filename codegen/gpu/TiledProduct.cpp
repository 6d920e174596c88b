// A block computes a tile of the result. Its part of both factors goes through shared memory, `step` terms at a time
// and term by term, in two buffers: while one is multiplied, the next step is on its way from global memory to
// registers and then to the other buffer, so that one barrier a step is enough.
//
//   buffer 0 = step 0; barrier
//   for each step s:
//     registers = step s + 1
//     for each term of buffer s % 2: thread's rows x columns of fma
//     buffer (s + 1) % 2 = registers; barrier
//   epilogue, store
//
// Where tensor cores multiply, factors lie in shared memory line by line, in the order of terms, and a warp multiplies
// its part of both by mma.sync, 16 terms of 16 bits or 8 of tf32 at a time, with sums in f32. Between the terms of one
// mma.sync the hardware decides on the order.
#include "gpu/TiledProduct.h"

#include "dlc/ir/ScalarBuilder.h"
#include "gpu/ProductFinish.h"
#include "kernels/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

// Two blocks of 256 threads share the registers of a processor; a thread of a small block may have more, wide elements
// all that can be addressed.
int64_t mostRegisters(const ProductTile &tile, Type element) {
  if (tile.threads() >= 256)
    return 128;
  return element.getIntOrFloatBitWidth() > 32 ? 255 : 232;
}

Lane laneOf(int64_t width) { return Lane{width > 1 ? width : 0}; }

/// One factor's lines in a block.
struct Side {
  const ProductFactor *factor;
  int64_t extent;    ///< lines of the whole factor
  int64_t lines;     ///< of the block
  int64_t threads;   ///< that share them
  int64_t group;     ///< neighbouring lines of a thread
  int64_t groups;    ///< of a thread, `threads * group` lines apart
  bool alongTerms;   ///< vectors from global memory run along terms, else along lines
  int64_t width;     ///< of those vectors
  int64_t vectors;   ///< of a thread and step
  int64_t pitch;     ///< elements from term to term in shared memory, or from line to line
  AffineExpr first;  ///< line of the block
  AffineExpr own;    ///< the thread's first line in the block
  AffineExpr ofWarp; ///< its warp's, where warps multiply
  Memory shared;

  int64_t each() const { return group * groups; }
  /// Place of a thread's line `i` in the block, without the thread's own part.
  int64_t place(int64_t i) const { return i / group * threads * group + i % group; }
};

class ProductEmitter {
public:
  ProductEmitter(GpuKernelBuilder &kernel, const TiledProduct &product, Epilogue &epilogue)
      : kernel(kernel), product(product), epilogue(epilogue), tile(ProductTile::of(product)),
        space(product.element.getContext()), factorType(product.factorType()) {}

  void emit();

private:
  Side sideOf(int number, const ProductFactor &factor, int64_t extent) const;
  void emitBlock();
  SmallVector<Value> sums(ElementScope &block);

  AffineExpr vectorAt(const Side &side, int64_t i, bool ofTerms);
  /// A vector from global memory; arbitrary unless `live` (null: always).
  struct Fetched {
    Value value, live;
  };
  SmallVector<Fetched> fetch(ElementScope &scope, const Side &side, AffineExpr step);
  void keep(ElementScope &scope, const Side &side, AffineExpr buffer, ArrayRef<Fetched> vectors);
  Value roundToTF32(Value value);
  SmallVector<Value> fragment(Value base, const Side &side, int64_t term);
  SmallVector<Value> multiply(ElementScope &scope, AffineExpr buffer, ValueRange sums);
  /// The thread's words of a factor, for the terms of one mma.sync from `term` on, of lines from `line` of its warp's
  /// on.
  SmallVector<Value> words(Value base, const Side &side, int64_t line, int64_t term);
  SmallVector<Value> multiplyByWarps(ElementScope &scope, AffineExpr buffer, ValueRange sums);

  void store(ElementScope &block, ArrayRef<Value> sums);
  void storeColumns(ElementScope &block, ArrayRef<Value> sums, int64_t column, int64_t width);

  /// Elements of one of the two buffers.
  int64_t bufferSize(const Side &side) const { return (product.core ? side.lines : tile.step) * side.pitch; }
  Value inside(ElementScope &scope, ArrayRef<AffineExpr> dims, ArrayRef<dl::IndexBound> bounds);
  Value plus(Value base, int64_t offset);
  AffineExpr dim(unsigned position) { return getAffineDimExpr(position, product.element.getContext()); }

  GpuKernelBuilder &kernel;
  const TiledProduct &product;
  Epilogue &epilogue;
  ProductTile tile;
  IndexSpace space;
  Type factorType;
  Side left{}, right{};
  AffineExpr batch, part, thread;
};

} // namespace

// Terms are 4 elements more than the lines apart: threads that store along the terms meet different banks.
Side ProductEmitter::sideOf(int number, const ProductFactor &factor, int64_t extent) const {
  Side side{};
  side.factor = &factor;
  side.extent = extent;
  side.lines = tile.lines[number];
  side.threads = product.core ? coreThreads[number] : tile.threads(number);
  side.group = product.core ? number + 1 : std::min<int64_t>(tile.each[number], 4);
  side.groups = tile.each[number] / side.group;
  // Words of 8 lines, 4 each, in different banks.
  side.pitch = product.core ? tile.step + 4 * product.factorsOfWord() : side.lines + 4;
  side.alongTerms = tile.alongTerms[number];
  side.width = tile.width[number];
  side.vectors = tile.vectors(number);
  return side;
}

// All of 0 <= expr < upper that are not known to hold, as i1; null if none.
Value ProductEmitter::inside(ElementScope &scope, ArrayRef<AffineExpr> dims, ArrayRef<dl::IndexBound> bounds) {
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  Value all;
  for (const dl::IndexBound &bound : bounds) {
    AffineExpr expr = space.simplify(bound.expr.replaceDims(dims) - bound.lower);
    auto [low, high] = space.range(expr);
    int64_t extent = bound.upper - bound.lower;
    if (low >= 0 && high < extent)
      continue;
    // As unsigned, what is negative is large.
    Value one = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, scope.index(expr), scope.i64(extent));
    all = all ? Value(arith::AndIOp::create(b, loc, all, one)) : one;
  }
  return all;
}

Value ProductEmitter::plus(Value base, int64_t offset) {
  if (!offset)
    return base;
  OpBuilder &b = kernel.getBuilder();
  Value constant = arith::ConstantOp::create(b, kernel.getLoc(), b.getI64IntegerAttr(offset));
  return arith::AddIOp::create(b, kernel.getLoc(), base, constant);
}

// Where the thread's vector `i` begins in the block's lines, or in the step's terms.
AffineExpr ProductEmitter::vectorAt(const Side &side, int64_t i, bool ofTerms) {
  AffineExpr number = thread + i * tile.threads();
  int64_t vectors = (side.alongTerms ? tile.step : side.lines) / side.width;
  return space.simplify(ofTerms == side.alongTerms ? number % vectors * side.width : number.floorDiv(vectors));
}

// What does not exist is read from where something is: no branch in the loop.
SmallVector<ProductEmitter::Fetched> ProductEmitter::fetch(ElementScope &scope, const Side &side, AffineExpr step) {
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  SmallVector<dl::IndexBound> bounds(side.factor->bounds);
  bounds.push_back({dim(1), 0, side.extent});
  bounds.push_back({dim(2), 0, product.terms});
  Memory memory = kernel.operand(side.factor->operand, factorType);
  memory.divisor = side.width;
  SmallVector<Fetched> vectors;
  for (int64_t i = 0; i < side.vectors; ++i) {
    AffineExpr dims[] = {batch, space.simplify(side.first + vectorAt(side, i, false)),
                         space.simplify((part * tile.steps + step) * tile.step + vectorAt(side, i, true))};
    Value live = inside(scope, dims, bounds);
    Value at = scope.index(space.simplify(side.factor->offset.replaceDims(dims)));
    if (live)
      at = arith::SelectOp::create(b, loc, live, at, scope.i64(0));
    vectors.push_back({kernel.load(memory, at, 1, laneOf(side.width)), live});
  }
  return vectors;
}

// To the nearest with 10 bits of mantissa, ties away from 0, as cvt.rna.tf32.f32: the bits behind them are 0 then. A
// NaN stays as it is.
Value ProductEmitter::roundToTF32(Value value) {
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  auto vector = dyn_cast<VectorType>(value.getType());
  Type bits = vector ? Type(vector.clone(b.getI32Type())) : b.getI32Type();
  dl::ScalarBuilder scalar(b, loc, vector ? vector.getNumElements() : 0);
  auto constant = [&](double word) { return scalar.constant(word, b.getI32Type()); };
  Value raised = arith::AddIOp::create(b, loc, arith::BitcastOp::create(b, loc, bits, value), constant(0x1000));
  Value rounded = arith::AndIOp::create(b, loc, raised, constant(-0x2000));
  Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  return arith::SelectOp::create(b, loc, isNaN, value, arith::BitcastOp::create(b, loc, value.getType(), rounded));
}

// What does not exist becomes 0 here: nothing waits for the loads before.
void ProductEmitter::keep(ElementScope &scope, const Side &side, AffineExpr buffer, ArrayRef<Fetched> vectors) {
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  dl::ScalarBuilder scalar(b, loc, laneOf(side.width).width);
  for (auto [i, vector] : llvm::enumerate(vectors)) {
    Value value = vector.value;
    if (vector.live)
      value = arith::SelectOp::create(b, loc, vector.live, value, scalar.constant(0.0, factorType));
    AffineExpr line = vectorAt(side, int64_t(i), false), term = vectorAt(side, int64_t(i), true);
    if (product.core && product.core.isTF32())
      value = roundToTF32(value);
    AffineExpr place = product.core ? line * side.pitch + term : term * side.pitch + line;
    Value at = scope.index(space.simplify(buffer * bufferSize(side) + place));
    Memory memory = side.shared;
    if (side.alongTerms == bool(product.core) || side.width == 1) {
      memory.divisor = side.width;
      kernel.store(memory, at, laneOf(side.width), value);
      continue;
    }
    for (int64_t lane = 0; lane < side.width; ++lane)
      kernel.store(memory, plus(at, lane * side.pitch), Lane{}, vector::ExtractOp::create(b, loc, value, lane));
  }
}

// The thread's elements of one term.
SmallVector<Value> ProductEmitter::fragment(Value base, const Side &side, int64_t term) {
  Memory memory = side.shared;
  int64_t width = std::min(side.group, kernel.lanesOf(product.element));
  memory.divisor = width;
  SmallVector<Value> values;
  for (int64_t i = 0; i < side.each(); i += width) {
    Value value = kernel.load(memory, plus(base, term * side.pitch + side.place(i)), 1, laneOf(width));
    if (width == 1) {
      values.push_back(value);
      continue;
    }
    for (int64_t lane = 0; lane < width; ++lane)
      values.push_back(vector::ExtractOp::create(kernel.getBuilder(), kernel.getLoc(), value, lane));
  }
  return values;
}

SmallVector<Value> ProductEmitter::multiply(ElementScope &scope, AffineExpr buffer, ValueRange sums) {
  auto baseOf = [&](const Side &side) { return scope.index(space.simplify(buffer * bufferSize(side) + side.own)); };
  Value leftBase = baseOf(left), rightBase = baseOf(right);
  dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), 0);
  SmallVector<Value> result(sums);
  for (int64_t term = 0; term < tile.step; ++term) {
    SmallVector<Value> rows = fragment(leftBase, left, term), columns = fragment(rightBase, right, term);
    for (auto [i, row] : llvm::enumerate(rows))
      for (auto [j, column] : llvm::enumerate(columns)) {
        Value &sum = result[i * columns.size() + j];
        sum = scalar.fma(row, column, sum);
      }
  }
  return result;
}

// PTX, "Matrix Fragments for mma.m16n8k16" and "… k8": lane l holds word l % 4 of the terms, and that 4 further, of
// lines l / 4 and, of the left factor, l / 4 + 8. A word has two terms of 16 bits, or one of tf32.
SmallVector<Value> ProductEmitter::words(Value base, const Side &side, int64_t line, int64_t term) {
  Memory memory = side.shared;
  memory.element = kernel.getBuilder().getI32Type();
  SmallVector<Value> words;
  int64_t halves = side.factor == &product.left ? 2 : 1;
  for (int64_t further : {0, 4})
    for (int64_t half = 0; half < halves; ++half) {
      int64_t word = ((line + 8 * half) * side.pitch + term) / product.factorsOfWord() + further;
      words.push_back(kernel.load(memory, plus(base, word), 1, Lane{}));
    }
  return words;
}

// Sums of a thread are in the order of its rows, of which there are two in each 16, and of its columns, two in each 8.
SmallVector<Value> ProductEmitter::multiplyByWarps(ElementScope &scope, AffineExpr buffer, ValueRange sums) {
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  AffineExpr lane = space.simplify(thread % warpSize);
  auto baseOf = [&](const Side &side) { // in words
    AffineExpr line = side.ofWarp + lane.floorDiv(4);
    int64_t of = product.factorsOfWord();
    return scope.index(space.simplify(buffer * (bufferSize(side) / of) + line * (side.pitch / of) + lane % 4));
  };
  Value leftBase = baseOf(left), rightBase = baseOf(right);
  Type f32 = b.getF32Type();
  Type result = LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32});
  bool isF16 = product.core.isF16();
  auto given = [&](ArrayRef<Value> words) {
    if (!isF16)
      return SmallVector<Value>(words);
    return llvm::map_to_vector(words, [&](Value word) -> Value {
      return LLVM::BitcastOp::create(b, loc, VectorType::get({2}, product.core), word);
    });
  };
  NVVM::MMATypes type = isF16                   ? NVVM::MMATypes::f16
                        : product.core.isBF16() ? NVVM::MMATypes::bf16
                                                : NVVM::MMATypes::tf32;
  int64_t coreTerms = product.coreTerms();
  SmallVector<Value> state(sums);
  for (int64_t term = 0; term < tile.step; term += coreTerms) {
    SmallVector<SmallVector<Value>> columns;
    for (int64_t j = 0; j < right.each(); j += 2)
      columns.push_back(given(words(rightBase, right, 4 * j, term)));
    for (int64_t i = 0; i < left.each(); i += 2) {
      SmallVector<Value> row = given(words(leftBase, left, 8 * i, term));
      for (auto [number, column] : llvm::enumerate(columns)) {
        int64_t first = i * right.each() + 2 * int64_t(number);
        int64_t places[] = {first, first + 1, first + right.each(), first + right.each() + 1};
        auto before = llvm::map_to_vector(places, [&](int64_t place) { return state[size_t(place)]; });
        Value after =
            NVVM::MmaOp::create(b, loc, result, row, column, before, {16, 8, coreTerms}, std::nullopt, std::nullopt,
                                std::array{type, type}, std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
        for (auto [word, place] : llvm::enumerate(places))
          state[size_t(place)] = LLVM::ExtractValueOp::create(b, loc, after, int64_t(word));
      }
    }
  }
  return state;
}

// A step is long enough; unrolled, the assembler would read ahead until registers spill.
static void keepLoop(Value result) {
  auto loop = result.getDefiningOp<scf::ForOp>();
  if (!loop)
    return;
  MLIRContext *context = loop.getContext();
  LLVM::LoopUnrollAttr never = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  loop->setAttr(loopAnnotation,
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, never, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

SmallVector<Value> ProductEmitter::sums(ElementScope &block) {
  dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), 0);
  SmallVector<Value> zeros(left.each() * right.each(), scalar.constant(0.0, product.element));
  if (!tile.steps)
    return zeros;
  int64_t buffers = tile.steps > 1 ? 2 : 1;
  for (Side *side : {&left, &right}) {
    side->shared = kernel.shared(buffers * bufferSize(*side), factorType);
    keep(block, *side, space.constant(0), fetch(block, *side, space.constant(0)));
  }
  kernel.barrier();
  SmallVector<Value> result =
      emitLoop(block, block.i64(0), block.i64(tile.steps), zeros, [&](Value iv, ValueRange carried) {
        ElementScope scope(block);
        if (tile.steps == 1)
          return product.core ? multiplyByWarps(scope, space.constant(0), carried)
                              : multiply(scope, space.constant(0), carried);
        AffineExpr step = scope.bind(iv, 0, tile.steps - 1);
        // The last step is fetched again behind it: that is simpler than not to, and what is in memory needs no
        // condition.
        OpBuilder &b = kernel.getBuilder();
        Value behind = arith::MinUIOp::create(b, kernel.getLoc(), plus(iv, 1), block.i64(tile.steps - 1));
        AffineExpr next = scope.bind(behind, 0, tile.steps - 1);
        SmallVector<Fetched> nextLeft = fetch(scope, left, next), nextRight = fetch(scope, right, next);
        SmallVector<Value> result =
            product.core ? multiplyByWarps(scope, step % 2, carried) : multiply(scope, step % 2, carried);
        keep(scope, left, (step + 1) % 2, nextLeft);
        keep(scope, right, (step + 1) % 2, nextRight);
        kernel.barrier();
        return result;
      });
  keepLoop(result[0]);
  return result;
}

// Lanes [column, column + width) of the thread's columns, for each of its rows.
void ProductEmitter::storeColumns(ElementScope &block, ArrayRef<Value> sums, int64_t column, int64_t width) {
  OpBuilder &b = kernel.getBuilder();
  auto lineOf = [&](const Side &side, int64_t i) { return space.simplify(side.first + side.own + side.place(i)); };
  AffineExpr first = lineOf(right, column);
  emitIf(block, inside(block, {first}, {{dim(0), 0, product.columns}}), {}, [&]() -> SmallVector<Value> {
    ElementScope lanes(block, laneOf(width));
    AffineExpr vector = lanes.bind(block.index(space.simplify(first.floorDiv(width))), 0, product.columns / width - 1);
    AffineExpr own = width > 1 ? vector * width + lanes.getLaneDim() : vector;
    for (int64_t i = 0; i < left.each(); ++i) {
      AffineExpr line = lineOf(left, i);
      emitIf(lanes, inside(lanes, {line}, {{dim(0), 0, product.rows}}), {}, [&]() -> SmallVector<Value> {
        ElementScope element(lanes, ElementScope::SameLanes());
        AffineExpr row = element.bind(lanes.index(line), 0, product.rows - 1), dims[] = {batch, row, own};
        emitIf(element, inside(element, dims, product.resultBounds), {}, [&]() -> SmallVector<Value> {
          ArrayRef<Value> values = sums.slice(size_t(i * right.each() + column), size_t(width));
          Value value = values[0];
          if (width > 1)
            value =
                vector::FromElementsOp::create(b, kernel.getLoc(), VectorType::get({width}, product.element), values);
          ElementScope one(element, ElementScope::SameLanes());
          AffineExpr offset = space.simplify(product.result.replaceDims(dims));
          if (tile.parts == 1)
            epilogue.store(one, offset, value);
          else
            one.store(kernel.workspace(0, product.element), space.simplify(part * product.resultCount + offset), value);
          return {};
        });
        return {};
      });
    }
    return {};
  });
}

void ProductEmitter::store(ElementScope &block, ArrayRef<Value> sums) {
  int64_t extents[] = {product.batch, product.rows, product.columns};
  int64_t most = std::min(right.group, kernel.lanesOf(product.element));
  int64_t width = vectorWidthAlong(extents, 2, product.result, product.resultBounds, most);
  if (tile.parts > 1 && product.resultCount % width)
    width = 1;
  for (int64_t column = 0; column < right.each(); column += width)
    storeColumns(block, sums, column, width);
}

void ProductEmitter::emitBlock() {
  ElementScope root(kernel, space), block(root);
  int64_t across = llvm::divideCeil(product.columns, tile.lines[1]),
          down = llvm::divideCeil(product.rows, tile.lines[0]);
  AffineExpr number = block.bind(kernel.blockId(), 0, across * down * tile.parts * product.batch - 1);
  thread = block.bind(kernel.threadId(), 0, tile.threads() - 1);
  left = sideOf(0, product.left, product.rows);
  right = sideOf(1, product.right, product.columns);
  right.first = space.simplify(number % across * right.lines);
  left.first = space.simplify(number.floorDiv(across) % down * left.lines);
  part = space.simplify(number.floorDiv(across * down) % tile.parts);
  batch = space.simplify(number.floorDiv(across * down * tile.parts));
  if (product.core) {
    AffineExpr warp = thread.floorDiv(warpSize), lane = thread % warpSize;
    int64_t warpsAcross = right.lines / (right.each() * coreThreads[1]);
    right.ofWarp = space.simplify(warp % warpsAcross * (right.each() * coreThreads[1]));
    left.ofWarp = space.simplify(warp.floorDiv(warpsAcross) * (left.each() * coreThreads[0]));
    right.own = space.simplify(right.ofWarp + lane % 4 * 2);
    left.own = space.simplify(left.ofWarp + lane.floorDiv(4));
  } else {
    right.own = space.simplify(thread % right.threads * right.group);
    left.own = space.simplify(thread.floorDiv(right.threads) * left.group);
  }
  store(block, sums(block));
}

void ProductEmitter::emit() {
  int64_t blocks = product.batch * tile.parts * int64_t(llvm::divideCeil(product.columns, tile.lines[1])) *
                   int64_t(llvm::divideCeil(product.rows, tile.lines[0]));
  kernel.launch({blocks, 1, 1}, {tile.threads(), 1, 1}, [&] { emitBlock(); }, mostRegisters(tile, product.element));
  if (tile.parts > 1)
    emitProductFinish(kernel, {product.element, product.resultCount, tile.parts}, epilogue);
}

void codegen::emitTiledProduct(GpuKernelBuilder &kernel, const TiledProduct &product, Epilogue &epilogue) {
  if (product.batch * product.rows * product.columns)
    ProductEmitter(kernel, product, epilogue).emit();
}
