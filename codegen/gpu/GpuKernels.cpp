#include "gpu/GpuKernels.h"

#include "dlc/ir/Rt.h"
#include "gpu/GpuEmitters.h"
#include "gpu/GpuRegistry.h"
#include "kernels/Kernels.h"
#include "library/LibraryKernels.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

GpuRegistry::GpuRegistry(MLIRContext *context) : OpRegistry(context) {
#define DLC_GPU_FAMILY(Name) register##Name##GpuKernels(*this);
#include "gpu/GpuFamilies.inc"
#undef DLC_GPU_FAMILY
}

static std::pair<Operation *, GpuRegistry::Emitter> anchorOf(dl::GroupOp group) {
  return GpuRegistry(group.getContext()).anchorOf(group);
}

// The CPU's kernels with narrow vectors and no grain.
static CpuTraits fallbackTraits() {
  CpuTraits traits;
  traits.vectorBytes = gpuVectorBytes;
  traits.scratchBytes = 0; // of every thread there is room for
  return traits;
}

LogicalResult codegen::emitGpuFallback(GpuKernelBuilder &kernel, dl::GroupOp group) {
  return emitKernel(kernel, group, fallbackTraits());
}

int64_t codegen::gpuFallbackWorkspaceBytes(dl::GroupOp group) { return workspaceBytes(group, fallbackTraits()); }

// A library's call where the user wants it; says where there is none.
static std::optional<LibraryPlan> libraryPlan(dl::GroupOp group, const GpuOptions &options) {
  std::string why;
  std::optional<LibraryPlan> plan = planLibrary(group, options, &why);
  if (!why.empty())
    group.emitRemark("a generated kernel, since no library has a call for ") << why;
  return plan;
}

static LogicalResult emitByKind(GpuKernelBuilder &kernel, dl::GroupOp group) {
  switch (group.getKind()) {
  case dl::GroupKind::Pointwise:
    return emitGpuPointwise(kernel, group);
  case dl::GroupKind::Row:
    return emitGpuRow(kernel, group);
  case dl::GroupKind::Column:
    return emitGpuColumn(kernel, group);
  case dl::GroupKind::Horizontal:
    return emitGpuHorizontal(kernel, group);
  default:
    break;
  }
  if (std::optional<LibraryPlan> plan = libraryPlan(group, kernel.getOptions()))
    return emitLibraryKernel(kernel, group, *plan);
  auto [anchor, emitter] = anchorOf(group);
  return anchor ? emitter.emit(kernel, group, anchor) : emitGpuFallback(kernel, group);
}

std::array<int64_t, 3> codegen::launchExtents(std::optional<ArrayRef<int32_t>> known) {
  std::array<int64_t, 3> extents = {1, 1, 1};
  if (known)
    llvm::copy(*known, extents.begin());
  return extents;
}

FailureOr<SmallVector<GpuLaunch>> codegen::emitGpuKernel(gpu::GPUModuleOp module, StringRef name, dl::GroupOp group,
                                                         int64_t workspaceBytes, const GpuOptions &options) {
  GpuKernelBuilder kernel(module, name, group, workspaceBytes, options);
  if (failed(emitByKind(kernel, group)))
    return failure();
  return SmallVector<GpuLaunch>(kernel.getLaunches());
}

int64_t codegen::gpuWorkspaceBytes(dl::GroupOp group, const GpuOptions &options) {
  switch (group.getKind()) {
  case dl::GroupKind::Pointwise:
  case dl::GroupKind::Horizontal:
    return 0;
  case dl::GroupKind::Row:
    return gpuRowWorkspaceBytes(group);
  case dl::GroupKind::Column:
    return gpuColumnWorkspaceBytes(group);
  default:
    break;
  }
  if (std::optional<LibraryPlan> plan = planLibrary(group, options))
    return plan->workspaceBytes;
  auto [anchor, emitter] = anchorOf(group);
  if (anchor)
    return emitter.workspaceBytes ? emitter.workspaceBytes(group, anchor, options) : 0;
  return gpuFallbackWorkspaceBytes(group);
}

LogicalResult codegen::emitGpuModule(ModuleOp module, const GpuOptions &options) {
  loadGpuDialects(*module.getContext());
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto code = gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
  for (auto kernel : llvm::make_early_inc_range(module.getOps<rt::KernelOp>())) {
    dl::GroupOp group = kernel.getGroup();
    // The module may have been outlined for another target.
    int64_t workspace = std::max<int64_t>(kernel.getWorkspace(), gpuWorkspaceBytes(group, options));
    if (failed(emitGpuKernel(code, kernel.getSymName(), group, workspace, options)))
      return failure();
    kernel.erase();
  }
  return success();
}
