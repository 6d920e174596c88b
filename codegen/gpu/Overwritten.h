#pragma once

#include "gpu/GpuKernelBuilder.h"
#include "kernels/ElementScope.h"

namespace dlc::codegen {

/// Calls `body` for the inputs that some of the group's results, given by number, are written over.
inline void forOverwritten(dl::GroupOp group, llvm::ArrayRef<unsigned> results,
                           llvm::function_ref<void(mlir::BlockArgument input)> body) {
  std::optional<llvm::ArrayRef<int64_t>> inPlace = group.getInPlace();
  if (!inPlace)
    return;
  for (unsigned result : results)
    if (int64_t input = (*inPlace)[result]; input >= 0)
      body(group.getBody().front().getArgument(unsigned(input)));
}

/// Has an input read in `scope`, at this index of it, and not by the threads of an enclosing one.
inline void provideInputAt(ElementScope &scope, mlir::BlockArgument input, llvm::ArrayRef<mlir::AffineExpr> index) {
  mlir::AffineExpr offset = scope.getSpace().linearize(shapeOf(input), index);
  scope.provide(input, index, [input, offset](ElementScope &asking) {
    auto type = mlir::cast<mlir::RankedTensorType>(input.getType());
    Memory memory = asking.getKernel().operand(input.getArgNumber(), type.getElementType());
    return asking.load(memory, type.getNumElements(), offset);
  });
}

/// Has those inputs read so.
inline void provideOverwrittenAt(ElementScope &scope, dl::GroupOp group, llvm::ArrayRef<unsigned> results,
                                 llvm::ArrayRef<mlir::AffineExpr> index) {
  forOverwritten(group, results, [&](mlir::BlockArgument input) { provideInputAt(scope, input, index); });
}

} // namespace dlc::codegen
