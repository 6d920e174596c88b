#pragma once

#include "gpu/GpuKernelBuilder.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc::codegen {

/// How ops with kernels of their own are emitted for a GPU, by op; each family registers its ops. An op without an
/// entry has its CPU kernel run over `parallelRange`.
class GpuRegistry {
public:
  struct Emitter {
    mlir::LogicalResult (*emit)(GpuKernelBuilder &kernel, dl::GroupOp group, mlir::Operation *anchor);
    int64_t (*workspaceBytes)(dl::GroupOp group, mlir::Operation *anchor) = nullptr; ///< null: none
  };

  /// Every family's ops.
  explicit GpuRegistry(mlir::MLIRContext *context);

  template <typename OpTy>
  void add(Emitter emitter) {
    emitters[mlir::OperationName(OpTy::getOperationName(), context)] = emitter;
  }
  /// Null when the op has no GPU kernel of its own.
  const Emitter *find(mlir::OperationName name) const;

private:
  mlir::MLIRContext *context;
  llvm::DenseMap<mlir::OperationName, Emitter> emitters;
};

/// The CPU's kernel over `parallelRange`, right for every group and slow, for what an emitter does not cover.
mlir::LogicalResult emitGpuFallback(GpuKernelBuilder &kernel, dl::GroupOp group);
int64_t gpuFallbackWorkspaceBytes(dl::GroupOp group);

// The families, each in its own file.
#define DLC_GPU_FAMILY(Name) void register##Name##GpuKernels(GpuRegistry &registry);
#include "gpu/GpuFamilies.inc"
#undef DLC_GPU_FAMILY

} // namespace dlc::codegen
