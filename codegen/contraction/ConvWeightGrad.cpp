#include "contraction/Convolution.h"
#include "contraction/PlaneCopy.h"
#include "contraction/TileLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dlc::codegen {

namespace {

// Up to so many (channel, tap) pairs each tile's rows are written out; above, tiles loop over channels at one tap.
constexpr int64_t kFewRows = 48;

/// Where things lie in the workspace, in bytes, and how the gradient is cut into tiles.
struct WeightGradPlan {
  dl::ConvDims dims;
  int64_t lanes, vectors, paddedChannels, plane, taps;
  PlaneSpread padding{};
  bool copyInput;
  int64_t mostRows;
  int64_t inputAt = 0, gradientAt, sumsAt, bytes;

  WeightGradPlan(const dl::ConvDims &dims, int64_t elementBytes, const CpuTraits &traits) : dims(dims) {
    taps = dims.kernel[0] * dims.kernel[1];
    lanes = lanesFor(dims.outChannels, elementBytes, traits);
    paddedChannels = int64_t(llvm::alignTo(uint64_t(dims.outChannels), uint64_t(lanes)));
    bool few = rowCount() <= kFewRows;
    vectors = !few && paddedChannels % (2 * lanes) == 0 ? 2 : 1;
    mostRows = mostTileRows(vectors, traits);
    padding = PlaneSpread::padding(dims);
    plane = padding.to[0] * padding.to[1];
    copyInput = !padding.isIdentity();
    auto aligned = [](int64_t size) { return int64_t(llvm::alignTo(uint64_t(size), 64)); };
    gradientAt = copyInput ? aligned(dims.batch * dims.inChannels * plane * elementBytes) : 0;
    sumsAt = gradientAt + aligned(dims.batch * pixels() * paddedChannels * elementBytes);
    bytes = sumsAt + aligned(leaves() * leafSums() * elementBytes);
  }

  int64_t rowCount() const { return dims.inChannels * taps; }
  int64_t pixels() const { return dims.out[0] * dims.out[1]; }
  /// Leaves that have images.
  int64_t leaves() const {
    int64_t images = std::max<int64_t>(dims.leafImages(), 1);
    return std::max<int64_t>((dims.batch + images - 1) / images, 1);
  }
  /// Elements of one leaf's sums.
  int64_t leafSums() const { return rowCount() * paddedChannels; }
  int64_t slivers() const { return paddedChannels / (lanes * vectors); }
};

class WeightGradEmitter {
public:
  WeightGradEmitter(KernelBuilder &kernel, const WeightGradPlan &plan, Type element, unsigned input,
                    unsigned outputGrad, EpilogueFn epilogue)
      : kernel(kernel), b(kernel.getBuilder()), loc(kernel.getLoc()), plan(plan), dims(plan.dims), element(element),
        input(input), outputGrad(outputGrad), epilogue(epilogue) {}

  void run() {
    if (plan.rowCount() == 0 || dims.outChannels == 0)
      return;
    if (dims.batch && plan.pixels())
      prepare();
    accumulate();
    finish();
  }

private:
  void prepare() {
    int64_t lanes = kernel.lanesOf(element);
    double cost = double(dims.outChannels * plan.pixels()) + double(dims.inChannels * plan.plane);
    kernel.parallelRange(dims.batch, 1, cost * 0.3, [&](Value lo, Value hi) {
      Memory gradient = kernel.workspace(plan.gradientAt, element), padded = kernel.workspace(plan.inputAt, element);
      Memory x = kernel.operand(input, element), dy = kernel.operand(outputGrad, element);
      forLoop(kernel, lo, hi, [&](Value n) {
        if (plan.copyInput)
          forLoop(kernel, i64(kernel, 0), i64(kernel, dims.inChannels), [&](Value c) {
            Value p = add(kernel, scaled(kernel, n, dims.inChannels), c);
            emitPlaneSpread(kernel, plan.padding, lanes, x, scaled(kernel, p, dims.in[0] * dims.in[1]), padded,
                            scaled(kernel, p, plan.plane));
          });
        emitTranspose(kernel, dims.outChannels, plan.pixels(), plan.paddedChannels, plan.lanes, dy,
                      scaled(kernel, n, dims.outChannels * plan.pixels()), gradient,
                      scaled(kernel, n, plan.pixels() * plan.paddedChannels));
      });
    });
  }

  /// sums[leaf][row][channel], rows in (input channel, tap) order.
  void accumulate() {
    bool few = plan.rowCount() <= kFewRows;
    TileSplit chunks = TileSplit::of(plan.rowCount(), plan.mostRows);
    int64_t units = (few ? chunks.count() : plan.taps) * plan.slivers();
    double cost = double(dims.multiplyAdds()) / double(units) * kNanosecondsPerMultiplyAdd;
    kernel.parallelRange(units, 1, cost, [&](Value lo, Value hi) {
      clearSums(lo, hi, few, chunks);
      // Images outermost: one image's data is read from the cache by all its tiles.
      forLoop(kernel, i64(kernel, 0), i64(kernel, dims.batch), [&](Value n) {
        if (few)
          forEachChunk(lo, hi, chunks, [&](int64_t first, int64_t height, Value sliver) {
            SmallVector<int64_t> rows, offsets;
            for (int64_t row = first; row < first + height; ++row) {
              int64_t channel = row / plan.taps, tap = row % plan.taps;
              rows.push_back(row - first);
              offsets.push_back(channel * plan.plane + tap / dims.kernel[1] * plan.padding.to[1] +
                                tap % dims.kernel[1]);
            }
            tile(n, offsets, i64(kernel, 0), rows, i64(kernel, first), sliver);
          });
        else
          forLoop(kernel, lo, hi, [&](Value unit) { tapUnit(n, unit); });
      });
    });
  }

  void forEachChunk(Value lo, Value hi, const TileSplit &chunks,
                    llvm::function_ref<void(int64_t first, int64_t height, Value sliver)> body) {
    int64_t first = 0;
    for (int64_t chunk = 0; chunk < chunks.count(); ++chunk) {
      int64_t height = chunks.size + (chunk < chunks.large ? 1 : 0);
      Value start = addOffset(kernel, lo, -chunk * plan.slivers()),
            end = addOffset(kernel, hi, -chunk * plan.slivers());
      start = arith::MaxSIOp::create(b, loc, start, i64(kernel, 0));
      end = arith::MinSIOp::create(b, loc, end, i64(kernel, plan.slivers()));
      forLoop(kernel, start, end, [&](Value sliver) { body(first, height, sliver); });
      first += height;
    }
  }

  void tapUnit(Value n, Value unit) {
    Value slivers = i64(kernel, plan.slivers()), kernelWidth = i64(kernel, dims.kernel[1]);
    Value tap = arith::DivUIOp::create(b, loc, unit, slivers), sliver = arith::RemUIOp::create(b, loc, unit, slivers);
    Value base = add(kernel, scaled(kernel, arith::DivUIOp::create(b, loc, tap, kernelWidth), plan.padding.to[1]),
                     arith::RemUIOp::create(b, loc, tap, kernelWidth));
    TileSplit channels = TileSplit::of(dims.inChannels, plan.mostRows);
    forEachTile(kernel, channels, i64(kernel, 0), i64(kernel, channels.count()), [&](Value first, int64_t height) {
      SmallVector<int64_t> offsets, rows;
      for (int64_t i = 0; i < height; ++i) {
        offsets.push_back(i * plan.plane);
        rows.push_back(i * plan.taps);
      }
      tile(n, offsets, add(kernel, base, scaled(kernel, first, plan.plane)), rows,
           add(kernel, tap, scaled(kernel, first, plan.taps)), sliver);
    });
  }

  /// Adds one image's sums of the rows at `offsets` of the input to rows firstRow + rows[i] of the sums.
  void tile(Value n, ArrayRef<int64_t> offsets, Value base, ArrayRef<int64_t> rows, Value firstRow, Value sliver) {
    RegisterTile tile;
    tile.element = element;
    tile.lanes = plan.lanes;
    tile.rows.assign(offsets.begin(), offsets.end());
    for (int64_t vector = 0; vector < plan.vectors; ++vector)
      tile.columns.push_back({vector * plan.lanes, plan.lanes});
    tile.loops = {{dims.out[0], dims.stride[0] * plan.padding.to[1], dims.out[1] * plan.paddedChannels},
                  {dims.out[1], dims.stride[1], plan.paddedChannels}};
    Memory x = plan.copyInput ? kernel.workspace(plan.inputAt, element) : kernel.operand(input, element);
    Memory gradient = kernel.workspace(plan.gradientAt, element), sums = kernel.workspace(plan.sumsAt, element);
    Value column = scaled(kernel, sliver, plan.lanes * plan.vectors);
    SmallVector<Value> image =
        tile.emit(kernel, x, add(kernel, base, scaled(kernel, n, dims.inChannels * plan.plane)), gradient,
                  add(kernel, column, scaled(kernel, n, plan.pixels() * plan.paddedChannels)));
    Lane lane{plan.lanes};
    Value leaf =
        plan.leaves() > 1 ? Value(arith::DivUIOp::create(b, loc, n, i64(kernel, dims.leafImages()))) : i64(kernel, 0);
    Value leafBase = scaled(kernel, leaf, plan.leafSums());
    for (auto [i, row] : llvm::enumerate(rows))
      for (int64_t vector = 0; vector < plan.vectors; ++vector) {
        Value at = add(kernel, scaled(kernel, addOffset(kernel, firstRow, row), plan.paddedChannels), column);
        at = add(kernel, leafBase, addOffset(kernel, at, vector * plan.lanes));
        Value total = arith::AddFOp::create(b, loc, kernel.load(sums, at, 1, lane),
                                            image[i * size_t(plan.vectors) + size_t(vector)]);
        kernel.store(sums, at, lane, total);
      }
  }

  // Sums start from -0, which leaves the first image's bits as they are.
  void clearSums(Value lo, Value hi, bool few, const TileSplit &chunks) {
    Memory sums = kernel.workspace(plan.sumsAt, element);
    int64_t width = plan.lanes * plan.vectors;
    TypedAttr splat =
        DenseElementsAttr::get(VectorType::get({plan.lanes}, element), Attribute(b.getFloatAttr(element, -0.0)));
    Value start = arith::ConstantOp::create(b, loc, splat);
    auto clear = [&](Value row, Value sliver) {
      Value at = add(kernel, scaled(kernel, row, plan.paddedChannels), scaled(kernel, sliver, width));
      for (int64_t leaf = 0; leaf < plan.leaves(); ++leaf)
        for (int64_t vector = 0; vector < plan.vectors; ++vector)
          kernel.store(sums, addOffset(kernel, at, leaf * plan.leafSums() + vector * plan.lanes), Lane{plan.lanes},
                       start);
    };
    if (few)
      return forEachChunk(lo, hi, chunks, [&](int64_t first, int64_t height, Value sliver) {
        forLoop(kernel, i64(kernel, first), i64(kernel, first + height), [&](Value row) { clear(row, sliver); });
      });
    forLoop(kernel, lo, hi, [&](Value unit) {
      Value slivers = i64(kernel, plan.slivers());
      Value tap = arith::DivUIOp::create(b, loc, unit, slivers), sliver = arith::RemUIOp::create(b, loc, unit, slivers);
      forLoop(kernel, i64(kernel, 0), i64(kernel, dims.inChannels),
              [&](Value c) { clear(add(kernel, scaled(kernel, c, plan.taps), tap), sliver); });
    });
  }

  void finish() {
    int64_t lanes = kernel.lanesOf(element), rows = plan.rowCount();
    kernel.parallelRange(dims.outChannels, 1, double(rows), [&](Value lo, Value hi) {
      Memory sums = kernel.workspace(plan.sumsAt, element);
      forLoop(kernel, lo, hi, [&](Value o) {
        auto vector = [&](Value row, int64_t live) {
          Lane lane{lanes, prefixMask(kernel, live, lanes)};
          Value from = add(kernel, scaled(kernel, row, plan.paddedChannels), o);
          Value index[] = {o, row};
          epilogue(index, lane, tree(0, dims.leaves, [&](int64_t leaf) {
                     return loadLanes(kernel, sums, addOffset(kernel, from, leaf * plan.leafSums()),
                                      plan.paddedChannels, live, lanes);
                   }));
        };
        forLoop(kernel, i64(kernel, 0), i64(kernel, rows / lanes),
                [&](Value block) { vector(scaled(kernel, block, lanes), lanes); });
        if (rows % lanes)
          vector(i64(kernel, rows / lanes * lanes), rows % lanes);
      });
    });
  }

  /// The balanced tree over `count` leaves from `first` on; null where none of them has images.
  Value tree(int64_t first, int64_t count, llvm::function_ref<Value(int64_t leaf)> sumOf) {
    if (first >= plan.leaves())
      return {};
    if (count == 1)
      return sumOf(first);
    Value lower = tree(first, count / 2, sumOf), upper = tree(first + count / 2, count / 2, sumOf);
    return upper ? Value(arith::AddFOp::create(b, loc, lower, upper)) : lower;
  }

  KernelBuilder &kernel;
  OpBuilder &b;
  Location loc;
  const WeightGradPlan &plan;
  const dl::ConvDims &dims;
  Type element;
  unsigned input, outputGrad;
  EpilogueFn epilogue;
};

} // namespace

int64_t weightGradWorkspaceBytes(const dl::ConvDims &dims, int64_t elementBytes, const CpuTraits &traits) {
  return WeightGradPlan(dims, elementBytes, traits).bytes;
}

void emitConvWeightGrad(KernelBuilder &kernel, const dl::ConvDims &dims, const CpuTraits &traits, Type element,
                        unsigned input, unsigned outputGrad, EpilogueFn epilogue) {
  WeightGradPlan plan(dims, element.getIntOrFloatBitWidth() / 8, traits);
  WeightGradEmitter(kernel, plan, element, input, outputGrad, epilogue).run();
}

} // namespace dlc::codegen
