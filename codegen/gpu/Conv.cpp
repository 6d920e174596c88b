// Convolutions as tiled products: what a matrix of patches would hold is read from the images themselves, by index maps
// with bounds for the padding.
#include "dlc/ir/Conv.h"

#include "gpu/GpuRegistry.h"
#include "gpu/TiledProduct.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

/// Dims of the maps: batch or row by use, line, term; in their ranges.
struct MapSpace : IndexSpace {
  MapSpace(MLIRContext *context, int64_t batch, int64_t lines, int64_t terms)
      : IndexSpace(context), batch(addDim(0, batch - 1)), line(addDim(0, lines - 1)), term(addDim(0, terms - 1)) {}
  AffineExpr batch, line, term;
};

/// Place in the kernel and in the channels, for term number `term` of a sum over both.
struct Taps {
  AffineExpr channel, p, q;
};

} // namespace

static int64_t pixels(const dl::ConvDims &dims) { return dims.out[0] * dims.out[1]; }
static int64_t taps(const dl::ConvDims &dims) { return dims.kernel[0] * dims.kernel[1]; }

// Terms run over the channels at one tap where that makes taps the same for a whole step, else over a channel's taps.
static Taps tapsOf(IndexSpace &space, AffineExpr term, int64_t channels, int64_t height, int64_t width) {
  constexpr int64_t mostStep = 16;
  bool channelsInside = channels % mostStep == 0;
  SmallVector<AffineExpr> index = channelsInside ? space.delinearize({height, width, channels}, term)
                                                 : space.delinearize({channels, height, width}, term);
  return channelsInside ? Taps{index[2], index[0], index[1]} : Taps{index[0], index[1], index[2]};
}

// y[o, (n, i, j)] = sum over (c, p, q) of w[o, (c, p, q)] * x[(n, i, j), (c, p, q)].
static TiledProduct forwardProduct(const dl::ConvDims &dims, Type element, unsigned x, unsigned w) {
  int64_t columns = dims.batch * pixels(dims), terms = dims.inChannels * taps(dims);
  TiledProduct product{element, 1, dims.outChannels, columns, terms};
  product.resultCount = dims.outChannels * columns;

  MapSpace weights(element.getContext(), 1, dims.outChannels, terms);
  Taps at = tapsOf(weights, weights.term, dims.inChannels, dims.kernel[0], dims.kernel[1]);
  AffineExpr row = weights.line * dims.inChannels + at.channel;
  product.left = {w, (row * dims.kernel[0] + at.p) * dims.kernel[1] + at.q, {}, true};

  MapSpace images(element.getContext(), 1, columns, terms);
  at = tapsOf(images, images.term, dims.inChannels, dims.kernel[0], dims.kernel[1]);
  SmallVector<AffineExpr> pixel = images.delinearize({dims.batch, dims.out[0], dims.out[1]}, images.line);
  AffineExpr h = pixel[1] * dims.stride[0] + at.p - dims.paddingLo[0];
  AffineExpr v = pixel[2] * dims.stride[1] + at.q - dims.paddingLo[1];
  AffineExpr plane = pixel[0] * dims.inChannels + at.channel;
  product.right = {x, (plane * dims.in[0] + h) * dims.in[1] + v, {{h, 0, dims.in[0]}, {v, 0, dims.in[1]}}};

  MapSpace result(element.getContext(), 1, dims.outChannels, columns); // lines are rows, terms are columns
  pixel = result.delinearize({dims.batch, pixels(dims)}, result.term);
  product.result = (pixel[0] * dims.outChannels + result.line) * pixels(dims) + pixel[1];
  return product;
}

// dx[n, c, h, v], one batch for each residue of (h, v) by the strides: of the taps only every stride-th meets it, and
// the next element of the residue is the next window. h = stride * a + r, p = (r + padding) mod stride + stride * p'
// and i = a + (r + padding) floordiv stride - p'.
static TiledProduct inputGradProduct(const dl::ConvDims &dims, Type element, unsigned dy, unsigned w) {
  int64_t in[2], kernel[2];
  for (int axis : {0, 1}) {
    in[axis] = llvm::divideCeil(dims.in[axis], dims.stride[axis]);
    kernel[axis] = llvm::divideCeil(dims.kernel[axis], dims.stride[axis]);
  }
  int64_t residues = dims.stride[0] * dims.stride[1], columns = dims.batch * in[0] * in[1];
  TiledProduct product{element, residues, dims.inChannels, columns, dims.outChannels * kernel[0] * kernel[1]};
  product.resultCount = dims.batch * dims.inChannels * dims.in[0] * dims.in[1];

  // Terms of taps that do not exist are 0 in both factors.
  auto mapsOf = [&](MapSpace &space, AffineExpr(&tap)[2], AffineExpr(&shift)[2], Taps &at) {
    at = tapsOf(space, space.term, dims.outChannels, kernel[0], kernel[1]);
    SmallVector<AffineExpr> residue = space.delinearize({dims.stride[0], dims.stride[1]}, space.batch);
    AffineExpr steps[] = {at.p, at.q};
    SmallVector<dl::IndexBound> bounds;
    for (int axis : {0, 1}) {
      AffineExpr padded = residue[axis] + dims.paddingLo[axis];
      tap[axis] = padded % dims.stride[axis] + steps[axis] * dims.stride[axis];
      shift[axis] = padded.floorDiv(dims.stride[axis]) - steps[axis];
      bounds.push_back({tap[axis], 0, dims.kernel[axis]});
    }
    return bounds;
  };
  AffineExpr tap[2], shift[2];
  Taps at;
  MapSpace weights(element.getContext(), residues, dims.inChannels, product.terms);
  SmallVector<dl::IndexBound> bounds = mapsOf(weights, tap, shift, at);
  AffineExpr filter = at.channel * dims.inChannels + weights.line;
  product.left = {w, (filter * dims.kernel[0] + tap[0]) * dims.kernel[1] + tap[1], bounds, true};

  MapSpace images(element.getContext(), residues, columns, product.terms);
  bounds = mapsOf(images, tap, shift, at);
  SmallVector<AffineExpr> place = images.delinearize({dims.batch, in[0], in[1]}, images.line);
  AffineExpr i = place[1] + shift[0], j = place[2] + shift[1];
  bounds.push_back({i, 0, dims.out[0]});
  bounds.push_back({j, 0, dims.out[1]});
  AffineExpr plane = place[0] * dims.outChannels + at.channel;
  product.right = {dy, (plane * dims.out[0] + i) * dims.out[1] + j, bounds};

  MapSpace result(element.getContext(), residues, dims.inChannels, columns);
  place = result.delinearize({dims.batch, in[0], in[1]}, result.term);
  SmallVector<AffineExpr> residue = result.delinearize({dims.stride[0], dims.stride[1]}, result.batch);
  AffineExpr h = place[1] * dims.stride[0] + residue[0], v = place[2] * dims.stride[1] + residue[1];
  product.result = ((place[0] * dims.inChannels + result.line) * dims.in[0] + h) * dims.in[1] + v;
  product.resultBounds = {{h, 0, dims.in[0]}, {v, 0, dims.in[1]}};
  return product;
}

// dw[o, (c, p, q)] = sum over (n, i, j) of dy[o, (n, i, j)] * x[(c, p, q), (n, i, j)].
static TiledProduct weightGradProduct(const dl::ConvDims &dims, Type element, unsigned x, unsigned dy) {
  int64_t columns = dims.inChannels * taps(dims), terms = dims.batch * pixels(dims);
  TiledProduct product{element, 1, dims.outChannels, columns, terms};
  product.resultCount = dims.outChannels * columns;

  MapSpace gradients(element.getContext(), 1, dims.outChannels, terms);
  SmallVector<AffineExpr> pixel = gradients.delinearize({dims.batch, pixels(dims)}, gradients.term);
  product.left = {dy, (pixel[0] * dims.outChannels + gradients.line) * pixels(dims) + pixel[1], {}, true};

  MapSpace images(element.getContext(), 1, columns, terms);
  pixel = images.delinearize({dims.batch, dims.out[0], dims.out[1]}, images.term);
  SmallVector<AffineExpr> tap = images.delinearize({dims.inChannels, dims.kernel[0], dims.kernel[1]}, images.line);
  AffineExpr h = pixel[1] * dims.stride[0] + tap[1] - dims.paddingLo[0];
  AffineExpr v = pixel[2] * dims.stride[1] + tap[2] - dims.paddingLo[1];
  AffineExpr plane = pixel[0] * dims.inChannels + tap[0];
  product.right = {x, (plane * dims.in[0] + h) * dims.in[1] + v, {{h, 0, dims.in[0]}, {v, 0, dims.in[1]}}, true};

  MapSpace result(element.getContext(), 1, dims.outChannels, columns);
  product.result = result.line * columns + result.term;
  return product;
}

using ProductOf = TiledProduct (*)(const dl::ConvDims &, Type, unsigned, unsigned);

template <typename OpTy, ProductOf productOf>
static LogicalResult emitConv(GpuKernelBuilder &kernel, dl::GroupOp group, Operation *anchor) {
  FailureOr<unsigned> first = operandNumber(anchor, 0), second = operandNumber(anchor, 1);
  Epilogue epilogue(kernel, group, anchor);
  if (failed(first) || failed(second) || failed(epilogue.verify()))
    return failure();
  Type element = getElementTypeOrSelf(anchor->getResult(0).getType());
  TiledProduct product = productOf(cast<OpTy>(anchor).getDims(), element, *first, *second);
  product.core = coreTypeOf(anchor, kernel.getOptions());
  emitTiledProduct(kernel, product, epilogue);
  return success();
}

template <typename OpTy, ProductOf productOf>
static int64_t workspaceOf(dl::GroupOp group, Operation *anchor, const GpuOptions &options) {
  if (cast<OpTy>(anchor).getDims().leaves > 1)
    return gpuFallbackWorkspaceBytes(group);
  Type element = getElementTypeOrSelf(anchor->getResult(0).getType());
  TiledProduct product = productOf(cast<OpTy>(anchor).getDims(), element, 0, 1);
  product.core = coreTypeOf(anchor, options);
  return tiledProductWorkspaceBytes(product);
}

template <typename OpTy, ProductOf productOf>
static void add(GpuRegistry &registry) {
  registry.add<OpTy>({emitConv<OpTy, productOf>, workspaceOf<OpTy, productOf>});
}

void dlc::codegen::registerConvGpuKernels(GpuRegistry &registry) {
  add<dl::ConvOp, forwardProduct>(registry);
  add<dl::ConvInputGradOp, inputGradProduct>(registry);
  add<dl::ConvWeightGradOp, weightGradProduct>(registry);
}
