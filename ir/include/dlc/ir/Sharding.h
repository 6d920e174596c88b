#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace dlc::dl {

enum class ReduceKind : uint32_t;
class ShardingAttr;

/// A loop of an op over some dims of its operands and results.
struct ShardingFactor {
  enum class Kind {
    Parallel, ///< each part of the results needs the same part of the operands only
    Reduce,   ///< results are put together from parts, as `reduce` says
    Whole     ///< not to be split
  };
  Kind kind;
  int64_t extent;
  ReduceKind reduce;
  int64_t parts = 1; ///< results have one of so many parts of what each member has of the operands
};

/// Of one dim: numbers of factors, major to minor; only the first can be split. None: the dim is whole.
using DimFactors = llvm::SmallVector<unsigned, 1>;

/// How an op's operands and results hang together: what splitting one dim does to the others.
struct ShardingRule {
  llvm::SmallVector<ShardingFactor> factors;
  llvm::SmallVector<llvm::SmallVector<DimFactors>> operands; ///< for each operand and dim
  llvm::SmallVector<llvm::SmallVector<DimFactors>> results;

  /// Every dim is whole: the op needs all of its operands.
  static ShardingRule whole(mlir::Operation *op);

  unsigned addParallel(int64_t extent);
  unsigned addReduce(int64_t extent, ReduceKind kind);
};

/// What an op's other interfaces say (ScalarBody, Reduction, IndexMap, IndirectIndex, IndexValued, a splat); otherwise
/// whole.
ShardingRule derivedShardingRule(mlir::Operation *op);

/// The rule of any op: its own, or the derived one.
ShardingRule shardingRuleOf(mlir::Operation *op);

/// A scalar that leaves every value unchanged when combined with it.
mlir::TypedAttr neutralValue(ReduceKind kind, mlir::Type element);

/// A dim whose sum is taken in parts of `extent` indices that are added as a balanced binary tree.
struct LeafSplit {
  int64_t count = 0, extent = 0;
  explicit operator bool() const { return count > 0; }
};

/// What an op that becomes local may ask for. It is called with operands and result types that are local already.
class PartitionBuilder {
public:
  virtual ~PartitionBuilder() = default;
  /// Behind the op.
  virtual mlir::OpBuilder &getBuilder() = 0;
  virtual ShardingAttr getOperandSharding(unsigned operand) = 0;
  virtual ShardingAttr getResultSharding(unsigned result) = 0;
  /// Leaves of the sum over an operand's dim that this member takes, as dl.mesh says; none where it has no such order.
  virtual LeafSplit getLeaves(unsigned operand, int64_t dim) = 0;
  /// Rank 0, i64: the first global index along a result's dim that this member has.
  virtual mlir::Value getStart(unsigned result, int64_t dim) = 0;
  /// The operand where this member is the first of those along the axes its dim is split over, elsewhere zeros.
  virtual mlir::Value onFirstMember(mlir::Value value, unsigned splitOperand, int64_t dim) = 0;
  /// `value`, made from the op's result, takes its place.
  virtual void replaceResult(mlir::OpResult result, mlir::Value value) = 0;
};

} // namespace dlc::dl
