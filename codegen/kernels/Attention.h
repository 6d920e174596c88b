#pragma once

#include "dlc/ir/Attention.h"

#include "contraction/RegisterTile.h"
#include "dlc/ir/Program.h"
#include "dlc/ir/ScalarBuilder.h"
#include "kernels/CpuTraits.h"

namespace dlc::codegen {

/// Emits attention; holds the state of the block of queries whose code is being emitted.
class AttentionEmitter {
public:
  AttentionEmitter(KernelBuilder &kernel, dl::GroupOp group, dl::AttentionOp op, const CpuTraits &traits);
  mlir::LogicalResult emit();

private:
  using Vectors = llvm::SmallVector<mlir::Value>; // one a group of lanes, or accumulators
  using Values = llvm::ArrayRef<mlir::Value>;
  struct Sums {
    Vectors max, sum;
  };

  bool isPartial() const { return dims.queries % block != 0; }
  bool isOneBlock() const;
  int64_t columnLanes() const;
  int64_t columnVectors() const { return dims.width > columnLanes() ? 2 : 1; }

  void emitBlock(mlir::Value iteration);
  Sums visitBlocks(mlir::Value limit, Sums sums);
  Sums visitKeys(mlir::Value base, int64_t extent, mlir::Value limit, const Sums &before);

  // Scores of one block of keys, from `base` on; keys are counted from there, up to `limit` of `extent`.
  void emitScores(mlir::Value base, int64_t extent, mlir::Value limit);
  void transposeQueries(mlir::Value depth, int64_t extent);
  void addScores(mlir::Value base, int64_t extent, mlir::Value limit, mlir::Value depth, int64_t depthExtent,
                 bool isFirst);
  Vectors finishScores(mlir::Value base, int64_t extent, mlir::Value limit, Values max);
  Vectors finishKey(mlir::Value base, mlir::Value key, Values masks, Values max);
  Vectors loadMasks(mlir::Value key, int64_t vector, int64_t live);
  Vectors exponentials(mlir::Value limit, Values shift);

  void weighValues(mlir::Value base, int64_t extent, mlir::Value limit);
  Vectors weigh(RegisterTile &tile, mlir::Value row, mlir::Value value, int64_t extent, mlir::Value limit);
  void storeRow(mlir::Value row, mlir::Value column, llvm::ArrayRef<RegisterTile::Column> columns, Values sums);
  void storePerQuery(Values values);
  void storeLogSums(const Sums &sums);

  Vectors repeated(double value) { return Vectors(size_t(vectors), scalar.constant(value, element)); }
  Vectors divisors(Values sums);
  mlir::Value shiftOf(mlir::Value max);
  mlir::Value queryRow(int64_t row);
  mlir::Value outputRow(mlir::Value row);
  Vectors queryNumbers();
  mlir::Value splatI32(mlir::Value number);
  mlir::Value smaller(mlir::Value a, mlir::Value b);
  mlir::Value ceilDiv(mlir::Value a, int64_t b);

  Vectors loop(mlir::Value lo, mlir::Value hi, Values init, llvm::function_ref<Vectors(mlir::Value, Values)> body);
  Vectors emitIf(mlir::Value condition, Values otherwise, llvm::function_ref<Vectors()> body);
  void whenInside(mlir::Value row, llvm::function_ref<void()> body);
  /// The columns of an output row, as many as fit a register tile at a time.
  void forColumns(llvm::function_ref<void(mlir::Value column, llvm::ArrayRef<RegisterTile::Column> columns)> body);
  void forOutputs(llvm::function_ref<void(mlir::Value row, mlir::Value offset, int64_t live)> body);

  KernelBuilder &kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  dl::GroupOp group;
  dl::AttentionOp op;
  const CpuTraits &traits;
  dl::AttentionDims dims;
  mlir::Type element;
  int64_t lanes, vectors, block; ///< queries of a vector, vectors and queries of a block
  int64_t depthBlock;            ///< terms of one chain of a score
  dl::ScalarBuilder scalar;

  Memory q, k, v, mask, y, lse;
  Memory outputs;                  ///< where rows of y grow: y, or f32 in workspace for one of 16 bits
  Memory scores;                   ///< [key][query of the block]: scores, then weights
  Memory queriesT;                 ///< [depth][query of the block]
  Memory perQuery;                 ///< what a row of y is scaled by
  mlir::Value batch, first, valid; ///< first query of the block, and how many there are
  Vectors queries;                 ///< their numbers, i32
};

} // namespace dlc::codegen
