#include "driver/DeviceStages.h"

#include "dlc/ir/Rt.h"
#include "dlc/ir/Storage.h"
#include "gpu/GpuKernels.h"
#include "gpu/Lower.h"
#include "host/LowerDeviceProgram.h"
#include "library/LibraryOp.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "targets/cpu/Lower.h"
#include "targets/cpu/Object.h"
#include "targets/cuda/KernelReport.h"
#include "targets/cuda/Ptx.h"
#include "targets/cuda/Ptxas.h"
#include "targets/sim/Locations.h"
#include "targets/sim/Retarget.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace dlc::codegen {

static gpu::GPUModuleOp kernelsOf(ModuleOp module) {
  auto modules = module.getOps<gpu::GPUModuleOp>();
  return modules.empty() ? gpu::GPUModuleOp() : *modules.begin();
}

Status emitGpuStage(ModuleOp module, const Targets &targets) {
  if (kernelsOf(module))
    return {};
  if (failed(emitGpuModule(module, targets.gpu)))
    return {StatusCode::Internal, "a kernel could not be emitted"};
  return {};
}

// "k3" of "k3_0".
static StringRef kernelName(StringRef launch) { return launch.rsplit('_').first; }

/// Calls `each` with the name and the op, a gpu.func or a rt.library, of each launch, in the order of the manifest's
/// "kernels".
static void forEachLaunch(gpu::GPUModuleOp kernels, llvm::function_ref<void(StringRef, Operation *)> each) {
  for (Operation &op : kernels.getBodyRegion().front())
    if (isa<gpu::GPUFuncOp, rt::LibraryOp>(op))
      each(SymbolTable::getSymbolName(&op).getValue(), &op);
}

// What a launch takes for granted and edited text may lack.
static LogicalResult checkKernel(gpu::GPUFuncOp function) {
  constexpr int64_t kMostThreads = 1024;
  if (!function.isKernel() || !function.getKnownBlockSize() || !function.getKnownGridSize())
    return function.emitOpError("expects a kernel with known_block_size and known_grid_size");
  std::array<int64_t, 3> grid = launchExtents(function.getKnownGridSize());
  std::array<int64_t, 3> block = launchExtents(function.getKnownBlockSize());
  for (int64_t extent : llvm::concat<int64_t>(grid, block))
    if (extent < 1)
      return function.emitOpError("expects sizes of at least 1, got ") << extent;
  int64_t threads = block[0] * block[1] * block[2];
  if (threads > kMostThreads)
    return function.emitOpError("expects blocks of at most ") << kMostThreads << " threads, got " << threads;
  return success();
}

StatusOr<bool> isGpuStage(ModuleOp module, const Targets &targets) {
  gpu::GPUModuleOp kernels = kernelsOf(module);
  if (!kernels)
    return false;
  if (targets.cpu)
    return Status(StatusCode::InvalidInput, "expects a module with GPU kernels to be compiled for sim and cuda targets "
                                            "alone, got the target cpu");
  for (auto function : kernels.getOps<gpu::GPUFuncOp>())
    if (failed(checkKernel(function)))
      return Status(StatusCode::InvalidInput, "a kernel cannot be launched");
  llvm::StringMap<gpu::GPUFuncOp> functions; // null where there are calls alone
  forEachLaunch(kernels, [&](StringRef name, Operation *op) {
    gpu::GPUFuncOp &function = functions[kernelName(name)];
    function = function ? function : dyn_cast<gpu::GPUFuncOp>(op);
  });
  WalkResult checked = module.walk([&](rt::LaunchOp launch) {
    auto found = functions.find(launch.getKernel());
    if (found == functions.end()) {
      launch.emitOpError("expects a kernel, got @") << launch.getKernel() << ", which is none";
      return WalkResult::interrupt();
    }
    gpu::GPUFuncOp function = found->second;
    if (!function || launch->getNumOperands() == function.getNumArguments())
      return WalkResult::advance();
    launch.emitOpError("expects ") << function.getNumArguments() << " operands, as many as @" << function.getName()
                                   << " has, got " << launch->getNumOperands();
    return WalkResult::interrupt();
  });
  if (checked.wasInterrupted())
    return Status(StatusCode::InvalidInput, "a launch does not fit the kernels");
  return true;
}

static std::vector<KernelInfo::Operand> operandsOf(rt::LaunchOp launch) {
  std::vector<KernelInfo::Operand> operands;
  for (Value buffer : launch.getReads())
    operands.push_back({rt::getBufferBytes(buffer), Access::Read});
  for (Value buffer : launch.getWrites())
    operands.push_back({rt::getBufferBytes(buffer), Access::Write});
  if (launch.getWorkspace())
    operands.push_back({rt::getBufferBytes(launch.getWorkspace()), Access::Workspace});
  return operands;
}

// Static: the variables of shared memory that the kernel refers to.
static int64_t sharedBytesOf(gpu::GPUFuncOp function) {
  constexpr unsigned kSharedSpace = 3;
  DataLayout layout = DataLayout::closest(function);
  llvm::SmallPtrSet<Operation *, 4> seen;
  int64_t bytes = 0;
  function.walk([&](LLVM::AddressOfOp address) {
    auto variable = SymbolTable::lookupNearestSymbolFrom<LLVM::GlobalOp>(function, address.getGlobalNameAttr());
    if (variable && variable.getAddrSpace() == kSharedSpace && seen.insert(variable).second)
      bytes += int64_t(layout.getTypeSize(variable.getType()).getFixedValue());
  });
  return bytes;
}

static SiteInfo siteOf(rt::LaunchOp launch) {
  SiteInfo site{"kernel " + launch.getKernel().str(), "", 0, 0};
  if (auto file = launch.getLoc()->findInstanceOf<FileLineColLoc>()) {
    site.file = file.getFilename().str();
    site.line = file.getLine();
    site.column = file.getColumn();
  }
  return site;
}

std::vector<KernelInfo> describeKernels(ModuleOp module, std::vector<SiteInfo> &sites) {
  gpu::GPUModuleOp functions = kernelsOf(module);
  if (!functions) // compiled for the cpu alone
    return {};
  llvm::StringMap<rt::LaunchOp> launches;
  module.walk([&](rt::LaunchOp launch) { launches.try_emplace(launch.getKernel(), launch); });
  std::vector<KernelInfo> kernels;
  forEachLaunch(functions, [&](StringRef name, Operation *op) {
    KernelInfo kernel;
    kernel.name = name.str();
    if (auto function = dyn_cast<gpu::GPUFuncOp>(op)) {
      kernel.grid = launchExtents(function.getKnownGridSize());
      kernel.block = launchExtents(function.getKnownBlockSize());
      kernel.shared = sharedBytesOf(function);
    } else {
      kernel.call = libraryCallOf(cast<rt::LibraryOp>(op));
    }
    if (rt::LaunchOp launch = launches.lookup(kernelName(name))) {
      kernel.operands = operandsOf(launch);
      kernel.site = int64_t(sites.size());
      sites.push_back(siteOf(launch));
    }
    kernels.push_back(std::move(kernel));
  });
  return kernels;
}

namespace {

/// The kernels as LLVM IR, from a copy of the module.
struct TranslatedKernels {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;

  /// `lines`: with the program's, for messages.
  static StatusOr<std::unique_ptr<TranslatedKernels>> make(ModuleOp module, bool lines) {
    auto result = std::make_unique<TranslatedKernels>();
    OwningOpRef<gpu::GPUModuleOp> kernels = functionsOf(kernelsOf(module));
    if (failed(lowerToNvvm(*kernels)))
      return Status(StatusCode::Internal, "a kernel could not be lowered");
    if (lines)
      keepLocations(*kernels);
    auto translated = translateGpu(*kernels, result->context);
    if (!translated.ok())
      return translated.status();
    result->module = translated.take();
    return result;
  }
};

} // namespace

/// The function of every entry that starts kernels.
static StatusOr<std::string> compileHost(ModuleOp module, const CpuTarget &target) {
  llvm::StringMap<KernelRange> ranges;
  uint32_t index = 0;
  forEachLaunch(kernelsOf(module), [&](StringRef name, Operation *) {
    KernelRange &range = ranges.try_emplace(kernelName(name), KernelRange{index, 0}).first->second;
    ++range.count;
    ++index;
  });
  loadCpuDialects(*module.getContext());
  OpBuilder builder(module.getContext());
  OwningOpRef<ModuleOp> host = ModuleOp::create(builder, module.getLoc());
  lowerDevicePrograms(module, *host, [&](StringRef kernel) { return ranges.lookup(kernel); });
  return compileToObject(*host, target);
}

static Status addCudaCode(const llvm::Module &kernels, const std::string &arch, std::vector<DeviceCode> &code) {
  StatusOr<std::string> ptx = emitPtx(kernels, arch);
  if (!ptx.ok())
    return ptx.status();
  // Without ptxas the driver assembles the PTX when it loads it.
  if (findPtxas()) {
    StatusOr<Assembled> assembled = assemble(*ptx, arch);
    if (!assembled.ok())
      return assembled.status();
    code.push_back({arch, "cubin", std::move(assembled->cubin)});
  }
  code.push_back({arch, "ptx", ptx.take()});
  return {};
}

Status compileForDevices(ModuleOp module, const Targets &targets, const CompileOptions &options, NativeCode &code) {
  StatusOr<std::string> host = compileHost(module, targets.host);
  if (!host.ok())
    return host.status();
  code.objects.push_back(host.take());
  StatusOr<std::unique_ptr<TranslatedKernels>> kernels = TranslatedKernels::make(module, options.simCheck);
  if (!kernels.ok())
    return kernels.status();
  for (const std::string &arch : targets.cuda)
    if (Status status = addCudaCode(*(*kernels)->module, arch, code.deviceCode); !status.ok())
      return status;
  if (!targets.sim)
    return {};
  forEachLaunch(kernelsOf(module), [&](StringRef name, Operation *op) {
    code.simKernelSymbols.push_back(isa<gpu::GPUFuncOp>(op) ? simKernelSymbol(name) : std::string());
  });
  StatusOr<std::string> object =
      emitSimObject(std::move((*kernels)->module), targets.host, SimCodeOptions{options.simCheck});
  if (!object.ok())
    return object.status();
  code.objects.push_back(object.take());
  return {};
}

StatusOr<std::string> printKernels(ModuleOp module, Emit stage, const Targets &targets) {
  if (stage == Emit::Nvvm) {
    OwningOpRef<gpu::GPUModuleOp> kernels = functionsOf(kernelsOf(module));
    if (failed(lowerToNvvm(*kernels)))
      return Status(StatusCode::Internal, "a kernel could not be lowered");
    std::string text;
    llvm::raw_string_ostream stream(text);
    kernels->print(stream, OpPrintingFlags().enableDebugInfo(false));
    return text + "\n";
  }
  if (targets.cuda.size() != 1)
    return Status(StatusCode::InvalidInput, "expects one target of " + cudaTargets() + " to show this stage for, got " +
                                                llvm::join(targets.names(), ", "));
  StatusOr<std::unique_ptr<TranslatedKernels>> kernels = TranslatedKernels::make(module, false);
  if (!kernels.ok())
    return kernels.status();
  const std::string &arch = targets.cuda[0];
  StatusOr<std::string> ptx = emitPtx(*(*kernels)->module, arch);
  if (!ptx.ok() || stage == Emit::Ptx)
    return ptx;
  if (stage == Emit::Cubin) {
    StatusOr<Assembled> assembled = assemble(*ptx, arch);
    return assembled.ok() ? StatusOr<std::string>(std::move(assembled->cubin)) : assembled.status();
  }
  StatusOr<std::vector<KernelReport>> reports = reportKernels(kernelsOf(module), *ptx, arch);
  return reports.ok() ? StatusOr<std::string>(toJson(*reports)) : reports.status();
}

} // namespace dlc::codegen
