#pragma once

#include "dlc/ir/Program.h"
#include "kernels/CpuTraits.h"
#include "kernels/KernelBuilder.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc::codegen {

/// How the ops with kernels of their own (OwnKernelOpInterface) are emitted, by op; each family registers its ops.
class KernelRegistry {
public:
  struct Emitter {
    mlir::LogicalResult (*emit)(KernelBuilder &kernel, dl::GroupOp group, mlir::Operation *anchor,
                                const CpuTraits &traits);
    int64_t (*workspaceBytes)(mlir::Operation *anchor, const CpuTraits &traits); ///< null: none
  };

  /// Every family's ops.
  explicit KernelRegistry(mlir::MLIRContext *context);

  template <typename OpTy>
  void add(Emitter emitter) {
    emitters[mlir::OperationName(OpTy::getOperationName(), context)] = emitter;
  }
  /// Null when the op has no kernel of its own.
  const Emitter *find(mlir::OperationName name) const;

private:
  mlir::MLIRContext *context;
  llvm::DenseMap<mlir::OperationName, Emitter> emitters;
};

// The families, each in its own file.
#define DLC_KERNEL_FAMILY(Name) void register##Name##Kernels(KernelRegistry &registry);
#include "kernels/KernelFamilies.inc"
#undef DLC_KERNEL_FAMILY

} // namespace dlc::codegen
