#pragma once

#include "dlc/ir/Collective.h"

namespace dlc::passes {

/// Attributes between the passes of this folder: one sharding a result, one an operand.
constexpr llvm::StringLiteral resultShardings = "dl.result_shardings", operandShardings = "dl.operand_shardings";

/// The one spelling of a split: no axes of one member, no borders where blocks are meant.
dl::DimShardingAttr canonical(dl::DimShardingAttr split, int64_t extent, dl::MeshOp mesh);
dl::ShardingAttr canonical(dl::ShardingAttr sharding, llvm::ArrayRef<int64_t> shape, dl::MeshOp mesh);

/// The sharding an attribute of an op or argument gives, or replicated.
dl::ShardingAttr shardingOr(mlir::Attribute attribute, mlir::Type type);

/// Which factors of an op's rule are split, and how; a split that is set stays.
class OpSplits {
public:
  OpSplits(mlir::Operation *op, dl::MeshOp mesh);

  /// Splits factors as the dims of an operand or result are. What does not fit is left: a whole dim, another split of
  /// the factor, an axis that another factor has, borders inside a minor factor.
  bool adoptOperand(unsigned operand, dl::ShardingAttr sharding);
  bool adoptResult(unsigned result, dl::ShardingAttr sharding);

  /// What the op needs of an operand, and makes of a result; a reduced factor that is split makes it partial.
  dl::ShardingAttr operandSharding(unsigned operand) const;
  dl::ShardingAttr resultSharding(unsigned result) const;

private:
  using Dims = llvm::SmallVector<dl::DimFactors>;
  bool adopt(const Dims &dims, mlir::Type type, dl::ShardingAttr sharding, bool reduces);
  bool adoptDim(const dl::DimFactors &factors, dl::DimShardingAttr split, int64_t extent, bool reduces);
  dl::ShardingAttr shardingOf(const Dims &dims, mlir::Type type, bool made) const;
  dl::DimShardingAttr partOf(dl::DimShardingAttr split, const dl::ShardingFactor &factor) const;
  int64_t minorExtent(const dl::DimFactors &factors) const;

  mlir::Operation *op;
  mutable dl::MeshOp mesh;
  dl::ShardingRule rule;
  llvm::SmallVector<dl::DimShardingAttr> splits; // by factor; null: not split
};

} // namespace dlc::passes
