#pragma once

#include "kernels/CpuTraits.h"
#include "kernels/PointerKernelBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <string>

namespace dlc::codegen {

/// One parallel loop of a kernel. `symbol` names its `DlcRange` function; empty when emitted in line.
struct KernelPhase {
  std::string symbol;
  int64_t extent;   ///< iterations
  int64_t multiple; ///< a range may start at multiples of this
  int64_t grain;    ///< a multiple of `multiple`, worth sharing
  bool serial;      ///< too short to share: one call with [0, extent)
};

/// Emits scf, arith, math, vector and llvm on pointers.
class CpuKernelBuilder final : public PointerKernelBuilder {
public:
  /// One function a phase, `func @<name>_<phase>(pointers, dims, lo, hi)`, added to the end of `module`. `operands` is
  /// the number of inputs and results; the workspace pointer follows them in `pointers`.
  CpuKernelBuilder(mlir::ModuleOp module, llvm::StringRef name, mlir::Location location, unsigned operands,
                   const CpuTraits &traits);
  /// All phases in line at the builder's insertion point, with these pointers; `workspace` may be null if unused.
  CpuKernelBuilder(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange operands, mlir::Value workspace,
                   const CpuTraits &traits);

  llvm::ArrayRef<KernelPhase> getPhases() const { return phases; }
  /// Sum over the phases of estimated nanoseconds on one thread.
  double getNanoseconds() const { return total; }

  int64_t lanesOf(mlir::Type element) override;
  Memory operand(unsigned i, mlir::Type element) override;
  Memory workspace(int64_t offset, mlir::Type element) override;
  Memory scratch(int64_t elements, mlir::Type element) override;
  Memory constantData(mlir::DenseElementsAttr values) override;
  void parallelRange(int64_t extent, int64_t multiple, double nanoseconds,
                     llvm::function_ref<void(mlir::Value lo, mlir::Value hi)> body) override;

private:
  mlir::Value pointerAt(unsigned i);

  CpuTraits traits;
  mlir::ModuleOp module; ///< null: in line
  std::string name;
  unsigned operands;
  llvm::SmallVector<mlir::Value> pointers; ///< of the phase being emitted, the workspace last; null: not loaded yet
  llvm::SmallVector<KernelPhase> phases;
  double total = 0;
};

} // namespace dlc::codegen
