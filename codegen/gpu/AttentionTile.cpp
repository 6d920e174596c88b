// How attention is cut into tiles: 4 x 4 scores a thread, fewer where there are not so many or where blocks are few.
#include "gpu/AttentionTile.h"

#include "gpu/GpuKernelBuilder.h"
#include "kernels/GroupAnalysis.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

// About the multiprocessors of a large GPU.
static constexpr int64_t wantedBlocks = 128;
static constexpr int64_t mostDown = 8, leastDown = 4;

static int64_t ceilDivide(int64_t a, int64_t divisor) {
  return int64_t(llvm::divideCeil(uint64_t(a), uint64_t(divisor)));
}
static int64_t powerOf2(int64_t atLeast) {
  return int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(atLeast, 1))));
}
static int64_t aligned(int64_t count, int64_t multiple) { return ceilDivide(count, multiple) * multiple; }

// So many that nothing is spilled, addresses of what is on its way to shared memory included; a processor has room for
// 4, 3 or 2 blocks of 128 threads.
static int64_t registersOf(const AttentionTile &tile, const dl::AttentionDims &dims) {
  int64_t sums = tile.each * tile.eachColumns() * gpuVectorBytes / (4 * tile.lanes);
  bool vectors = dims.depth % tile.lanes == 0 && dims.width % tile.lanes == 0;
  if (sums > 32)
    return 232;
  return sums <= 16 && vectors && tile.threads() > warpSize ? 128 : 168;
}

AttentionTile AttentionTile::of(const dl::AttentionDims &dims, Type element) {
  AttentionTile tile{};
  int64_t bytes = bytesOf(element), words = bytes / 4;
  tile.lanes = gpuVectorBytes / bytes;

  tile.each = std::clamp<int64_t>(powerOf2(dims.queries) / 2, 1, 4);
  tile.down = std::clamp<int64_t>(powerOf2(ceilDivide(dims.queries, tile.each)), 2, mostDown);
  while (tile.down > leastDown && dims.batch * ceilDivide(dims.queries, tile.queries()) < wantedBlocks)
    tile.down /= 2;
  tile.keys = across * std::clamp<int64_t>(powerOf2(dims.keys) / across, 1, 4 / words);

  int64_t mostDepth = 64 / words, mostColumns = 256 / words;
  tile.chunks = ceilDivide(dims.depth, mostDepth);
  tile.depth = tile.chunks ? aligned(ceilDivide(dims.depth, tile.chunks), tile.lanes) : 0;

  tile.blocks = std::max<int64_t>(ceilDivide(dims.width, mostColumns), 1);
  int64_t columns = ceilDivide(dims.width, tile.blocks);
  tile.group = std::clamp<int64_t>(powerOf2(columns) / across, 1, tile.lanes);
  tile.columns = aligned(columns, across * tile.group);
  int64_t space = tile.keys * mostDepth;
  tile.values =
      tile.columns ? std::min(tile.keys, int64_t(llvm::bit_floor(uint64_t(space / tile.columns)))) : tile.keys;
  tile.registers = registersOf(tile, dims);
  return tile;
}
