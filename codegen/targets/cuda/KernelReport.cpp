#include "targets/cuda/KernelReport.h"

#include "gpu/GpuKernels.h"
#include "targets/cuda/CudaArch.h"
#include "targets/cuda/Ptxas.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace dlc;
using namespace dlc::codegen;

using Assembly = KernelReport::Assembly;

/// The number in front of `what`, as in "Used 32 registers, 1056 bytes smem"; 0 when there is none.
static int64_t numberBefore(llvm::StringRef line, llvm::StringRef what) {
  size_t at = line.find(what);
  if (at == llvm::StringRef::npos)
    return 0;
  llvm::StringRef before = line.take_front(at).rtrim();
  int64_t number = 0;
  before.take_back(before.size() - (before.find_last_not_of("0123456789") + 1)).getAsInteger(10, number);
  return number;
}

// ptxas info    : Compiling entry function 'k0_0' for 'sm_90'
// ptxas info    : Function properties for k0_0
//     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// ptxas info    : Used 32 registers, used 1 barriers, 1056 bytes smem
static llvm::StringMap<Assembly> parseLog(llvm::StringRef log) {
  llvm::StringMap<Assembly> found;
  Assembly *current = nullptr;
  for (llvm::StringRef line : llvm::split(log, '\n')) {
    if (line.contains("Compiling entry function '"))
      current = &found[line.split('\'').second.split('\'').first];
    if (!current)
      continue;
    if (line.contains("bytes stack frame")) {
      current->stackBytes = numberBefore(line, "bytes stack frame");
      current->spillStores = numberBefore(line, "bytes spill stores");
      current->spillLoads = numberBefore(line, "bytes spill loads");
    }
    if (line.contains("Used ")) {
      current->registers = numberBefore(line, "registers");
      current->sharedBytes = numberBefore(line, "bytes smem");
    }
  }
  return found;
}

// Blocks that fit on a multiprocessor, by registers, shared memory, warps and blocks.
static double occupancy(const CudaArch &arch, const Assembly &kernel, int64_t threads) {
  int64_t warps = llvm::divideCeil(uint64_t(threads), 32);
  auto ofWarp = int64_t(llvm::alignTo(std::max<int64_t>(kernel.registers, 1) * 32, arch.registersUnit));
  int64_t fitting = arch.registers / ofWarp / arch.warpsUnit * arch.warpsUnit;
  auto shared = int64_t(llvm::alignTo(kernel.sharedBytes + arch.reservedSharedBytes, arch.sharedUnit));
  int64_t blocks = std::min({fitting / warps, arch.sharedBytes / shared, arch.warps / warps, arch.blocks});
  return double(blocks * warps) / double(arch.warps);
}

static int64_t movedBytes(mlir::gpu::GPUFuncOp function) {
  int64_t bytes = 0;
  for (mlir::BlockArgument argument : function.getBody().front().getArguments())
    if (auto size = function.getArgAttrOfType<mlir::IntegerAttr>(argument.getArgNumber(),
                                                                 mlir::LLVM::LLVMDialect::getDereferenceableAttrName());
        size && !argument.use_empty())
      bytes += size.getInt();
  return bytes;
}

StatusOr<std::vector<KernelReport>> dlc::codegen::reportKernels(mlir::gpu::GPUModuleOp kernels, llvm::StringRef ptx,
                                                                llvm::StringRef archName) {
  const CudaArch *arch = findCudaArch(archName);
  if (!arch)
    return Status(StatusCode::InvalidInput, "unknown architecture '" + archName.str() + "'");
  llvm::StringMap<Assembly> assemblies;
  if (findPtxas()) {
    StatusOr<Assembled> assembled = assemble(ptx, archName);
    if (!assembled.ok())
      return assembled.status();
    assemblies = parseLog(assembled->log);
  }
  std::vector<KernelReport> reports;
  for (auto function : kernels.getOps<mlir::gpu::GPUFuncOp>()) {
    KernelReport report{function.getName().str(), launchExtents(function.getKnownGridSize()),
                        launchExtents(function.getKnownBlockSize()), movedBytes(function), std::nullopt};
    if (auto found = assemblies.find(report.kernel); found != assemblies.end()) {
      report.assembly = found->second;
      report.assembly->occupancy = occupancy(*arch, found->second, report.block[0] * report.block[1] * report.block[2]);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

std::string dlc::codegen::toJson(llvm::ArrayRef<KernelReport> reports) {
  llvm::json::Array kernels;
  auto list = [](const std::array<int64_t, 3> &extents) {
    return llvm::json::Array{extents[0], extents[1], extents[2]};
  };
  for (const KernelReport &each : reports) {
    llvm::json::Object kernel{
        {"name", each.kernel}, {"grid", list(each.grid)}, {"block", list(each.block)}, {"bytes", each.movedBytes}};
    if (each.assembly) {
      kernel["registers"] = each.assembly->registers;
      kernel["spillStores"] = each.assembly->spillStores;
      kernel["spillLoads"] = each.assembly->spillLoads;
      kernel["stack"] = each.assembly->stackBytes;
      kernel["shared"] = each.assembly->sharedBytes;
      kernel["occupancy"] = each.assembly->occupancy;
    }
    kernels.push_back(std::move(kernel));
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}", llvm::json::Value(std::move(kernels)));
  return text + "\n";
}
