// Row groups: a line of gpu/Lines.cpp is a row.
#include "kernels/Row.h"

#include "gpu/GpuEmitters.h"
#include "gpu/Lines.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

static FailureOr<Lines> linesOf(dl::GroupOp group, IndexSpace &space) {
  FailureOr<RowGroup> rows = RowGroup::analyse(group, space);
  if (failed(rows))
    return failure();
  Lines lines{group, rows->rows, rows->columns, rows->columns, rows->stages, rows->domainResults, rows->rowResults,
              {},    {}};
  lines.index = [rows = *rows, &space](AffineExpr line, AffineExpr position) {
    return rows.index(space, line, position);
  };
  lines.lineIndex = [rows = *rows, &space](AffineExpr line) { return rows.rowIndex(space, line); };
  return lines;
}

LogicalResult codegen::emitGpuRow(GpuKernelBuilder &kernel, dl::GroupOp group) {
  IndexSpace space(group.getContext());
  FailureOr<Lines> lines = linesOf(group, space);
  if (failed(lines))
    return failure();
  emitLines(kernel, space, *lines);
  return success();
}

int64_t codegen::gpuRowWorkspaceBytes(dl::GroupOp group) {
  IndexSpace space(group.getContext());
  FailureOr<Lines> lines = linesOf(group, space);
  return failed(lines) ? 0 : linesWorkspaceBytes(*lines);
}
