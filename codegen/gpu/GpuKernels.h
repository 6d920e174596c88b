#pragma once

#include "dlc/ir/Program.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace dlc::codegen {

/// One kernel launch, of a function or (grid and block are 1 then) a library's; the grid follows from shapes.
struct GpuLaunch {
  std::string symbol;
  std::array<int64_t, 3> grid, block; ///< x, y, z
  int64_t sharedBytes = 0;            ///< static, part of the kernel: a launch asks for no more
};

/// The extents of a kernel's grid or block, from its attribute; 1 where there is none.
std::array<int64_t, 3> launchExtents(std::optional<llvm::ArrayRef<int32_t>> known);

/// Who makes the kernels of an op for CUDA: dlc, a vendor's library where it can, or whoever library/Choices.inc says.
enum class KernelMaker : uint8_t { Generated, Library, Auto };

/// What results may depend on beside their operands and the order of IEEE arithmetic, only where it was asked for.
struct GpuOptions {
  bool unorderedAtomics = false; ///< the order in which a scatter adds floats, which differs from run to run
  bool tf32 = false;             ///< tensor cores, which see 10 bits of the mantissa of a product's f32 factors
  KernelMaker matMul = KernelMaker::Generated, conv = KernelMaker::Generated; ///< of contractions, of convolutions
  std::vector<std::string> archs = {};                                        ///< "sm_90", …: what Auto is decided for
};

/// Emits the launches of a group's kernel into `module`, named `<name>_<i>`, to be run in order; each takes all
/// operands (the group's inputs, its results, then the workspace if it has bytes) as !llvm.ptr<1>, 64-byte aligned.
/// Fails, with an error at the op, when a group is not what its kind promises.
mlir::FailureOr<llvm::SmallVector<GpuLaunch>> emitGpuKernel(mlir::gpu::GPUModuleOp module, llvm::StringRef name,
                                                            dl::GroupOp group, int64_t workspaceBytes,
                                                            const GpuOptions &options = {});

/// Bytes of workspace the kernel needs besides its operands.
int64_t gpuWorkspaceBytes(dl::GroupOp group, const GpuOptions &options = {});

/// The module's rt.kernel ops become `gpu.module @kernels`, their launches named after them.
mlir::LogicalResult emitGpuModule(mlir::ModuleOp module, const GpuOptions &options = {});

/// The passes `dlc-emit-gpu` (rt.kernel ops of a module become a gpu.module) and `dlc-lower-gpu`, and their dialects.
void registerGpuPasses();
void registerGpuDialects(mlir::DialectRegistry &registry);
/// Loads those dialects now, for code that builds kernels outside a pass.
void loadGpuDialects(mlir::MLIRContext &context);

} // namespace dlc::codegen
