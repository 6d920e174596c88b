#include "distributed/RegionShardings.h"

#include "dlc/ir/Program.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

dl::ShardingAttr dlc::passes::sliceSharding(dl::ShardingAttr stacked) {
  return dl::ShardingAttr::get(stacked.getContext(), stacked.getDims().drop_front(), stacked.getPartial());
}

dl::ShardingAttr dlc::passes::stackSharding(dl::ShardingAttr slice) {
  SmallVector<dl::DimShardingAttr> dims{dl::DimShardingAttr::get(slice.getContext(), {}, {})};
  llvm::append_range(dims, slice.getDims());
  return dl::ShardingAttr::get(slice.getContext(), dims, slice.getPartial());
}

dl::ShardingAttr dlc::passes::argumentSharding(dl::ControlOpInterface op, unsigned argument, dl::ShardingAttr operand) {
  return op.isSlice(argument) ? sliceSharding(operand) : operand;
}

dl::ShardingAttr dlc::passes::yieldedSharding(dl::ControlOpInterface op, unsigned result, dl::ShardingAttr outside) {
  return op.isStacked(result) ? sliceSharding(outside) : outside;
}

dl::ControlOpInterface dlc::passes::controlAround(Operation *terminator) {
  return dyn_cast<dl::ControlOpInterface>(terminator->getParentOp());
}

RegionSplits::RegionSplits(dl::ControlOpInterface op) : op(op) {
  for (BlockArgument argument : op->getRegion(0).getArguments())
    arguments.push_back(shardingOr({}, argument.getType()));
  Operation *yield = op->getRegion(0).front().getTerminator();
  for (Value value : yield->getOperands().drop_front(op.getNumCarried()))
    results.push_back(shardingOr({}, value.getType()));
}

/// Axes serve one dim.
static bool adopt(dl::ShardingAttr &held, dl::ShardingAttr wanted) {
  bool changed = false;
  for (size_t dim = 0; dim < held.getDims().size(); ++dim) {
    bool taken = llvm::any_of(held.getDims(), [&](dl::DimShardingAttr other) {
      return llvm::any_of(other.getAxes(),
                          [&](StringAttr axis) { return llvm::is_contained(wanted.getDims()[dim].getAxes(), axis); });
    });
    if (held.isSplit(dim) || !wanted.isSplit(dim) || taken)
      continue;
    held = held.withDim(dim, wanted.getDims()[dim]);
    changed = true;
  }
  return changed;
}

/// Negative for one that no block gets.
int64_t RegionSplits::argumentOf(unsigned operand) const {
  return int64_t(operand) - (int64_t(op->getNumOperands()) - int64_t(arguments.size()));
}

dl::ShardingAttr &RegionSplits::ofYielded(unsigned result) {
  unsigned carried = op.getNumCarried();
  return result < carried ? arguments[result] : results[result - carried];
}

dl::ShardingAttr RegionSplits::yielded(unsigned result) const {
  return const_cast<RegionSplits *>(this)->ofYielded(result);
}

bool RegionSplits::adoptOperand(unsigned operand, dl::ShardingAttr sharding) {
  int64_t argument = argumentOf(operand);
  return argument >= 0 && adopt(arguments[argument], argumentSharding(op, argument, sharding));
}

bool RegionSplits::adoptResult(unsigned result, dl::ShardingAttr sharding) {
  return adopt(ofYielded(result), yieldedSharding(op, result, sharding));
}

bool RegionSplits::adoptYielded(unsigned result, dl::ShardingAttr sharding) {
  return adopt(ofYielded(result), sharding);
}

dl::ShardingAttr RegionSplits::operandSharding(unsigned operand) const {
  int64_t argument = argumentOf(operand);
  if (argument < 0)
    return shardingOr({}, op->getOperand(operand).getType());
  return op.isSlice(argument) ? stackSharding(arguments[argument]) : arguments[argument];
}

dl::ShardingAttr RegionSplits::resultSharding(unsigned result) const {
  return op.isStacked(result) ? stackSharding(yielded(result)) : yielded(result);
}
