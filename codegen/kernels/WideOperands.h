#pragma once

#include "kernels/ForwardingKernelBuilder.h"
#include "kernels/GroupAnalysis.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc::codegen {

/// A kernel that reads some of its anchor's operands from workspace, where they were converted from 16-bit floats: what
/// is read often is converted once.
class WideOperands final : public ForwardingKernelBuilder {
public:
  /// `which`: operands of the anchor that are read narrow. Emits a phase for each; they lie from `offset` on.
  WideOperands(KernelBuilder &whole, mlir::Operation *anchor, llvm::ArrayRef<unsigned> which, int64_t offset);

  static int64_t workspaceBytes(mlir::Operation *anchor, llvm::ArrayRef<unsigned> which);
  Memory operand(unsigned i, mlir::Type element) override;

private:
  void convert(unsigned number, int64_t count, int64_t offset, mlir::Type element);

  llvm::SmallDenseMap<unsigned, int64_t> offsets; ///< by number of the kernel's operand
};

/// Whether operand `i` of the anchor is of 16-bit floats in memory.
bool isReadNarrow(mlir::Operation *anchor, unsigned i);

} // namespace dlc::codegen
