#include "kernels/WideOperands.h"

#include "contraction/RegisterTile.h"
#include "dlc/ir/Cast.h"
#include "dlc/ir/Widen.h"
#include "kernels/Epilogue.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

bool codegen::isReadNarrow(Operation *anchor, unsigned i) {
  auto cast = anchor->getOperand(i).getDefiningOp<dl::CastOp>();
  return cast && isa<BlockArgument>(cast.getX()) && dl::hasNarrowFloats(cast.getX().getType());
}

static int64_t countOf(Operation *anchor, unsigned i) { return product(shapeOf(anchor->getOperand(i))); }

static int64_t bytesOfWide(Operation *anchor, unsigned i) {
  Type element = getElementTypeOrSelf(anchor->getOperand(i).getType());
  return int64_t(llvm::alignTo(uint64_t(countOf(anchor, i) * bytesOf(element)), 64));
}

int64_t WideOperands::workspaceBytes(Operation *anchor, ArrayRef<unsigned> which) {
  int64_t bytes = 0;
  for (unsigned i : which)
    bytes += bytesOfWide(anchor, i);
  return bytes;
}

WideOperands::WideOperands(KernelBuilder &whole, Operation *anchor, ArrayRef<unsigned> which, int64_t offset)
    : ForwardingKernelBuilder(whole) {
  offset = int64_t(llvm::alignTo(uint64_t(offset), 64));
  for (unsigned i : which) {
    unsigned number = *operandNumber(anchor, i);
    if (!offsets.try_emplace(number, offset).second)
      continue; // both operands are one
    convert(number, countOf(anchor, i), offset, getElementTypeOrSelf(anchor->getOperand(i).getType()));
    offset += bytesOfWide(anchor, i);
  }
}

void WideOperands::convert(unsigned number, int64_t count, int64_t offset, Type element) {
  constexpr double nanosecondsOfElement = 0.2;
  int64_t lanes = lanesOf(element), vectors = count / lanes;
  auto move = [&](int64_t width, Value first) {
    Memory from = whole.operand(number, element), to = whole.workspace(offset, element);
    whole.store(to, first, Lane{width}, whole.load(from, first, 1, Lane{width}));
  };
  if (vectors)
    whole.parallelRange(vectors, 1, nanosecondsOfElement * double(lanes), [&](Value lo, Value hi) {
      forLoop(whole, lo, hi, [&](Value i) { move(lanes, scaled(whole, i, lanes)); });
    });
  if (count % lanes)
    whole.parallelRange(count % lanes, 1, nanosecondsOfElement, [&](Value lo, Value hi) {
      forLoop(whole, lo, hi, [&](Value i) { move(0, addOffset(whole, i, vectors * lanes)); });
    });
}

Memory WideOperands::operand(unsigned i, Type element) {
  auto found = offsets.find(i);
  return found == offsets.end() ? whole.operand(i, element) : whole.workspace(found->second, element);
}
