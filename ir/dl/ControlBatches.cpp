#include "dlc/ir/Collective.h"
#include "dlc/ir/Control.h"
#include "dlc/ir/Shape.h"

using namespace mlir;
using namespace dlc::dl;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

LogicalResult MicroBatchesOp::verify() {
  RankedTensorType from = typeOf(getX()), to = typeOf(getY());
  bool fits = from.hasStaticShape() && from.getRank() > 0 && to.hasStaticShape() && to.getRank() > 1 &&
              to.getDimSize(0) > 0 && from.getElementType() == to.getElementType() && int64_t(getFirst()) >= 0 &&
              from.getDimSize(0) - int64_t(getFirst()) >= to.getDimSize(0) * to.getDimSize(1) &&
              from.getShape().drop_front() == to.getShape().drop_front(2);
  if (!fits)
    return emitOpError("expects rows in parts of equal size, got ") << from << " and " << to;
  if (getBlocks() < 0 || (getBlocks() && to.getDimSize(1) % getBlocks()))
    return emitOpError("expects blocks that divide the rows of a part, got ") << getBlocks();
  return success();
}

bool MicroBatchesOp::takesAll() {
  return typeOf(getX()).getDimSize(0) == typeOf(getY()).getDimSize(0) * typeOf(getY()).getDimSize(1);
}

// One part is any part.
bool MicroBatchesOp::keepWhole(Stage stage) {
  if (takesAll() && typeOf(getY()).getDimSize(0) == 1)
    return false;
  return stage == Stage::Kernel && MeshOp::find(*this) && !(*this)->getParentOfType<ModuleOp>()->hasAttr("dl.local");
}

SmallVector<Value> MicroBatchesOp::decompose(OpBuilder &b) {
  RankedTensorType to = typeOf(getY());
  Value rows = getX();
  if (!takesAll()) {
    SmallVector<int64_t> starts(to.getRank() - 1, 0), limits(typeOf(rows).getShape()), strides(starts.size(), 1);
    starts[0] = getFirst();
    limits[0] = starts[0] + to.getDimSize(0) * to.getDimSize(1);
    rows = SliceOp::create(b, getLoc(), rows, starts, limits, strides);
  }
  if (getBlocks() <= 1)
    return {ReshapeOp::create(b, getLoc(), to, rows)};
  SmallVector<int64_t> shape(to.getShape()), order{1, 0};
  shape[1] /= getBlocks();
  shape.insert(shape.begin(), getBlocks());
  llvm::append_range(order, llvm::seq<int64_t>(2, shape.size()));
  Value parts = ReshapeOp::create(b, getLoc(), to.clone(shape), rows);
  return {ReshapeOp::create(b, getLoc(), to, TransposeOp::create(b, getLoc(), parts, order))};
}

/// Whether each part can have as many rows, or leaves, of every member.
static bool canShareOut(MeshOp mesh, DimShardingAttr split, int64_t rows, int64_t parts) {
  int64_t members = mesh.size(split.getAxes());
  if (!split.getBorders().empty() || rows % (members * parts))
    return false;
  if (!mesh.isOrdered(split.getAxes()))
    return true;
  int64_t leaves = mesh.leavesOfMember(split);
  return leaves % parts == 0 && leaves * members * mesh.leafExtent(split, rows) == rows;
}

void MicroBatchesOp::settle(ArrayRef<ShardingAttr> operands) {
  MeshOp mesh = MeshOp::find(*this);
  RankedTensorType type = typeOf(getY());
  DimShardingAttr split = operands[0].getDims()[0];
  if (split.getAxes().empty())
    return;
  if (takesAll() && canShareOut(mesh, split, typeOf(getX()).getDimSize(0), type.getDimSize(0))) {
    setBlocks(mesh.size(split.getAxes()));
    return;
  }
  // Everyone gets all rows, and takes some of each part.
  OpBuilder builder(getContext());
  builder.setInsertionPointAfter(*this);
  auto even = DimShardingAttr::get(getContext(), split.getAxes(), {});
  auto sharding = ShardingAttr::replicated(getContext(), type.getRank()).withDim(1, even);
  auto shared = ReshardOp::create(builder, getLoc(), getY(), sharding);
  getY().replaceAllUsesExcept(shared, shared);
}

ShardingRule MicroBatchesOp::getShardingRule() {
  ShardingRule rule = ShardingRule::whole(*this);
  RankedTensorType type = typeOf(getX());
  for (int64_t dim = getBlocks() ? 0 : 1; dim < type.getRank(); ++dim)
    rule.operands[0][dim] = rule.results[0][dim + 1] = {rule.addParallel(type.getDimSize(dim))};
  if (getBlocks())
    rule.factors[0].parts = typeOf(getY()).getDimSize(0);
  return rule;
}

/// A member's own rows are one block.
void MicroBatchesOp::partitionLocal(PartitionBuilder &) { setBlocks(0); }
