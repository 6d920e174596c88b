#include "contraction/MatrixProduct.h"

#include "contraction/TileLimits.h"
#include "contraction/WideRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dlc::codegen {

int64_t contractionBlock(int64_t k) {
  int64_t blocks = std::max<int64_t>(1, (k + 383) / 384);
  return std::max<int64_t>(8, llvm::alignTo(llvm::divideCeil(uint64_t(k), uint64_t(blocks)), 8));
}

namespace {

dl::ContractionAxis axisOf(ArrayRef<dl::ContractionAxis> axes) {
  return axes.empty() ? dl::ContractionAxis{1, 0, 0, 0} : axes.front();
}

/// Emission of one product: positions of elements by the plan's roles (after a swap, rows are rhs).
class ProductEmitter {
public:
  ProductEmitter(KernelBuilder &kernel, const MatrixProductPlan &plan, Type element, unsigned lhs, unsigned rhs,
                 EpilogueFn epilogue)
      : kernel(kernel), b(kernel.getBuilder()), loc(kernel.getLoc()), plan(plan), element(element),
        rowOperand(plan.swapped ? rhs : lhs), columnOperand(plan.swapped ? lhs : rhs), epilogue(epilogue) {}

  void run() {
    if (plan.batch == 0 || plan.m == 0 || plan.n == 0)
      return;
    if (plan.packColumns && !plan.packInScratch && plan.k > 0)
      pack();
    double perElement = double(std::max<int64_t>(plan.k, 1)) * kNanosecondsPerMultiplyAdd;
    Value zero = {}, end = {};
    auto all = [&] { zero = i64(kernel, 0), end = i64(kernel, plan.batch); };
    if (plan.batch >= kShareable) {
      kernel.parallelRange(plan.batch, 1, perElement * double(plan.m * plan.n), [&](Value lo, Value hi) {
        zero = i64(kernel, 0);
        slivers(lo, hi, zero, i64(kernel, plan.slivers()), zero, i64(kernel, plan.rows.count()));
      });
    } else if (plan.slivers() >= kShareable || plan.rows.count() < 2) {
      kernel.parallelRange(plan.slivers(), 1, perElement * double(plan.batch * plan.m * plan.sliverWidth()),
                           [&](Value lo, Value hi) {
                             all();
                             slivers(zero, end, lo, hi, zero, i64(kernel, plan.rows.count()));
                           });
    } else {
      kernel.parallelRange(plan.rows.count(), 1, perElement * double(plan.batch * (plan.rows.size + 1) * plan.n),
                           [&](Value lo, Value hi) {
                             all();
                             slivers(zero, end, zero, i64(kernel, plan.slivers()), lo, hi);
                           });
    }
  }

private:
  int64_t rowStride(const dl::ContractionAxis &axis) const { return plan.swapped ? axis.rhsStride : axis.lhsStride; }
  int64_t columnStride(const dl::ContractionAxis &axis) const { return plan.swapped ? axis.lhsStride : axis.rhsStride; }

  /// Columns of one sliver as vectors: `width` of them exist.
  SmallVector<RegisterTile::Column> columns(int64_t width) const {
    SmallVector<RegisterTile::Column> list;
    for (int64_t first = 0; first < width; first += plan.lanes)
      list.push_back({first, std::min(plan.lanes, width - first)});
    return list;
  }

  // Element order of a packed sliver is [k][sliver width]: a tile reads it from start to end.
  void pack() {
    kernel.parallelRange(plan.batch * plan.k, 1, double(plan.n), [&](Value lo, Value hi) {
      Memory target = kernel.workspace(0, element);
      forLoop(kernel, lo, hi, [&](Value index) {
        Value batch = i64(kernel, 0), k = index;
        if (plan.batch > 1) {
          batch = arith::DivUIOp::create(b, loc, index, i64(kernel, plan.k));
          k = arith::RemUIOp::create(b, loc, index, i64(kernel, plan.k));
        }
        packTerm(batch, k, target, scaled(kernel, batch, plan.packedElements()));
      });
    });
  }

  void packTerm(Value batch, Value k, Memory target, Value base) {
    int64_t width = plan.sliverWidth(), full = plan.n / width;
    Memory source = kernel.operand(columnOperand, element);
    Value from =
        add(kernel, scaled(kernel, batch, columnStride(plan.batchAxis)), scaled(kernel, k, columnStride(plan.kAxis)));
    Value to = add(kernel, base, scaled(kernel, k, width));
    auto sliver = [&](Value j, int64_t live) {
      Value source0 = add(kernel, from, scaled(kernel, j, width * columnStride(plan.nAxis)));
      Value target0 = add(kernel, to, scaled(kernel, j, plan.k * width));
      for (const RegisterTile::Column &column : columns(live)) {
        int64_t stride = columnStride(plan.nAxis);
        Value values = loadLanes(kernel, source, addOffset(kernel, source0, column.offset * stride), stride,
                                 column.live, plan.lanes);
        storeLanes(kernel, target, addOffset(kernel, target0, column.offset), 1, plan.lanes, values);
      }
    };
    forLoop(kernel, i64(kernel, 0), i64(kernel, full), [&](Value j) { sliver(j, width); });
    if (plan.n % width)
      sliver(i64(kernel, full), plan.n % width);
  }

  void slivers(Value batchLo, Value batchHi, Value lo, Value hi, Value tileLo, Value tileHi) {
    int64_t width = plan.sliverWidth(), full = plan.n / width;
    if (plan.wideRows)
      wideRows = kernel.scratch(plan.wideRowElements(), element);
    if (plan.packInScratch)
      packed = kernel.scratch(std::max<int64_t>(plan.packedElements(), 1), element);
    forLoop(kernel, batchLo, batchHi, [&](Value batch) {
      if (plan.packInScratch)
        forLoop(kernel, i64(kernel, 0), i64(kernel, plan.k),
                [&](Value k) { packTerm(batch, k, *packed, i64(kernel, 0)); });
      if (full) {
        Value end = arith::MinSIOp::create(b, loc, hi, i64(kernel, full));
        forLoop(kernel, lo, end, [&](Value j) { tiles(batch, j, width, tileLo, tileHi); });
      }
      if (plan.n % width) {
        Value start = arith::MaxSIOp::create(b, loc, lo, i64(kernel, full));
        forLoop(kernel, start, hi, [&](Value j) { tiles(batch, j, plan.n % width, tileLo, tileHi); });
      }
    });
  }

  void tiles(Value batch, Value sliver, int64_t width, Value tileLo, Value tileHi) {
    RegisterTile tile;
    tile.element = element;
    tile.lanes = plan.lanes;
    tile.columns = columns(width);
    tile.blockExtent = plan.blockExtent;
    tile.leaves = plan.leaves;
    tile.leafExtent = plan.leafTerms;
    tile.wideRows = wideRows;
    Memory rows = kernel.operand(rowOperand, element);
    Memory source = plan.packInScratch ? *packed
                    : plan.packColumns ? kernel.workspace(0, element)
                                       : kernel.operand(columnOperand, element);
    int64_t packedWidth = plan.sliverWidth();
    Value columnBase;
    if (plan.packColumns) {
      if (tile.columns.back().live < plan.lanes)
        tile.columns.back().live = plan.lanes; // packed slivers are padded: whole vectors can be read
      columnBase = scaled(kernel, sliver, plan.k * packedWidth);
      if (!plan.packInScratch)
        columnBase = add(kernel, scaled(kernel, batch, plan.packedElements()), columnBase);
    } else {
      columnBase = add(kernel, scaled(kernel, batch, columnStride(plan.batchAxis)),
                       scaled(kernel, sliver, packedWidth * columnStride(plan.nAxis)));
    }
    tile.loops = {{plan.k, rowStride(plan.kAxis), plan.packColumns ? packedWidth : columnStride(plan.kAxis)}};
    Value batchRows = scaled(kernel, batch, rowStride(plan.batchAxis));
    forEachTile(kernel, plan.rows, tileLo, tileHi, [&](Value first, int64_t height) {
      tile.rows.clear();
      for (int64_t row = 0; row < height; ++row)
        tile.rows.push_back(row * rowStride(plan.mAxis));
      Value rowBase = add(kernel, batchRows, scaled(kernel, first, rowStride(plan.mAxis)));
      SmallVector<Value> sums = tile.emit(kernel, rows, rowBase, source, columnBase);
      Value column0 = scaled(kernel, sliver, packedWidth);
      SmallVector<RegisterTile::Column> stored = columns(width);
      for (int64_t row = 0; row < height; ++row)
        for (auto [number, column] : llvm::enumerate(stored))
          finish(batch, addOffset(kernel, first, row), addOffset(kernel, column0, column.offset), column.live,
                 sums[size_t(row) * stored.size() + number]);
    });
  }

  void finish(Value batch, Value row, Value column, int64_t live, Value sum) {
    SmallVector<Value> index;
    if (plan.batchAxis.resultStride)
      index.push_back(batch);
    if (plan.mAxis.resultStride)
      index.push_back(row);
    if (plan.nAxis.resultStride)
      index.push_back(column);
    epilogue(index, Lane{plan.lanes, prefixMask(kernel, live, plan.lanes)}, sum);
  }

  KernelBuilder &kernel;
  OpBuilder &b;
  Location loc;
  const MatrixProductPlan &plan;
  Type element;
  unsigned rowOperand, columnOperand;
  EpilogueFn epilogue;
  std::optional<Memory> wideRows, packed; ///< of the phase that is emitted
};

} // namespace

MatrixProductPlan MatrixProductPlan::of(const dl::ContractionDims &dims, int64_t elementBytes,
                                        const CpuTraits &traits) {
  MatrixProductPlan plan;
  plan.batchAxis = axisOf(dims.batch);
  plan.mAxis = axisOf(dims.m);
  plan.nAxis = axisOf(dims.n);
  plan.kAxis = axisOf(dims.k);
  // Without n, the rows are contiguous in the result: they become the columns.
  plan.swapped = dims.n.empty() && !dims.m.empty();
  if (plan.swapped)
    std::swap(plan.mAxis, plan.nAxis);
  plan.batch = plan.batchAxis.extent;
  plan.m = plan.mAxis.extent;
  plan.n = plan.nAxis.extent;
  plan.k = plan.kAxis.extent;
  plan.leaves = dims.leaves;
  plan.leafTerms = dims.leafTerms;
  plan.blockExtent = contractionBlock(plan.leafTerms);

  plan.lanes = lanesFor(plan.n, elementBytes, traits);
  plan.vectors = plan.n > plan.lanes ? 2 : 1;
  plan.rows = TileSplit::of(plan.m, mostTileRows(plan.vectors, traits));
  int64_t stride = plan.swapped ? plan.nAxis.lhsStride : plan.nAxis.rhsStride;
  if (stride != 1 && plan.n > 1)
    plan.pack(elementBytes, traits);
  return plan;
}

void MatrixProductPlan::pack(int64_t elementBytes, const CpuTraits &traits) {
  packColumns = true;
  packInScratch = batch >= kShareable && packedElements() * elementBytes <= traits.scratchBytes;
}

int64_t MatrixProductPlan::workspaceBytes(int64_t elementBytes) const {
  return packColumns && !packInScratch ? batch * packedElements() * elementBytes : 0;
}

int64_t MatrixProductPlan::wideRowElements() const {
  return WideRows::elements(rows.size + (rows.large ? 1 : 0), std::min(blockExtent, k));
}

void emitMatrixProduct(KernelBuilder &kernel, const MatrixProductPlan &plan, Type element, unsigned lhs, unsigned rhs,
                       EpilogueFn epilogue) {
  ProductEmitter(kernel, plan, element, lhs, rhs, epilogue).run();
}

} // namespace dlc::codegen
