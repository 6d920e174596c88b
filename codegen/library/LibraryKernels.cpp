#include "library/LibraryKernels.h"

#include "dlc/ir/Collective.h"
#include "gpu/ProductFinish.h"
#include "library/Choice.h"
#include "library/LibraryRegistry.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

LibraryRegistry::LibraryRegistry(MLIRContext *context) : OpRegistry(context) {
#define DLC_LIBRARY_FAMILY(Name) register##Name##Libraries(*this);
#include "library/LibraryFamilies.inc"
#undef DLC_LIBRARY_FAMILY
}

// A library picks its algorithm by the shape, and with it the order of a sum.
static bool wantsFixedOrder(dl::GroupOp group) {
  auto module = group->getParentOfType<ModuleOp>();
  return module && llvm::any_of(module.getOps<dl::MeshOp>(), [](dl::MeshOp mesh) {
           return llvm::any_of(mesh.getAxisLeaves(), [](int64_t leaves) { return leaves > 1; });
         });
}

std::optional<LibraryPlan> codegen::planLibrary(dl::GroupOp group, const GpuOptions &options, std::string *why) {
  auto [anchor, family] = LibraryRegistry(group.getContext()).anchorOf(group);
  if (!anchor || options.*family.maker == KernelMaker::Generated)
    return {};
  std::string reason;
  std::optional<LibraryPlan> plan;
  if (wantsFixedOrder(group))
    reason = "sums whose order must not depend on the number of members";
  else
    plan = family.plan(group, anchor, options, reason);
  bool automatic = options.*family.maker == KernelMaker::Auto;
  if (!plan && why && !automatic)
    *why = reason;
  if (plan && automatic && !prefersLibrary(family.choice, plan->factor, plan->multiplyAdds, options.archs))
    return {};
  return plan;
}

void codegen::planWorkspace(LibraryPlan &plan, dl::GroupOp group, int64_t bytes) {
  int64_t product = plan.finish ? plan.count * plan.element.getIntOrFloatBitWidth() / 8 : 0;
  plan.call.workspace = group.getNumOperands() + group.getNumResults();
  plan.call.workspaceOffset = int64_t(llvm::alignTo(uint64_t(product), uint64_t(kWorkspaceAlignment)));
  plan.call.workspaceBytes = bytes;
  plan.workspaceBytes = plan.call.workspaceOffset + bytes;
}

LogicalResult codegen::emitLibraryKernel(GpuKernelBuilder &kernel, dl::GroupOp group, const LibraryPlan &plan) {
  kernel.call(plan.call);
  if (!plan.finish)
    return success();
  Operation *anchor = LibraryRegistry(group.getContext()).anchorOf(group).first;
  Epilogue epilogue(kernel, group, anchor);
  if (failed(epilogue.verify()))
    return failure();
  Type element = getElementTypeOrSelf(anchor->getResult(0).getType());
  ProductParts product{element, plan.count, 1, plan.element == element ? Type() : plan.element};
  emitProductFinish(kernel, product, epilogue);
  return success();
}
