#pragma once

#include "dlc/ir/Collective.h"
#include "dlc/ir/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc::passes {

/// Makes what one member's program needs: its place in the mesh, masks of its rows, and collectives.
class LocalBuilder {
public:
  /// Values that depend on the member alone are made once, at the top of the entry.
  LocalBuilder(mlir::func::FuncOp entry, dl::MeshOp mesh);

  dl::MeshOp getMesh() const { return mesh; }
  /// From here on other values are made before `op`.
  void setInsertionPoint(mlir::Operation *op) { here.setInsertionPoint(op); }
  void setInsertionPointAfter(mlir::Operation *op) { here.setInsertionPointAfter(op); }
  mlir::OpBuilder &getBuilder() { return here; }

  /// Rank 0, i64: the member's number along the axes; the first global index of its part of a dim.
  mlir::Value coordinate(llvm::ArrayRef<mlir::StringAttr> axes);
  mlir::Value start(dl::DimShardingAttr split, int64_t extent);
  /// Rank 0, i1: whether it is the first along the axes.
  mlir::Value isFirst(llvm::ArrayRef<mlir::StringAttr> axes);
  /// The local value with `neutral` behind the member's own part of the dim; itself where all parts have one size.
  mlir::Value masked(mlir::Value value, int64_t dim, dl::DimShardingAttr split, int64_t extent,
                     mlir::TypedAttr neutral);

  /// Rows of the largest part; whether all are as large; whether only parts at the end are smaller.
  int64_t largest(dl::DimShardingAttr split, int64_t extent);
  bool isEven(dl::DimShardingAttr split, int64_t extent);
  static bool isBlocks(dl::DimShardingAttr split) { return split.getBorders().empty(); }

private:
  mlir::Value axisCoordinate(mlir::StringAttr axis);
  mlir::Value lookUp(llvm::ArrayRef<int64_t> table, mlir::Value position);
  mlir::Value count(dl::DimShardingAttr split, int64_t extent);
  mlir::Value mask(dl::DimShardingAttr split, int64_t extent);
  mlir::func::FuncOp entry;
  dl::MeshOp mesh;
  mlir::OpBuilder top, here;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> coordinates;
  llvm::DenseMap<std::pair<dl::DimShardingAttr, int64_t>, mlir::Value> starts, masks;
};

} // namespace dlc::passes
