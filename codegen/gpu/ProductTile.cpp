// How products are cut into tiles: blocks enough to fill a large GPU first, then tiles as large as registers allow.
#include "gpu/TiledProduct.h"

#include "dlc/ir/Cast.h"
#include "dlc/ir/Widen.h"
#include "kernels/GroupAnalysis.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

// About the multiprocessors of a large GPU.
static constexpr int64_t wantedBlocks = 128;
// Of a block of 256 threads, 32 each: with what else a thread holds, 128 registers.
static constexpr int64_t mostSums = 8192;
// Fewer terms are not worth a part of their own.
static constexpr int64_t leastPart = 256;

static int64_t tilesOf(const TiledProduct &product, const int64_t (&lines)[2]) {
  return product.batch * llvm::divideCeil(product.rows, lines[0]) * llvm::divideCeil(product.columns, lines[1]);
}

static int64_t eachOf(int64_t lines) { return lines >= 128 ? 8 : lines >= 32 ? 4 : lines >= 16 ? 2 : 1; }

// Every thread copies at least one element of each factor a step, and no more than so many vectors: their addresses
// take registers.
static constexpr int64_t mostVectors = 4;

static void chooseLoads(ProductTile &tile, const TiledProduct &product) {
  int64_t lanes = gpuVectorBytes / bytesOf(product.factorType());
  for (int side : {0, 1}) {
    const ProductFactor &factor = side ? product.right : product.left;
    int64_t extents[] = {product.batch, side ? product.columns : product.rows, product.terms};
    int64_t most = std::min(lanes, tile.lines[side] * tile.step / tile.threads());
    int64_t lines = vectorWidthAlong(extents, 1, factor.offset, factor.bounds, most);
    int64_t terms = vectorWidthAlong(extents, 2, factor.offset, factor.bounds, most);
    tile.alongTerms[side] = terms == lines ? factor.termsAreNear : terms > lines;
    tile.width[side] = std::max(lines, terms);
  }
}

static void chooseStep(ProductTile &tile, const TiledProduct &product) {
  int64_t least = llvm::divideCeil(tile.threads(), std::min(tile.lines[0], tile.lines[1]));
  auto fitting = int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(product.terms, 4))));
  // Two steps in a loop rather than a long one written out: there the assembler reads ahead until registers spill.
  tile.step = std::max(least, fitting <= 16 ? std::min<int64_t>(8, fitting) : 16);
  chooseLoads(tile, product);
  while (tile.step > std::max<int64_t>(least, 8) && std::max(tile.vectors(0), tile.vectors(1)) > mostVectors) {
    tile.step /= 2;
    chooseLoads(tile, product);
  }
}

static void chooseCoreStep(ProductTile &tile, const TiledProduct &product) {
  int64_t coreTerms = product.coreTerms();
  tile.step = product.terms <= coreTerms ? coreTerms : 2 * coreTerms;
  chooseLoads(tile, product);
  if (tile.step > coreTerms && std::max(tile.vectors(0), tile.vectors(1)) > mostVectors) {
    tile.step = coreTerms;
    chooseLoads(tile, product);
  }
}

ProductTile ProductTile::of(const TiledProduct &product) {
  ProductTile tile{};
  int64_t largest = bytesOf(product.element) > 4 ? 64 : 128, least = product.core ? 16 : 8;
  auto linesFor = [&](int64_t extent) {
    auto fitting = int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(extent, 1))));
    return std::clamp<int64_t>(fitting, least, largest);
  };
  tile.lines[0] = linesFor(product.rows);
  tile.lines[1] = linesFor(product.columns);
  // Many terms are shared out in parts instead.
  int64_t smallest = product.terms >= 4 * leastPart ? 64 : 32;
  auto tooLarge = [&] {
    return tile.lines[0] * tile.lines[1] > mostSums ||
           (tilesOf(product, tile.lines) < wantedBlocks && std::max(tile.lines[0], tile.lines[1]) > smallest);
  };
  while (tooLarge())
    tile.lines[tile.lines[0] > tile.lines[1] ? 0 : 1] /= 2;
  for (int side : {0, 1}) // two warps share what is enough for two
    tile.each[side] = product.core ? tile.lines[side] / (tile.lines[side] >= 32 ? 2 : 1) / coreThreads[side]
                                   : eachOf(tile.lines[side]);

  product.core ? chooseCoreStep(tile, product) : chooseStep(tile, product);
  int64_t steps = llvm::divideCeil(product.terms, tile.step);
  int64_t tiles = std::max<int64_t>(tilesOf(product, tile.lines), 1);
  int64_t parts = std::clamp<int64_t>(std::min(wantedBlocks / tiles, product.terms / leastPart), 1, wantedBlocks);
  tile.steps = llvm::divideCeil(steps, parts);
  tile.parts = tile.steps ? llvm::divideCeil(steps, tile.steps) : 1;
  return tile;
}

static bool isVectorAlong(ArrayRef<int64_t> extents, unsigned along, AffineExpr offset, ArrayRef<dl::IndexBound> bounds,
                          int64_t width) {
  if (extents[along] % width)
    return false;
  IndexSpace space(offset.getContext());
  AffineExpr lane = space.addDim(0, width - 1);
  SmallVector<AffineExpr> dims;
  for (auto [i, extent] : llvm::enumerate(extents))
    dims.push_back(i == along ? space.addDim(0, extent / width - 1) * width + lane : space.addDim(0, extent - 1));
  auto varies = [&](AffineExpr expr) { return expr.isFunctionOfDim(cast<AffineDimExpr>(lane).getPosition()); };
  for (const dl::IndexBound &bound : bounds) {
    AffineExpr expr = space.simplify(bound.expr.replaceDims(dims));
    if (varies(expr) && !space.contains(expr, bound.lower, bound.upper))
      return false;
  }
  AffineExpr first = space.simplify(offset.replaceDims(dims) - lane);
  return !varies(first) && (first == space.constant(0) || first.getLargestKnownDivisor() % width == 0);
}

int64_t codegen::vectorWidthAlong(ArrayRef<int64_t> extents, unsigned along, AffineExpr offset,
                                  ArrayRef<dl::IndexBound> bounds, int64_t most) {
  auto width = int64_t(llvm::bit_floor(uint64_t(most)));
  while (width > 1 && !isVectorAlong(extents, along, offset, bounds, width))
    width /= 2;
  return width;
}

Type TiledProduct::factorType() const {
  return core && !core.isTF32() ? IntegerType::get(core.getContext(), 16) : element;
}

static Type narrowFactorsOf(Operation *anchor) {
  Type narrow;
  if (!anchor->hasAttr(dl::kWidenedAttr))
    return {};
  for (unsigned i : {0, 1}) {
    auto cast = anchor->getOperand(i).getDefiningOp<dl::CastOp>();
    Type type = cast && isa<BlockArgument>(cast.getX()) ? cast.getX().getType().getElementType() : Type();
    if (!type || !dl::hasNarrowFloats(type) || (narrow && narrow != type))
      return {};
    narrow = type;
  }
  return narrow;
}

Type codegen::coreTypeOf(Operation *anchor, const GpuOptions &options) {
  if (Type narrow = narrowFactorsOf(anchor))
    return narrow;
  bool isF32 = llvm::all_of(anchor->getOperandTypes(), [](Type type) { return getElementTypeOrSelf(type).isF32(); });
  return options.tf32 && isF32 ? FloatTF32Type::get(anchor->getContext()) : Type();
}

int64_t codegen::tiledProductWorkspaceBytes(const TiledProduct &product) {
  if (!product.resultCount)
    return 0;
  int64_t parts = ProductTile::of(product).parts;
  return parts > 1 ? parts * product.resultCount * bytesOf(product.element) : 0;
}
