#include "dlc/ir/Control.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

/// Copies one slice: `slice` elements from `from` on to `to` on.
static void copyElements(const ReferenceTensor &source, int64_t from, ReferenceTensor &target, int64_t to,
                         int64_t slice) {
  for (int64_t i = 0; i < slice; ++i)
    if (source.isFloat())
      target.floats[to + i] = source.floats[from + i];
    else
      target.integers[to + i] = source.integers[from + i];
}

static LogicalResult evaluateScan(ScanOp op, ReferenceOperands operands, ReferenceResults results,
                                  ReferenceContext context) {
  unsigned carries = op.getCarried().size(), slices = op.getSliced().size();
  SmallVector<ReferenceTensor> carried(operands.take_front(carries));
  int64_t trips = op.getTrips();
  for (int64_t step = 0; step < trips; ++step) {
    int64_t at = op.getBackwards() ? trips - 1 - step : step;
    SmallVector<ReferenceTensor> arguments = carried;
    for (const ReferenceTensor &stacked : operands.slice(carries, slices)) {
      ReferenceTensor &slice = arguments.emplace_back(ScanOp::sliceType(stacked.type));
      copyElements(stacked, at * slice.size(), slice, 0, slice.size());
    }
    llvm::append_range(arguments, operands.drop_front(carries + slices));
    FailureOr<SmallVector<ReferenceTensor>> yielded = evaluateBlock(op.getBlock(), arguments, context);
    if (failed(yielded))
      return failure();
    carried.assign(yielded->begin(), yielded->begin() + carries);
    for (size_t i = carries; i < yielded->size(); ++i)
      copyElements((*yielded)[i], 0, results[i], at * (*yielded)[i].size(), (*yielded)[i].size());
  }
  llvm::copy(carried, results.begin());
  return success();
}

static LogicalResult evaluateCond(CondOp op, ReferenceOperands operands, ReferenceResults results,
                                  ReferenceContext context) {
  Region &region = operands[0].integers[0] ? op.getTaken() : op.getOtherwise();
  FailureOr<SmallVector<ReferenceTensor>> yielded = evaluateBlock(region.front(), operands.drop_front(), context);
  if (succeeded(yielded))
    llvm::move(*yielded, results.begin());
  return yielded;
}

static LogicalResult evaluateCheckpoint(CheckpointOp op, ReferenceOperands operands, ReferenceResults results,
                                        ReferenceContext context) {
  FailureOr<SmallVector<ReferenceTensor>> yielded = evaluateBlock(op.getBlock(), operands, context);
  if (succeeded(yielded))
    llvm::move(*yielded, results.begin());
  return yielded;
}

void dlc::dl::registerReferenceControl(ReferenceRegistry &registry) {
  registry.addWithContext<ScanOp>(evaluateScan);
  registry.addWithContext<CondOp>(evaluateCond);
  registry.addWithContext<CheckpointOp>(evaluateCheckpoint);
  registry.add<BarrierValueOp>([](BarrierValueOp, ReferenceOperands x, ReferenceResults y) { y[0] = x[0]; });
  registry.add<MicroBatchesOp>([](MicroBatchesOp op, ReferenceOperands x, ReferenceResults y) {
    // [blocks, parts, rows, row's elements] to [parts, blocks, rows, row's elements].
    int64_t blocks = std::max<int64_t>(op.getBlocks(), 1), parts = y[0].shape()[0], run = y[0].size() / blocks / parts;
    int64_t first = int64_t(op.getFirst()) * run / (y[0].shape()[1] / blocks);
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t part = 0; part < parts; ++part)
        copyElements(x[0], first + (block * parts + part) * run, y[0], (part * blocks + block) * run, run);
  });
}
