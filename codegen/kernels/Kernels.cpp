#include "kernels/Kernels.h"

#include "kernels/Emitters.h"
#include "kernels/GroupKernelBuilder.h"
#include "kernels/KernelRegistry.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

KernelRegistry::KernelRegistry(MLIRContext *context) : OpRegistry(context) {
#define DLC_KERNEL_FAMILY(Name) register##Name##Kernels(*this);
#include "kernels/KernelFamilies.inc"
#undef DLC_KERNEL_FAMILY
}

static std::pair<Operation *, KernelRegistry::Emitter> anchorOf(dl::GroupOp group) {
  return KernelRegistry(group.getContext()).anchorOf(group);
}

LogicalResult codegen::emitKernel(KernelBuilder &whole, dl::GroupOp group, const CpuTraits &traits) {
  GroupKernelBuilder kernel(whole, group);
  switch (group.getKind()) {
  case dl::GroupKind::Pointwise:
    return emitPointwise(kernel, group);
  case dl::GroupKind::Row:
    return emitRow(kernel, group);
  case dl::GroupKind::Column:
    return emitColumn(kernel, group);
  case dl::GroupKind::Horizontal:
    return emitHorizontal(kernel, group);
  default:
    break;
  }
  auto [anchor, emitter] = anchorOf(group);
  if (!anchor)
    return group.emitOpError("expects an op with a kernel of its own in a group of kind ")
           << dl::stringifyGroupKind(group.getKind());
  return emitter.emit(kernel, group, anchor, traits);
}

int64_t codegen::workspaceBytes(dl::GroupOp group, const CpuTraits &traits) {
  if (group.getKind() == dl::GroupKind::Row)
    return rowWorkspaceBytes(group);
  if (group.getKind() == dl::GroupKind::Column)
    return columnWorkspaceBytes(group);
  auto [anchor, emitter] = anchorOf(group);
  return anchor && emitter.workspaceBytes ? emitter.workspaceBytes(anchor, traits) : 0;
}
