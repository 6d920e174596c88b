// The last launch of a product whose sums are in memory: one thread a vector of the result.
//
//   sum = -0
//   for each part p: sum += workspace[p * count + position]
//   epilogue, store
#include "gpu/ProductFinish.h"

#include "dlc/ir/ScalarBuilder.h"
#include "kernels/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

/// The launch's shape.
struct Cut {
  int64_t width, vectors, threads;

  static Cut of(GpuKernelBuilder &kernel, const ProductParts &product) {
    auto width = int64_t(llvm::bit_floor(uint64_t(kernel.lanesOf(product.element))));
    while (product.count % width)
      width /= 2;
    int64_t vectors = product.count / width;
    return {width, vectors, std::min<int64_t>(256, int64_t(llvm::alignTo(uint64_t(vectors), warpSize)))};
  }
};

} // namespace

// -0 leaves the first part's bits as they are.
static Value sumOf(GpuKernelBuilder &kernel, ElementScope &lanes, const ProductParts &product, AffineExpr position) {
  IndexSpace &space = lanes.getSpace();
  dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), lanes.getLane().width);
  Memory memory = kernel.workspace(0, product.element);
  memory.narrow = product.narrow;
  if (product.parts == 1)
    return lanes.load(memory, product.count, position);
  return emitLoop(lanes, lanes.i64(0), lanes.i64(product.parts), scalar.constant(-0.0, product.element),
                  [&](Value iv, ValueRange carried) {
                    ElementScope step(lanes, ElementScope::SameLanes());
                    AffineExpr each = step.bind(iv, 0, product.parts - 1);
                    AffineExpr offset = space.simplify(each * product.count + position);
                    Value one = step.load(memory, product.parts * product.count, offset);
                    return SmallVector<Value>{scalar.add(carried[0], one)};
                  })[0];
}

void codegen::emitProductFinish(GpuKernelBuilder &kernel, const ProductParts &product, Epilogue &epilogue) {
  Cut cut = Cut::of(kernel, product);
  GpuKernelBuilder::Extents grid = blocksFor(cut.vectors, cut.threads);
  kernel.launch(grid, {cut.threads, 1, 1}, [&] {
    IndexSpace space(product.element.getContext());
    ElementScope root(kernel, space), scope(root);
    AffineExpr block = scope.bind(kernel.blockId(), 0, grid[0] - 1);
    AffineExpr number = space.simplify(block * cut.threads + scope.bind(kernel.threadId(), 0, cut.threads - 1));
    Value live;
    if (cut.vectors % cut.threads)
      live = arith::CmpIOp::create(kernel.getBuilder(), kernel.getLoc(), arith::CmpIPredicate::ult, scope.index(number),
                                   scope.i64(cut.vectors));
    emitIf(scope, live, {}, [&]() -> SmallVector<Value> {
      ElementScope lanes(scope, Lane{cut.width > 1 ? cut.width : 0});
      AffineExpr vector = lanes.bind(scope.index(number), 0, cut.vectors - 1);
      AffineExpr position = space.simplify(cut.width > 1 ? vector * cut.width + lanes.getLaneDim() : vector);
      epilogue.store(lanes, position, sumOf(kernel, lanes, product, position));
      return {};
    });
  });
}
