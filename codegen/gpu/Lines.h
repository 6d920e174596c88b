#pragma once

#include "gpu/GpuKernelBuilder.h"
#include "kernels/IndexSpace.h"

#include <functional>

namespace dlc::codegen {

/// Reductions along lines: `count` lines of `extent` elements, in stages that depend on those before; results are a
/// value a line, or an element of the domain.
struct Lines {
  dl::GroupOp group;
  int64_t count, extent;
  int64_t run; ///< elements of a line that lie side by side in the domain
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> stages;
  llvm::SmallVector<unsigned> domainResults, lineResults; ///< numbers of the group's results
  std::function<llvm::SmallVector<mlir::AffineExpr>(mlir::AffineExpr line, mlir::AffineExpr position)> index;
  std::function<llvm::SmallVector<mlir::AffineExpr>(mlir::AffineExpr line)> lineIndex;

  /// Elements of a part of its own, combined with others by a launch more; 0: a line is one team's.
  int64_t chunk() const;
  int64_t chunks() const { return (extent + chunk() - 1) / chunk(); }
};

void emitLines(GpuKernelBuilder &kernel, IndexSpace &space, const Lines &lines);
int64_t linesWorkspaceBytes(const Lines &lines);

} // namespace dlc::codegen
