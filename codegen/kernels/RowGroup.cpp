#include "kernels/Row.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

SmallVector<AffineExpr> RowGroup::rowIndex(IndexSpace &space, AffineExpr row) const {
  return space.delinearize(outer, row);
}

SmallVector<AffineExpr> RowGroup::index(IndexSpace &space, AffineExpr row, AffineExpr column) const {
  SmallVector<AffineExpr> result = space.delinearize(outer, row);
  llvm::append_range(result, space.delinearize(inner, column));
  return result;
}

// The stage of a reduction is one more than that of the reductions its operand is computed from.
static SmallVector<SmallVector<Operation *>> findStages(dl::GroupOp group) {
  llvm::DenseMap<Value, unsigned> depth;
  SmallVector<SmallVector<Operation *>> stages;
  for (Operation &op : group.getBody().front().without_terminator()) {
    unsigned most = 0;
    for (Value operand : op.getOperands())
      most = std::max(most, depth.lookup(operand));
    if (isa<dl::ReductionOpInterface>(op)) {
      if (stages.size() <= most)
        stages.resize(most + 1);
      stages[most].push_back(&op);
      ++most;
    }
    for (Value result : op.getResults())
      depth[result] = most;
  }
  return stages;
}

FailureOr<RowGroup> RowGroup::analyse(dl::GroupOp group, IndexSpace &space) {
  RowGroup parts;
  parts.group = group;
  parts.domain = group.getDomain();
  parts.stages = findStages(group);
  if (parts.stages.empty())
    return group.emitOpError("expects a reduction in a row group");
  size_t reduced = cast<dl::ReductionOpInterface>(parts.stages[0][0]).getReductionAxes().size();
  parts.outer = parts.domain.drop_back(reduced);
  parts.inner = parts.domain.take_back(reduced);
  parts.rows = product(parts.outer);
  parts.columns = product(parts.inner);

  AccessCollector accesses(space);
  AffineExpr row = space.simplify(space.addDim(0, parts.rows - 1));
  AffineExpr column = space.simplify(space.addDim(0, parts.columns - 1));
  SmallVector<AffineExpr> index = parts.index(space, row, column), rowIndex = parts.rowIndex(space, row);
  for (auto &stage : parts.stages) {
    for (Operation *op : stage) {
      ArrayRef<int64_t> axes = cast<dl::ReductionOpInterface>(op).getReductionAxes();
      if (shapeOf(op->getOperand(0)) != parts.domain || axes.size() != reduced ||
          (reduced && axes[0] != int64_t(parts.outer.size())))
        return op->emitOpError("expects to reduce the last ") << reduced << " axes of the group's domain";
      accesses.stopAt(op->getResult(0));
    }
  }
  for (auto &stage : parts.stages)
    for (Operation *op : stage)
      if (failed(accesses.visit(op->getOperand(0), index)))
        return failure();
  for (auto [i, result] : llvm::enumerate(resultsOf(group))) {
    bool whole =
        shapeOf(result) == parts.domain && (reduced || !llvm::is_contained(parts.stages[0], result.getDefiningOp()));
    if (!whole && shapeOf(result) != parts.outer)
      return group.emitOpError("expects results of the domain's or the reduced shape, got ") << result.getType();
    (whole ? parts.domainResults : parts.rowResults).push_back(i);
    if (failed(accesses.visit(result, whole ? ArrayRef(index) : ArrayRef(rowIndex))))
      return failure();
  }
  for (auto [value, offset] : accesses.getGivenReads())
    if (offset != row)
      return value.getDefiningOp()->emitOpError("expects its result to be used by its own row only");
  parts.nanoseconds = accesses.getNanoseconds() + 0.1 * double(parts.stages.size());
  return parts;
}
