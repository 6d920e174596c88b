// Horizontal groups: the phases of one part after those of another. Small ones run on the calling thread, so that all
// are one call; a part that is worth sharing is still shared.
#include "kernels/Emitters.h"
#include "kernels/PartKernelBuilder.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

PartKernelBuilder::PartKernelBuilder(KernelBuilder &whole, dl::GroupOp part)
    : ForwardingKernelBuilder(whole), location(part.getLoc()) {
  for (Value input : part.getInputs())
    places.push_back(cast<BlockArgument>(input).getArgNumber());
  auto group = part->getParentOfType<dl::GroupOp>();
  for (auto [i, value] : llvm::enumerate(group.getBody().front().getTerminator()->getOperands()))
    if (value.getDefiningOp() == part)
      places.push_back(group.getNumOperands() + i);
}

LogicalResult codegen::emitHorizontal(KernelBuilder &kernel, dl::GroupOp group) {
  for (auto part : group.getBody().front().getOps<dl::GroupOp>()) {
    PartKernelBuilder view(kernel, part);
    if (failed(emitPointwise(view, part)))
      return failure();
  }
  return success();
}
