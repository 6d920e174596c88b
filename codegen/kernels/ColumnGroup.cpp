#include "kernels/ColumnGroup.h"

#include "kernels/ElementScope.h"

#include "dlc/ir/Dl.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

SmallVector<AffineExpr> ColumnGroup::index(IndexSpace &space, AffineExpr output, AffineExpr row) const {
  SmallVector<AffineExpr> keptIndex = space.delinearize(kept, output), reducedIndex = space.delinearize(reduced, row);
  SmallVector<AffineExpr> result;
  size_t nextKept = 0, nextReduced = 0;
  for (bool isOne : isReduced)
    result.push_back(isOne ? reducedIndex[nextReduced++] : keptIndex[nextKept++]);
  return result;
}

FailureOr<ColumnGroup> ColumnGroup::analyse(dl::GroupOp group, IndexSpace &space) {
  ColumnGroup parts;
  parts.group = group;
  ArrayRef<int64_t> domain = group.getDomain();
  parts.isReduced.resize(domain.size());
  for (Operation &op : group.getBody().front().without_terminator())
    if (isa<dl::ReductionOpInterface>(op))
      parts.reductions.push_back(&op);
  if (parts.reductions.empty())
    return group.emitOpError("expects a reduction in a column group");
  ArrayRef<int64_t> axes = cast<dl::ReductionOpInterface>(parts.reductions[0]).getReductionAxes();
  for (int64_t axis : axes)
    parts.isReduced[axis] = true;
  for (auto [extent, isOne] : llvm::zip(domain, parts.isReduced))
    (isOne ? parts.reduced : parts.kept).push_back(extent);
  parts.outputs = product(parts.kept);
  parts.rows = product(parts.reduced);
  size_t axis = domain.size();
  for (; axis > 0 && !parts.isReduced[axis - 1]; --axis)
    parts.innerKept *= domain[axis - 1];
  for (; axis > 0 && parts.isReduced[axis - 1]; --axis)
    parts.innerRows *= domain[axis - 1];

  AffineExpr output = space.simplify(space.addDim(0, parts.outputs - 1));
  AffineExpr row = space.simplify(space.addDim(0, parts.rows - 1));
  SmallVector<AffineExpr> index = parts.index(space, output, row), outputIndex = parts.outputIndex(space, output);
  AccessCollector accesses(space);
  for (Operation *op : parts.reductions) {
    if (shapeOf(op->getOperand(0)) != domain || cast<dl::ReductionOpInterface>(op).getReductionAxes() != axes)
      return op->emitOpError("expects to reduce the same axes of the domain as the group's other reductions");
    accesses.stopAt(op->getResult(0));
  }
  for (Operation *op : parts.reductions)
    if (failed(accesses.visit(op->getOperand(0), index)))
      return failure();
  if (!accesses.getGivenReads().empty())
    return group.emitOpError("expects no reduction of another reduction's result in a column group");
  parts.nanoseconds = accesses.getNanoseconds() + (parts.innerKept > 1 ? 0 : 0.2);
  parts.values = accesses.getValues().size();
  for (Value result : resultsOf(group)) {
    if (shapeOf(result) != ArrayRef(parts.kept))
      return group.emitOpError("expects results of the reduced shape, got ") << result.getType();
    if (failed(accesses.visit(result, outputIndex)))
      return failure();
  }
  for (auto [value, offset] : accesses.getGivenReads())
    if (offset != output)
      return value.getDefiningOp()->emitOpError("expects its result to be used at its own index only");
  return parts;
}
