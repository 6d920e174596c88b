#pragma once

#include "distributed/OpSplits.h"

namespace dlc::passes {

// How values inside an op's regions are held follows from how its operands and results are: equally, but for slices,
// which lack dim 0.

/// Of a slice along dim 0, and of what slices are stacked to, whose dim 0 is whole.
dl::ShardingAttr sliceSharding(dl::ShardingAttr stacked);
dl::ShardingAttr stackSharding(dl::ShardingAttr slice);

/// Of a block's argument, its operand being held as said; of a yielded value, its result being held as said.
dl::ShardingAttr argumentSharding(dl::ControlOpInterface op, unsigned argument, dl::ShardingAttr operand);
dl::ShardingAttr yieldedSharding(dl::ControlOpInterface op, unsigned result, dl::ShardingAttr outside);

/// The op whose region a value is yielded from; null at the end of a function.
dl::ControlOpInterface controlAround(mlir::Operation *terminator);

/// What the blocks of an op take and give while shardings are found: one sharding for all that must be held alike (an
/// argument and its operand; a carried value, first, last and between; a result, in each branch). A dim, once split,
/// stays so.
class RegionSplits {
public:
  explicit RegionSplits(dl::ControlOpInterface op);

  /// Splits what is whole yet as the operand (result) is; false where nothing changed.
  bool adoptOperand(unsigned operand, dl::ShardingAttr sharding);
  bool adoptResult(unsigned result, dl::ShardingAttr sharding);
  bool adoptYielded(unsigned result, dl::ShardingAttr sharding);

  dl::ShardingAttr operandSharding(unsigned operand) const;
  dl::ShardingAttr resultSharding(unsigned result) const;
  dl::ShardingAttr argument(unsigned number) const { return arguments[number]; }
  dl::ShardingAttr yielded(unsigned result) const;

private:
  dl::ShardingAttr &ofYielded(unsigned result);
  int64_t argumentOf(unsigned operand) const;

  mutable dl::ControlOpInterface op;
  llvm::SmallVector<dl::ShardingAttr> arguments, results; // inside; of results those that are not carried
};

} // namespace dlc::passes
