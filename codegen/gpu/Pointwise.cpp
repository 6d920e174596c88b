// Pointwise groups. Neighbouring dims that every operand walks as one are merged; a thread computes V consecutive
// elements of the innermost merged dim, V the widest vector that divides it, or that fits where there is but one dim:
//
//   thread t of 256 * blocks:  if (t < elements / V)  results[t * V + 0…V) = body(t * V + 0…V)
//                              else if (t < elements / V + elements mod V)  one element of the rest
//
// Where an operand lies contiguous along another dim than the results, a block of 32 x 8 threads copies a tile of
// 32 x 32 of it to shared memory with neighbouring threads along that dim, and evaluates with them along the last one:
//
//   for r in 0…4:  tile[ty + 8 r][tx] = operand(last = ty + 8 r, along = tx)
//   barrier
//   for r in 0…4:  results(along = ty + 8 r, last = tx) = body(tile[tx][ty + 8 r], …)
//
// The parts of a horizontal group have one launch, without tiles; each has blocks of its own:
//
//   if (block < blocks of part 0)  as part 0
//   if (block - those < blocks of part 1)  as part 1 …
#include "gpu/GpuEmitters.h"
#include "gpu/Overwritten.h"
#include "kernels/GroupAnalysis.h"
#include "kernels/Loops.h"
#include "kernels/PartKernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

constexpr int64_t blockThreads = 256, tileSide = 32, tileRows = 8, tilePitch = tileSide + 1;
// More tiles than this are left to the caches.
constexpr size_t mostTiles = 4;

/// An input that is read along loop `along` of the merged loops.
struct TransposedRead {
  BlockArgument input;
  AffineExpr offset; ///< over the dims of the merged loops
  Memory tile;
};

class PointwiseEmitter {
public:
  PointwiseEmitter(GpuKernelBuilder &kernel, dl::GroupOp group) : PointwiseEmitter(kernel, kernel, group) {}
  /// A part of a kernel, whose operands `view` gives.
  PointwiseEmitter(GpuKernelBuilder &kernel, KernelBuilder &view, dl::GroupOp group)
      : kernel(kernel), view(view), group(group), space(group.getContext()), domain(group.getDomain()) {}

  LogicalResult emit();

  LogicalResult analyse();
  /// Threads that `emitFlatBlock` needs in all, once analysed.
  int64_t flatThreads() const;
  /// What block `number` of the first `flatThreads` threads computes, by blocks of `block` threads.
  void emitFlatBlock(Value number, int64_t block);

private:
  void findTransposed(const AccessCollector &accesses);
  void emitFlat();
  void emitVectors(ElementScope &root, Value thread, Value live, int64_t first, int64_t count, int64_t vector,
                   int64_t base);
  void emitTiled();
  void fillTiles(ElementScope &root, AffineExpr block);
  SmallVector<AffineExpr> indexOf(const TransposedRead &read, ArrayRef<AffineExpr> index);
  using TileBody =
      llvm::function_ref<void(ElementScope &, ArrayRef<AffineExpr> index, AffineExpr along, AffineExpr last)>;
  /// Element (along, last) of the block's tile, where it is inside of the loops.
  void atTileElement(ElementScope &root, AffineExpr block, Value alongInTile, Value lastInTile, TileBody body);
  void storeResults(ElementScope &lanes, ArrayRef<AffineExpr> index);
  int64_t tilesOf(size_t loop) const { return (extents[loop] + tileSide - 1) / tileSide; }
  Value plus(Value value, int64_t more);
  int64_t vectorOfFlat() const;

  GpuKernelBuilder &kernel;
  KernelBuilder &view;
  dl::GroupOp group;
  IndexSpace space;
  ArrayRef<int64_t> domain;
  SmallVector<int64_t> extents; ///< of the merged loops
  SmallVector<AffineExpr> dims; ///< stand for their positions in `transposed`
  SmallVector<TransposedRead> transposed;
  size_t along = 0;
};

} // namespace

// The widest vector, of 16 bytes at most. A single loop may have a rest; rows of several are whole vectors.
int64_t PointwiseEmitter::vectorOfFlat() const {
  int64_t elements = product(extents), vector = lanesOf(kernel, group);
  while (vector > 1 && (extents.size() == 1 ? vector > elements : extents.back() % vector != 0))
    vector /= 2;
  return vector;
}

int64_t PointwiseEmitter::flatThreads() const {
  int64_t elements = product(extents), vector = vectorOfFlat();
  return elements / vector + elements % vector;
}

// Everything is evaluated before the first store: a result may be written over an input.
void PointwiseEmitter::storeResults(ElementScope &lanes, ArrayRef<AffineExpr> index) {
  AffineExpr offset = space.linearize(domain, index);
  SmallVector<Value> elements;
  for (Value result : resultsOf(group))
    elements.push_back(lanes.element(result, index));
  for (auto [i, element] : llvm::enumerate(elements))
    lanes.store(resultMemory(view, group, i), offset, element);
}

LogicalResult PointwiseEmitter::analyse() {
  SmallVector<AffineExpr> index;
  for (int64_t extent : domain)
    index.push_back(space.simplify(space.addDim(0, extent - 1)));
  AccessCollector accesses(space);
  for (Value result : resultsOf(group)) {
    if (shapeOf(result) != domain)
      return group.emitOpError("expects results of the domain's shape, got ") << result.getType();
    if (failed(accesses.visit(result, index)))
      return failure();
  }
  SmallVector<AffineExpr> exprs(accesses.getExprs());
  exprs.push_back(space.linearize(domain, index));
  extents = collapse(domain, exprs);

  for (int64_t extent : extents)
    dims.push_back(space.addDim(0, extent - 1));
  AccessCollector merged(space);
  for (BlockArgument input : group.getBody().getArguments())
    merged.stopAt(input);
  for (Value result : resultsOf(group))
    if (failed(merged.visit(result, space.delinearize(domain, space.linearize(extents, dims)))))
      return failure();
  findTransposed(merged);
  return success();
}

// Whether an expression needs dims behind `last`: positions that are read from a table, known only at an element.
static bool readsTable(const IndexSpace &space, AffineExpr expr, AffineExpr last) {
  for (unsigned dim = cast<AffineDimExpr>(last).getPosition() + 1; dim < space.getNumDims(); ++dim)
    if (expr.isFunctionOfDim(dim))
      return true;
  return false;
}

// Inputs that lie contiguous along another loop than the last one, the same loop for all.
void PointwiseEmitter::findTransposed(const AccessCollector &accesses) {
  constexpr int64_t worthTiles = 8;
  size_t last = extents.size() - 1;
  if (extents[last] < worthTiles)
    return;
  for (auto [input, offset] : accesses.getGivenReads()) {
    std::optional<size_t> contiguous;
    bool strided = false;
    bool linear = space.contains(offset, 0, product(shapeOf(input))) && !readsTable(space, offset, dims[last]);
    for (auto [term, coefficient] : space.linearForm(offset).terms) {
      auto *loop = llvm::find(dims, term);
      linear &= loop != dims.end() || !term.isFunctionOfDim(cast<AffineDimExpr>(dims[last]).getPosition());
      if (loop != dims.end() && coefficient == 1)
        contiguous = loop - dims.begin();
      strided |= term == dims[last] && coefficient > 2;
    }
    if (!linear || !strided || !contiguous || extents[*contiguous] < worthTiles)
      continue;
    if (transposed.size() == mostTiles || (!transposed.empty() && along != *contiguous))
      continue;
    along = *contiguous;
    transposed.push_back({cast<BlockArgument>(input), offset, {}});
  }
}

// Thread `thread` of [first, first + count) computes `vector` elements from `base` on.
void PointwiseEmitter::emitVectors(ElementScope &root, Value thread, Value live, int64_t first, int64_t count,
                                   int64_t vector, int64_t base) {
  emitIf(root, live, {}, [&]() -> SmallVector<Value> {
    ElementScope scope(root);
    AffineExpr number = scope.bind(plus(thread, -first), 0, count - 1);
    ElementScope lanes(scope, Lane{vector > 1 ? vector : 0});
    AffineExpr position = number * vector + base;
    if (vector > 1)
      position = position + lanes.getLaneDim();
    SmallVector<AffineExpr> index = space.delinearize(domain, space.simplify(position));
    // The one position of one thread is a number, which no scope owns: all threads would read what it is written over.
    if (count == 1 && vector == 1)
      for (BlockArgument input : group.getBody().getArguments())
        if (shapeOf(input) == domain)
          provideInputAt(lanes, input, index);
    storeResults(lanes, index);
    return {};
  });
}

// Threads of a block where `count` are needed in all.
static int64_t threadsOfBlock(int64_t count) {
  return std::min<int64_t>(blockThreads, llvm::alignTo(std::max<int64_t>(count, 1), warpSize));
}

void PointwiseEmitter::emitFlat() {
  int64_t block = threadsOfBlock(flatThreads());
  kernel.launch(blocksFor(flatThreads(), block), {block, 1, 1}, [&] { emitFlatBlock(kernel.blockId(), block); });
}

void PointwiseEmitter::emitFlatBlock(Value blockNumber, int64_t block) {
  int64_t elements = product(extents), vector = vectorOfFlat(), count = flatThreads();
  int64_t whole = elements / vector, rest = elements % vector;
  ElementScope root(view, space);
  AffineExpr number =
      root.bind(blockNumber, 0, (count - 1) / block) * block + root.bind(kernel.threadId(), 0, block - 1);
  Value thread = root.index(space.simplify(number)), live;
  auto compare = [&](arith::CmpIPredicate predicate, int64_t bound) -> Value {
    return arith::CmpIOp::create(kernel.getBuilder(), kernel.getLoc(), predicate, thread, root.i64(bound));
  };
  if (rest || count % block)
    live = compare(arith::CmpIPredicate::slt, whole);
  emitVectors(root, thread, live, 0, whole, vector, 0);
  if (!rest)
    return;
  Value inRest = arith::AndIOp::create(kernel.getBuilder(), kernel.getLoc(), compare(arith::CmpIPredicate::sge, whole),
                                       compare(arith::CmpIPredicate::slt, count));
  emitVectors(root, thread, inRest, whole, rest, 1, whole * vector);
}

Value PointwiseEmitter::plus(Value value, int64_t more) {
  OpBuilder &b = kernel.getBuilder();
  Value add = arith::ConstantOp::create(b, kernel.getLoc(), b.getI64IntegerAttr(more));
  return b.createOrFold<arith::AddIOp>(kernel.getLoc(), value, add);
}

void PointwiseEmitter::atTileElement(ElementScope &root, AffineExpr block, Value alongInTile, Value lastInTile,
                                     TileBody body) {
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  size_t last = extents.size() - 1;
  int64_t lastTiles = tilesOf(last), alongTiles = tilesOf(along);
  auto position = [&](AffineExpr tile, Value inTile) {
    return arith::AddIOp::create(b, loc, root.index(space.simplify(tile * tileSide)), inTile);
  };
  Value lastAt = position(space.simplify(block % lastTiles), lastInTile);
  Value alongAt = position(space.simplify(block.floorDiv(lastTiles) % alongTiles), alongInTile);
  Value live;
  auto below = [&](Value value, int64_t extent) {
    if (extent % tileSide == 0)
      return;
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, value, root.i64(extent));
    live = live ? Value(arith::AndIOp::create(b, loc, live, inside)) : inside;
  };
  below(lastAt, extents[last]);
  below(alongAt, extents[along]);
  emitIf(root, live, {}, [&]() -> SmallVector<Value> {
    ElementScope scope(root);
    SmallVector<int64_t> outer;
    for (auto [loop, extent] : llvm::enumerate(extents))
      if (loop != last && loop != along)
        outer.push_back(extent);
    SmallVector<AffineExpr> index = space.delinearize(outer, space.simplify(block.floorDiv(lastTiles * alongTiles)));
    index.insert(index.begin() + along, scope.bind(alongAt, 0, extents[along] - 1));
    index.push_back(scope.bind(lastAt, 0, extents[last] - 1));
    body(scope, index, scope.bind(alongInTile, 0, tileSide - 1), scope.bind(lastInTile, 0, tileSide - 1));
    return {};
  });
}

// The index of an input's element where the merged loops are at `index`.
SmallVector<AffineExpr> PointwiseEmitter::indexOf(const TransposedRead &read, ArrayRef<AffineExpr> index) {
  llvm::DenseMap<AffineExpr, AffineExpr> places;
  for (auto [dim, place] : llvm::zip(dims, index))
    places[dim] = place;
  return space.delinearize(shapeOf(read.input), space.simplify(read.offset.replace(places)));
}

void PointwiseEmitter::fillTiles(ElementScope &root, AffineExpr block) {
  for (int64_t row = 0; row < tileSide; row += tileRows)
    atTileElement(root, block, kernel.threadId(0), plus(kernel.threadId(1), row),
                  [&](ElementScope &scope, ArrayRef<AffineExpr> index, AffineExpr alongInTile, AffineExpr lastInTile) {
                    AffineExpr place = space.simplify(lastInTile * tilePitch + alongInTile);
                    SmallVector<Value> elements;
                    for (const TransposedRead &read : transposed)
                      elements.push_back(scope.element(read.input, indexOf(read, index)));
                    for (auto [read, element] : llvm::zip(transposed, elements))
                      scope.store(read.tile, place, element);
                  });
}

void PointwiseEmitter::emitTiled() {
  int64_t blocks = tilesOf(along) * tilesOf(extents.size() - 1);
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (loop != along && loop + 1 != extents.size())
      blocks *= extent;
  kernel.launch({blocks, 1, 1}, {tileSide, tileRows, 1}, [&] {
    for (TransposedRead &read : transposed)
      read.tile = kernel.shared(tileSide * tilePitch, getElementTypeOrSelf(read.input.getType()));
    ElementScope root(view, space);
    AffineExpr block = space.simplify(root.bind(kernel.blockId(), 0, blocks - 1));
    fillTiles(root, block);
    kernel.barrier();
    for (int64_t row = 0; row < tileSide; row += tileRows)
      atTileElement(
          root, block, plus(kernel.threadId(1), row), kernel.threadId(0),
          [&](ElementScope &scope, ArrayRef<AffineExpr> index, AffineExpr alongInTile, AffineExpr lastInTile) {
            AffineExpr place = space.simplify(lastInTile * tilePitch + alongInTile);
            for (const TransposedRead &read : transposed)
              scope.provide(read.input, indexOf(read, index), [&read, place](ElementScope &asking) {
                return asking.load(read.tile, tileSide * tilePitch, place);
              });
            storeResults(scope, space.delinearize(domain, space.linearize(extents, index)));
          });
  });
}

LogicalResult PointwiseEmitter::emit() {
  if (product(domain) == 0)
    return success();
  if (failed(analyse()))
    return failure();
  if (transposed.empty())
    emitFlat();
  else
    emitTiled();
  return success();
}

LogicalResult codegen::emitGpuPointwise(GpuKernelBuilder &kernel, dl::GroupOp group) {
  return PointwiseEmitter(kernel, group).emit();
}

LogicalResult codegen::emitGpuHorizontal(GpuKernelBuilder &kernel, dl::GroupOp group) {
  std::vector<std::unique_ptr<PartKernelBuilder>> views;
  std::vector<std::unique_ptr<PointwiseEmitter>> parts;
  int64_t threads = 0, blocks = 0;
  for (auto part : group.getBody().front().getOps<dl::GroupOp>()) {
    if (product(part.getDomain()) == 0)
      continue;
    views.push_back(std::make_unique<PartKernelBuilder>(kernel, part));
    parts.push_back(std::make_unique<PointwiseEmitter>(kernel, *views.back(), part));
    if (failed(parts.back()->analyse()))
      return failure();
    threads = std::max(threads, parts.back()->flatThreads());
  }
  int64_t block = threadsOfBlock(threads);
  for (const auto &part : parts)
    blocks += blocksFor(part->flatThreads(), block)[0];
  kernel.launch({blocks, 1, 1}, {block, 1, 1}, [&] {
    OpBuilder &b = kernel.getBuilder();
    int64_t first = 0;
    for (auto [part, view] : llvm::zip(parts, views)) {
      int64_t count = blocksFor(part->flatThreads(), block)[0];
      IndexSpace space(group.getContext());
      ElementScope root(*view, space);
      // Blocks before the part's first wrap around to large numbers.
      Value number = b.createOrFold<arith::SubIOp>(kernel.getLoc(), kernel.blockId(), root.i64(first));
      Value mine = arith::CmpIOp::create(b, kernel.getLoc(), arith::CmpIPredicate::ult, number, root.i64(count));
      emitIf(root, mine, {}, [&]() -> SmallVector<Value> {
        part->emitFlatBlock(number, block);
        return {};
      });
      first += count;
    }
  });
  return success();
}
