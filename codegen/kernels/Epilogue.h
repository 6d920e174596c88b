#pragma once

#include "kernels/ElementScope.h"
#include "kernels/GroupAnalysis.h"

namespace dlc::codegen {

/// What a group does with the result of its anchor, the op with a kernel of its own: elementwise ops on registers, then
/// stores. Every result of the group has as many elements as the anchor's and is stored at the same offset.
class Epilogue {
public:
  /// One loop of the anchor's result: extent, and elements from one step to the next.
  struct Axis {
    int64_t extent;
    int64_t stride;
  };

  /// `axes`: the loops whose positions `store` gets, the last one with the lanes and stride 1.
  Epilogue(KernelBuilder &kernel, dl::GroupOp group, mlir::Operation *anchor, llvm::ArrayRef<Axis> axes)
      : kernel(kernel), group(group), anchor(anchor), axes(axes.begin(), axes.end()) {}
  /// The axes of the anchor's result themselves.
  Epilogue(KernelBuilder &kernel, dl::GroupOp group, mlir::Operation *anchor);

  /// Fails, with an error, when an op of the group is no epilogue.
  mlir::LogicalResult verify();
  /// Finishes a vector of the anchor's result (or one element); `index` are i64, the last one for lane 0.
  void store(llvm::ArrayRef<mlir::Value> index, const Lane &lane, mlir::Value value);
  /// The same for elements at `offset` of the result, an expression of the scope.
  void store(ElementScope &lanes, mlir::AffineExpr offset, mlir::Value value);

private:
  KernelBuilder &kernel;
  dl::GroupOp group;
  mlir::Operation *anchor;
  llvm::SmallVector<Axis> axes;
};

/// Whether the group yields the anchor's results and nothing else; those of 16 bits rounded.
bool yieldsResultsOf(dl::GroupOp group, mlir::Operation *anchor);

/// The number of the kernel's operand that is operand `i` of the anchor; fails, with an error, when something else in
/// the group computes it.
mlir::FailureOr<unsigned> operandNumber(mlir::Operation *anchor, unsigned i);

} // namespace dlc::codegen
