#include "driver/Stages.h"

#include "dlc/codegen/CompileModule.h"
#include "dlc/ir/Rt.h"
#include "dlc/passes/MemoryPlan.h"
#include "dlc/passes/Pipelines.h"
#include "dlc/runtime/Abi.h"
#include "driver/DeviceStages.h"
#include "gpu/GpuKernels.h"
#include "host/KernelFunction.h"
#include "host/LowerProgram.h"
#include "kernels/Kernels.h"
#include "targets/cpu/CompileParallel.h"
#include "targets/cpu/Lower.h"
#include "targets/cpu/Object.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <functional>

using namespace mlir;

namespace dlc::codegen {

namespace {

/// Prints the module after chosen passes and remembers the pass that failed.
class PassObserver : public PassInstrumentation {
public:
  PassObserver(const CompileOptions &options, std::string &failedPass) : options(options), failedPass(failedPass) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    if (options.print && llvm::is_contained(options.printAfter, pass->getArgument())) {
      std::string text;
      llvm::raw_string_ostream(text) << *op;
      options.print(std::string_view(pass->getArgument()), text);
    }
  }

  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (failedPass.empty())
      failedPass = pass->getArgument().str();
  }

private:
  const CompileOptions &options;
  std::string &failedPass;
};

CpuTraits traitsOf(const CpuTarget &target) {
  CpuTraits traits;
  traits.vectorBytes = target.vectorBytes;
  traits.l1 = target.l1;
  traits.l2 = target.l2;
  return traits;
}

/// A module for native code; its dialects are loaded, since kernels are built without a parser or a pass to do it.
ModuleOp emptyLike(ModuleOp module) {
  loadCpuDialects(*module.getContext());
  OpBuilder builder(module.getContext());
  return ModuleOp::create(builder, module.getLoc());
}

/// Every rt.kernel of the module becomes native functions in the module; the rt ops go.
LogicalResult emitKernels(ModuleOp module, const CpuTraits &traits) {
  loadCpuDialects(*module.getContext());
  for (auto kernel : llvm::make_early_inc_range(module.getOps<rt::KernelOp>()))
    if (failed(emitKernelFunction(kernel, traits)))
      return failure();
  return success();
}

constexpr size_t kThreads = 2;
// Below this many kernels a second context costs more than it saves.
constexpr size_t kWorthSharing = 4;

} // namespace

static Status checkPassNames(const CompileOptions &options) {
  static const bool registered = (passes::registerAll(), true);
  (void)registered;
  for (const std::string &name : options.printAfter)
    if (!PassInfo::lookup(name))
      return {StatusCode::InvalidInput, "no pass is named '" + name + "'; dlc-opt --help lists them"};
  return {};
}

// A module read at the rt stage has its plan, and kernels write as much workspace as their target needs.
static Status checkWorkspaces(ModuleOp module, const std::function<int64_t(dl::GroupOp)> &needed) {
  for (auto kernel : module.getOps<rt::KernelOp>())
    if (int64_t bytes = needed(kernel.getGroup()), planned = int64_t(kernel.getWorkspace()); planned < bytes) {
      kernel.emitOpError("expects a workspace of ")
          << bytes << " bytes for these targets, got " << planned << "; make the rt stage for the same targets";
      return {StatusCode::InvalidInput, "the rt stage was made for other targets"};
    }
  return {};
}

static bool hasLimit(ModuleOp module, passes::MemoryLimits limits) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [&](func::FuncOp entry) {
    passes::MemoryLimits own = limits.of(entry);
    return own.all > 0 || own.activation > 0;
  });
}

Status runPasses(ModuleOp module, Emit stage, const CompileOptions &options, const Targets &targets) {
  if (Status status = checkPassNames(options); !status.ok())
    return status;
  StatusOr<bool> done = isGpuStage(module, targets);
  if (!done.ok())
    return done.status();
  if (*done && (stage != Emit::Rt || !options.train.empty()))
    return {StatusCode::InvalidInput, "a module with GPU kernels is past --train and the stages dl and fused"};
  if (*done)
    return {};
  bool planned = !module.getOps<rt::KernelOp>().empty();
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
#ifdef NDEBUG
  manager.enableVerifier(false);
#endif
  std::string failedPass;
  manager.addInstrumentation(std::make_unique<PassObserver>(options, failedPass));
  passes::PipelineOptions pipeline;
  pipeline.train = options.train;
  pipeline.lossScale = options.lossScale;
  pipeline.dynamicScale = options.dynamicScale;
  pipeline.clipNorm = options.clipNorm;
  pipeline.amp = options.amp;
  pipeline.observeCasts = options.observeCasts;
  pipeline.memoryLimit = options.memoryLimit;
  pipeline.activationBudget = options.activationBudget;
  pipeline.shareKernels = options.shareKernels;
  pipeline.mesh = options.mesh;
  pipeline.leaves = options.leaves;
  pipeline.dataParallel = options.dataParallel;
  pipeline.bucketBytes = options.bucketBytes;
  pipeline.linkSeconds = options.linkSeconds;
  pipeline.linkBandwidth = options.linkBandwidth;
  pipeline.terms = "abi " + std::to_string(DLC_ABI_VERSION);
  // One plan serves all targets.
  pipeline.workspaceBytes = [&targets, traits = traitsOf(targets.host)](dl::GroupOp group) {
    int64_t bytes = targets.cpu ? workspaceBytes(group, traits) : 0;
    return targets.hasGpu() ? std::max(bytes, gpuWorkspaceBytes(group, targets.gpu)) : bytes;
  };
  constexpr int64_t kDeviceVector = 16;
  pipeline.sliceAlignment = targets.hasGpu() ? kDeviceVector : 1;
  passes::buildImportPipeline(manager, pipeline);
  if (stage != Emit::Dl) {
    passes::buildFrontendPipeline(manager, pipeline);
    passes::buildPartitionPipeline(manager, pipeline);
  }
  if (stage != Emit::Dl && stage != Emit::Local)
    passes::buildFusionPipeline(manager, pipeline);
  if (stage == Emit::Rt)
    passes::buildBackendPipeline(manager, pipeline);
  if (succeeded(manager.run(module)))
    return planned ? checkWorkspaces(module, pipeline.workspaceBytes) : Status();
  bool limit = failedPass == "dl-plan-memory" && hasLimit(module, {options.memoryLimit, options.activationBudget});
  return {limit ? StatusCode::LimitExceeded : StatusCode::InvalidInput, "pass " + failedPass + " failed"};
}

/// The host programs, and the kernels on several threads.
static StatusOr<std::vector<std::string>> compileForCpu(ModuleOp module, const CpuTarget &target) {
  OwningOpRef<ModuleOp> host = emptyLike(module);
  lowerPrograms(module, *host);
  CpuTraits traits = traitsOf(target);
  auto kernels = llvm::to_vector(module.getOps<rt::KernelOp>());
  if (kernels.size() < kWorthSharing) {
    for (rt::KernelOp kernel : kernels)
      host->getBody()->push_back(kernel->clone());
    if (failed(emitKernels(*host, traits)))
      return Status(StatusCode::Internal, "a kernel could not be emitted");
    StatusOr<std::string> object = compileToObject(*host, target);
    if (!object.ok())
      return object.status();
    return std::vector<std::string>{object.take()};
  }
  // Kernels are dealt out in turn: neighbours in the program are of like size.
  std::vector<OwningOpRef<ModuleOp>> parts(kThreads);
  for (OwningOpRef<ModuleOp> &part : parts)
    part = emptyLike(module);
  for (auto [index, kernel] : llvm::enumerate(kernels))
    parts[index % kThreads]->getBody()->push_back(kernel->clone());
  std::vector<std::string> modules;
  modules.reserve(kThreads + 1);
  for (OwningOpRef<ModuleOp> &part : parts)
    modules.push_back(toBytecode(*part));
  modules.push_back(toBytecode(*host));
  ParallelStages stages{registerDialects, [traits](ModuleOp part) { return emitKernels(part, traits); }};
  return compileInParallel(modules, target, kThreads, stages);
}

StatusOr<NativeCode> compileNative(ModuleOp module, const Targets &targets, const CompileOptions &options) {
  NativeCode code;
  if (targets.cpu) {
    StatusOr<std::vector<std::string>> objects = compileForCpu(module, targets.host);
    if (!objects.ok())
      return objects.status();
    code.objects = objects.take();
  }
  if (targets.hasGpu()) {
    Status status = emitGpuStage(module, targets);
    if (status.ok())
      status = compileForDevices(module, targets, options, code);
    if (!status.ok())
      return status;
  }
  return code;
}

Status lowerToOneModule(ModuleOp module, const CpuTarget &target) {
  OwningOpRef<ModuleOp> host = emptyLike(module);
  for (auto kernel : module.getOps<rt::KernelOp>())
    host->getBody()->push_back(kernel->clone());
  lowerPrograms(module, *host);
  if (failed(emitKernels(*host, traitsOf(target))) || failed(lowerToLLVMDialect(*host)))
    return {StatusCode::Internal, "a kernel could not be emitted"};
  module.getBodyRegion().takeBody(host->getBodyRegion());
  return {};
}

} // namespace dlc::codegen
