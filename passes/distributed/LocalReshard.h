#pragma once

#include "distributed/LocalBuilder.h"

namespace dlc::passes {

/// A member's value of a tensor, turned step by step into what another sharding of the tensor says.
///
/// partial -> whole: all_reduce; partial -> split: reduce_scatter; split -> whole: all_gather; split -> another dim
/// split along the same axes: all_to_all; whole -> split: the member's part, without the others; whole -> partial sum:
/// zeros but for the first member.
class LocalReshard {
public:
  LocalReshard(LocalBuilder &local, mlir::Value value, mlir::RankedTensorType global, dl::ShardingAttr held)
      : local(local), b(local.getBuilder()), value(value), global(global), held(held) {}

  mlir::Value to(dl::ShardingAttr wanted);

private:
  // Each leaves `value` and `held` as they are then.
  void cutWhereFree(dl::ShardingAttr wanted);
  void reduce(dl::ShardingAttr wanted);
  void reduceAndScatter(dl::ShardingAttr wanted);
  void exchange(dl::ShardingAttr wanted);
  void exchangeDims(int64_t from, int64_t to, dl::DimShardingAttr split);
  bool gatherOne(dl::ShardingAttr wanted);
  void makePartial(dl::PartialAttr partial);

  bool isUsed(llvm::ArrayRef<mlir::StringAttr> axes) const;
  mlir::RankedTensorType type() const { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
  int64_t partsOf(dl::DimShardingAttr split) const { return local.getMesh().size(split.getAxes()); }
  void cut(int64_t dim, dl::DimShardingAttr split);
  /// From all rows to as many blocks as there are parts, one behind the other; and back.
  void addPadding(int64_t dim, dl::DimShardingAttr split);
  void dropPadding(int64_t dim, dl::DimShardingAttr split, int64_t extent);
  mlir::Value rows(int64_t dim, int64_t first, int64_t count);
  void swapWithFirst(int64_t dim);
  void transpose(llvm::ArrayRef<int64_t> permutation);
  void reshape(llvm::ArrayRef<int64_t> shape);

  LocalBuilder &local;
  mlir::OpBuilder &b;
  mlir::Value value;
  mlir::RankedTensorType global;
  dl::ShardingAttr held;
};

} // namespace dlc::passes
