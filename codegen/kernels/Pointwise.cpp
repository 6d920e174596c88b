// Pointwise groups: neighbouring dims that every operand walks as one are merged, so that loops are long; the innermost
// loop is vectorised with a masked tail, all others are one parallel loop. Where an operand is read transposed, tiles
// of lines are walked across.
#include "kernels/Emitters.h"
#include "kernels/GroupAnalysis.h"
#include "kernels/Loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {
class PointwiseEmitter {
public:
  PointwiseEmitter(KernelBuilder &kernel, dl::GroupOp group)
      : kernel(kernel), group(group), space(group.getContext()), domain(group.getDomain()),
        width(lanesOf(kernel, group)) {}

  LogicalResult emit();

private:
  void emitFlat(int64_t extent, Value lo, Value hi);
  void emitNested(ArrayRef<int64_t> extents, int64_t block, Value lo, Value hi);
  void emitTransposed(ArrayRef<int64_t> extents, Value lo, Value hi);
  FailureOr<bool> readsTransposed(ArrayRef<int64_t> extents);
  void storeResults(ElementScope &lanes, ArrayRef<AffineExpr> index);

  KernelBuilder &kernel;
  dl::GroupOp group;
  IndexSpace space;
  ArrayRef<int64_t> domain;
  int64_t width;
};
} // namespace

// Everything is evaluated before the first store: a result may be written over an input.
void PointwiseEmitter::storeResults(ElementScope &lanes, ArrayRef<AffineExpr> index) {
  AffineExpr offset = space.linearize(domain, index);
  SmallVector<Value> elements;
  for (Value result : resultsOf(group))
    elements.push_back(lanes.element(result, index));
  for (auto [i, element] : llvm::enumerate(elements))
    lanes.store(resultMemory(kernel, group, i), offset, element);
}

void PointwiseEmitter::emitFlat(int64_t extent, Value lo, Value hi) {
  ElementScope scope(kernel, space);
  auto body = [&](ElementScope &lanes, AffineExpr position) {
    storeResults(lanes, space.delinearize(domain, position));
  };
  if (constantOf(hi) || extent == 1)
    return emitSpan(scope, extent, width, body);
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  int64_t whole = extent / width;
  VectorSpan span{arith::DivUIOp::create(b, loc, lo, scope.i64(width)),
                  arith::DivUIOp::create(b, loc, hi, scope.i64(width)),
                  whole,
                  width,
                  extent % width,
                  {},
                  space.constant(whole * width)};
  if (span.tail)
    span.tailCondition = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, hi, scope.i64(extent));
  emitSpan(scope, space.constant(0), span, body);
}

void PointwiseEmitter::emitNested(ArrayRef<int64_t> extents, int64_t block, Value lo, Value hi) {
  ElementScope root(kernel, space);
  int64_t inner = extents.back(), blocks = (inner + block - 1) / block;
  int64_t count = product(extents.drop_back()) * blocks;
  OpBuilder &b = kernel.getBuilder();
  Location loc = kernel.getLoc();
  emitLoop(root, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
    ElementScope row(root);
    AffineExpr iteration = row.bind(iv, 0, count - 1);
    SmallVector<AffineExpr> outer = space.delinearize(extents.drop_back(), space.simplify(iteration.floorDiv(blocks)));
    auto body = [&](ElementScope &lanes, AffineExpr position) {
      SmallVector<AffineExpr> index = outer;
      index.push_back(position);
      storeResults(lanes, space.delinearize(domain, space.linearize(extents, index)));
    };
    if (blocks == 1) {
      emitSpan(row, inner, width, body);
      return {};
    }
    // Vectors are counted from the row's start, not the block's: their range is the row's, and offsets stay linear.
    int64_t whole = inner / width, perBlock = block / width;
    AffineExpr number = space.simplify(iteration % blocks);
    Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, row.index(number), row.i64(blocks - 1));
    Value first = row.index(space.simplify(number * perBlock));
    Value behind = arith::AddIOp::create(b, loc, first, row.i64(perBlock));
    Value hiVector = arith::SelectOp::create(b, loc, last, row.i64(whole), behind);
    VectorSpan span{first, hiVector, whole, width, inner % width, last, space.constant(whole * width)};
    emitSpan(row, space.constant(0), span, body);
    return {};
  });
}

// Lanes read `tileLines` lines of memory side by side: all that lies on them is used before they leave the cache.
static constexpr int64_t tileLines = 16;

void PointwiseEmitter::emitTransposed(ArrayRef<int64_t> extents, Value lo, Value hi) {
  ElementScope root(kernel, space);
  int64_t inner = extents.back(), along = extents[extents.size() - 2], tiles = (along + tileLines - 1) / tileLines;
  ArrayRef<int64_t> outer = extents.drop_back(2);
  int64_t count = product(outer) * tiles;
  emitLoop(root, lo, hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
    ElementScope tile(root);
    AffineExpr iteration = tile.bind(iv, 0, count - 1);
    SmallVector<AffineExpr> outerIndex = space.delinearize(outer, space.simplify(iteration.floorDiv(tiles)));
    OpBuilder &b = kernel.getBuilder();
    Value first = tile.index(space.simplify((iteration % tiles) * tileLines));
    Value behind = arith::AddIOp::create(b, kernel.getLoc(), first, tile.i64(tileLines));
    behind = arith::MinSIOp::create(b, kernel.getLoc(), behind, tile.i64(along));
    emitSpan(tile, inner, width, [&](ElementScope &lanes, AffineExpr position) {
      emitLoop(lanes, first, behind, {}, [&](Value line, ValueRange) -> SmallVector<Value> {
        ElementScope step(lanes, ElementScope::SameLanes());
        SmallVector<AffineExpr> index = outerIndex;
        index.push_back(step.bind(line, 0, along - 1));
        index.push_back(position);
        storeResults(step, space.delinearize(domain, space.linearize(extents, index)));
        return {};
      });
    });
    return {};
  });
}

// Whether some operand lies contiguous along the last but one loop, and not along the last.
FailureOr<bool> PointwiseEmitter::readsTransposed(ArrayRef<int64_t> extents) {
  if (extents.size() < 2)
    return false;
  SmallVector<AffineExpr> dims;
  for (int64_t extent : extents)
    dims.push_back(space.addDim(0, extent - 1));
  AccessCollector accesses(space);
  for (Value result : resultsOf(group))
    if (failed(accesses.visit(result, space.delinearize(domain, space.linearize(extents, dims)))))
      return failure();
  return llvm::any_of(accesses.getExprs(), [&](AffineExpr expr) {
    bool contiguous = false, strided = false;
    for (auto [term, coefficient] : space.linearForm(expr).terms) {
      contiguous |= term == dims[dims.size() - 2] && coefficient == 1;
      strided |= term == dims.back() && coefficient > 2;
    }
    return contiguous && strided;
  });
}

LogicalResult PointwiseEmitter::emit() {
  if (product(domain) == 0)
    return success();
  AccessCollector accesses(space);
  SmallVector<AffineExpr> dims;
  for (int64_t extent : domain)
    dims.push_back(space.addDim(0, extent - 1));
  for (AffineExpr &dim : dims)
    dim = space.simplify(dim);
  double nanoseconds = 0;
  for (Value result : resultsOf(group)) {
    if (shapeOf(result) != domain)
      return group.emitOpError("expects results of the domain's shape, got ") << result.getType();
    if (failed(accesses.visit(result, dims)))
      return failure();
    nanoseconds += 0.1 * double(bytesOf(getElementTypeOrSelf(result.getType())));
  }
  nanoseconds += accesses.getNanoseconds();
  SmallVector<AffineExpr> exprs(accesses.getExprs());
  exprs.push_back(space.linearize(domain, dims));
  SmallVector<int64_t> extents = collapse(domain, exprs);
  if (extents.size() == 1) {
    kernel.parallelRange(extents[0], 64, nanoseconds, [&](Value lo, Value hi) { emitFlat(extents[0], lo, hi); });
    return success();
  }
  FailureOr<bool> transposed = readsTransposed(extents);
  if (failed(transposed))
    return failure();
  if (*transposed) {
    int64_t along = extents[extents.size() - 2], tiles = (along + tileLines - 1) / tileLines;
    kernel.parallelRange(product(ArrayRef(extents).drop_back(2)) * tiles, 1,
                         (nanoseconds + 1) * double(extents.back() * std::min(along, tileLines)),
                         [&](Value lo, Value hi) { emitTransposed(extents, lo, hi); });
    return success();
  }
  int64_t inner = extents.back(), block = inner > 16384 ? 4096 : inner;
  int64_t count = product(ArrayRef(extents).drop_back()) * ((inner + block - 1) / block);
  kernel.parallelRange(count, 1, nanoseconds * double(block) + 5,
                       [&](Value lo, Value hi) { emitNested(extents, block, lo, hi); });
  return success();
}

LogicalResult codegen::emitPointwise(KernelBuilder &kernel, dl::GroupOp group) {
  return PointwiseEmitter(kernel, group).emit();
}
