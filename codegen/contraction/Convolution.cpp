#include "contraction/Convolution.h"

#include "contraction/PlaneCopy.h"
#include "contraction/TileLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dlc::codegen {

namespace {

int64_t taps(const dl::ConvDims &dims) { return dims.kernel[0] * dims.kernel[1]; }
int64_t alignBytes(int64_t bytes) { return int64_t(llvm::alignTo(uint64_t(bytes), 64)); }

/// What the forward core reads: planes of `spread.to` in workspace, or the operand itself where nothing changes.
struct CoreInput {
  unsigned operand;
  PlaneSpread spread;
  int64_t workspaceOffset;
};
struct CoreWeight {
  unsigned operand;
  bool inWorkspace;
  int64_t workspaceOffset;
};

/// Output[n, o, i, j] over an input of prepared planes; weights are [o][c][tap].
class ForwardEmitter {
public:
  ForwardEmitter(KernelBuilder &kernel, const ForwardPlan &plan, Type element, const CoreInput &input,
                 const CoreWeight &weight, EpilogueFn epilogue)
      : kernel(kernel), plan(plan), dims(plan.dims), element(element), input(input), weight(weight), epilogue(epilogue),
        plane(input.spread.to[0] * input.spread.to[1]) {}

  void run() {
    if (dims.batch == 0 || dims.outChannels == 0 || dims.out[0] * dims.out[1] == 0)
      return;
    double image = double(dims.multiplyAdds()) / double(dims.batch) * kNanosecondsPerMultiplyAdd;
    if (dims.batch >= kShareable) {
      kernel.parallelRange(dims.batch, 1, image, [&](Value lo, Value hi) {
        forLoop(kernel, lo, hi, [&](Value n) {
          if (plan.copyInput)
            forLoop(kernel, i64(kernel, 0), i64(kernel, dims.inChannels), [&](Value c) { copyPlane(n, c); });
          channelTiles(n, i64(kernel, 0), i64(kernel, plan.channels.count()));
        });
      });
      return;
    }
    if (plan.copyInput)
      kernel.parallelRange(dims.batch * dims.inChannels, 1, double(plane),
                           [&](Value lo, Value hi) { forLoop(kernel, lo, hi, [&](Value p) { copyPlane({}, p); }); });
    kernel.parallelRange(
        plan.channels.count(), 1, image * double(dims.batch) / double(plan.channels.count()), [&](Value lo, Value hi) {
          forLoop(kernel, i64(kernel, 0), i64(kernel, dims.batch), [&](Value n) { channelTiles(n, lo, hi); });
        });
  }

private:
  void copyPlane(Value n, Value c) {
    Value p = n ? add(kernel, scaled(kernel, n, dims.inChannels), c) : c;
    emitPlaneSpread(kernel, input.spread, kernel.lanesOf(element), kernel.operand(input.operand, element),
                    scaled(kernel, p, input.spread.from[0] * input.spread.from[1]),
                    kernel.workspace(input.workspaceOffset, element), scaled(kernel, p, plane));
  }

  void channelTiles(Value n, Value lo, Value hi) {
    forEachTile(kernel, plan.channels, lo, hi, [&](Value channel, int64_t height) {
      forEachTile(kernel, plan.rowGroups, i64(kernel, 0), i64(kernel, plan.rowGroups.count()),
                  [&](Value row, int64_t imageRows) { columnGroups(n, channel, height, row, imageRows); });
    });
  }

  void columnGroups(Value n, Value channel, int64_t height, Value row, int64_t imageRows) {
    constexpr int64_t kGroup = 2;
    int64_t width = dims.out[1];
    int64_t groupWidth = kGroup * plan.lanes, whole = width / groupWidth;
    if (plan.vectorsPerRow <= kGroup)
      return tile(n, channel, height, row, imageRows, i64(kernel, 0), width);
    forLoop(kernel, i64(kernel, 0), i64(kernel, whole), [&](Value group) {
      tile(n, channel, height, row, imageRows, scaled(kernel, group, groupWidth), groupWidth);
    });
    if (width % groupWidth)
      tile(n, channel, height, row, imageRows, i64(kernel, whole * groupWidth), width % groupWidth);
  }

  void tile(Value n, Value channel, int64_t height, Value row, int64_t imageRows, Value column, int64_t width) {
    int64_t rowStep = input.spread.to[1], terms = dims.inChannels * taps(dims);
    RegisterTile tile;
    tile.element = element;
    tile.lanes = plan.lanes;
    tile.laneStride = dims.stride[1];
    for (int64_t i = 0; i < height; ++i)
      tile.rows.push_back(i * terms);
    struct Place {
      int64_t row, column, live;
    };
    SmallVector<Place> places;
    for (int64_t i = 0; i < imageRows; ++i)
      for (int64_t j = 0; j < width; j += plan.lanes)
        places.push_back({i, j, std::min(plan.lanes, width - j)});
    for (const Place &place : places)
      tile.columns.push_back({place.row * dims.stride[0] * rowStep + place.column * dims.stride[1], place.live});
    tile.loops = {
        {dims.inChannels, taps(dims), plane}, {dims.kernel[0], dims.kernel[1], rowStep}, {dims.kernel[1], 1, 1}};

    Memory weights = weight.inWorkspace ? kernel.workspace(weight.workspaceOffset, element)
                                        : kernel.operand(weight.operand, element);
    Memory planes =
        plan.copyInput ? kernel.workspace(input.workspaceOffset, element) : kernel.operand(input.operand, element);
    Value base = scaled(kernel, n, dims.inChannels * plane);
    base = add(kernel, base, scaled(kernel, row, dims.stride[0] * rowStep));
    base = add(kernel, base, scaled(kernel, column, dims.stride[1]));
    SmallVector<Value> sums = tile.emit(kernel, weights, scaled(kernel, channel, terms), planes, base);
    for (int64_t i = 0; i < height; ++i)
      for (auto [number, place] : llvm::enumerate(places)) {
        Value first = addOffset(kernel, column, place.column);
        Value index[] = {n, addOffset(kernel, channel, i), addOffset(kernel, row, place.row), first};
        epilogue(index, Lane{plan.lanes, prefixMask(kernel, place.live, plan.lanes)},
                 sums[size_t(i) * places.size() + number]);
      }
  }

  KernelBuilder &kernel;
  const ForwardPlan &plan;
  const dl::ConvDims &dims;
  Type element;
  CoreInput input;
  CoreWeight weight;
  EpilogueFn epilogue;
  int64_t plane;
};

/// The convolution that computes an input gradient: over the output's gradient spread by the strides.
struct InputGradPlan {
  dl::ConvDims dims;
  PlaneSpread spread{};

  explicit InputGradPlan(const dl::ConvDims &forward) : dims(forward) {
    std::swap(dims.inChannels, dims.outChannels);
    for (int axis : {0, 1}) {
      dims.out[axis] = forward.in[axis];
      dims.in[axis] = forward.in[axis] + forward.kernel[axis] - 1;
      dims.stride[axis] = 1;
      dims.paddingLo[axis] = dims.paddingHi[axis] = 0;
      spread.from[axis] = forward.out[axis];
      spread.to[axis] = dims.in[axis];
      spread.lower[axis] = forward.kernel[axis] - 1 - forward.paddingLo[axis];
      spread.step[axis] = forward.stride[axis];
    }
  }

  int64_t weightBytes(int64_t elementBytes) const {
    return alignBytes(dims.inChannels * dims.outChannels * taps(dims) * elementBytes);
  }
};

} // namespace

ForwardPlan ForwardPlan::of(const dl::ConvDims &dims, int64_t elementBytes, const CpuTraits &traits) {
  ForwardPlan plan;
  plan.dims = dims;
  plan.lanes = lanesFor(dims.out[1], elementBytes, traits);
  plan.vectorsPerRow = int64_t(llvm::divideCeil(uint64_t(dims.out[1]), uint64_t(plan.lanes)));
  plan.imageRows = plan.vectorsPerRow == 1 ? 2 : 1;
  plan.rowGroups = TileSplit::of(dims.out[0], plan.imageRows);
  plan.channels = TileSplit::of(dims.outChannels, mostTileRows(2, traits));
  PlaneSpread padding = PlaneSpread::padding(dims);
  // Strided vector reads may touch an element behind the last: workspace has slack there, an operand has not.
  plan.copyInput = !padding.isIdentity() || dims.stride[1] != 1;
  plan.padded[0] = padding.to[0];
  plan.padded[1] = padding.to[1];
  return plan;
}

int64_t ForwardPlan::inputBytes(int64_t elementBytes) const {
  constexpr int64_t kSlack = 64;
  return alignBytes(dims.batch * dims.inChannels * padded[0] * padded[1] * elementBytes + kSlack);
}

int64_t forwardWorkspaceBytes(const dl::ConvDims &dims, int64_t elementBytes, const CpuTraits &traits) {
  ForwardPlan plan = ForwardPlan::of(dims, elementBytes, traits);
  return plan.copyInput ? plan.inputBytes(elementBytes) : 0;
}

void emitConvForward(KernelBuilder &kernel, const dl::ConvDims &dims, const CpuTraits &traits, Type element,
                     unsigned input, unsigned weight, EpilogueFn epilogue) {
  ForwardPlan plan = ForwardPlan::of(dims, element.getIntOrFloatBitWidth() / 8, traits);
  ForwardEmitter(kernel, plan, element, {input, PlaneSpread::padding(dims), 0}, {weight, false, 0}, epilogue).run();
}

int64_t inputGradWorkspaceBytes(const dl::ConvDims &dims, int64_t elementBytes, const CpuTraits &traits) {
  InputGradPlan gradient(dims);
  ForwardPlan plan = ForwardPlan::of(gradient.dims, elementBytes, traits);
  return gradient.weightBytes(elementBytes) + (gradient.spread.isIdentity() ? 0 : plan.inputBytes(elementBytes));
}

void emitConvInputGrad(KernelBuilder &kernel, const dl::ConvDims &dims, const CpuTraits &traits, Type element,
                       unsigned outputGrad, unsigned weight, EpilogueFn epilogue) {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  InputGradPlan gradient(dims);
  ForwardPlan plan = ForwardPlan::of(gradient.dims, bytes, traits);
  plan.copyInput = !gradient.spread.isIdentity();
  int64_t count = taps(dims);
  // flipped[c][o][tap] = weight[o][c][last - tap]
  kernel.parallelRange(dims.inChannels, 1, double(dims.outChannels * count), [&](Value lo, Value hi) {
    Memory from = kernel.operand(weight, element), to = kernel.workspace(0, element);
    Lane scalar;
    forLoop(kernel, lo, hi, [&](Value c) {
      forLoop(kernel, i64(kernel, 0), i64(kernel, dims.outChannels), [&](Value o) {
        Value source = add(kernel, scaled(kernel, o, dims.inChannels * count), scaled(kernel, c, count));
        Value target = add(kernel, scaled(kernel, c, dims.outChannels * count), scaled(kernel, o, count));
        for (int64_t tap = 0; tap < count; ++tap)
          kernel.store(to, addOffset(kernel, target, tap), scalar,
                       kernel.load(from, addOffset(kernel, source, count - 1 - tap), 1, scalar));
      });
    });
  });
  int64_t weightBytes = gradient.weightBytes(bytes);
  ForwardEmitter(kernel, plan, element, {outputGrad, gradient.spread, weightBytes}, {weight, true, 0}, epilogue).run();
}

} // namespace dlc::codegen
