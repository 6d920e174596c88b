#include "distributed/LocalBuilder.h"

#include "dlc/ir/Constant.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Index.h"
#include "dlc/ir/Program.h"
#include "dlc/ir/Shape.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

LocalBuilder::LocalBuilder(func::FuncOp entry, dl::MeshOp mesh)
    : entry(entry), mesh(mesh), top(entry.getContext()), here(entry.getContext()) {
  top.setInsertionPointToStart(&entry.getBody().front());
}

// The member's place

static RankedTensorType scalarOf(OpBuilder &b, Type element) { return RankedTensorType::get({}, element); }

Value LocalBuilder::axisCoordinate(StringAttr axis) {
  Value &value = coordinates[axis];
  if (value)
    return value;
  auto module = entry->getParentOfType<ModuleOp>();
  std::string name = ("mesh." + axis.getValue()).str();
  RankedTensorType type = scalarOf(top, top.getI64Type());
  if (!module.lookupSymbol(name)) {
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    b.setInsertionPointAfter(mesh);
    dl::VariableOp::create(b, mesh.getLoc(), name, type, dl::Role::Coordinate, dl::ZerosAttr::get(b.getContext()),
                           dl::SlotAttr());
  }
  return value = dl::ReadOp::create(top, entry.getLoc(), type, name);
}

Value LocalBuilder::coordinate(ArrayRef<StringAttr> axes) {
  dl::TensorBuilder t(top, entry.getLoc());
  Value number;
  for (StringAttr axis : axes) {
    Value own = axisCoordinate(axis);
    number = number ? t.add(t.mul(number, double(mesh.size(axis))), own) : own;
  }
  return number;
}

Value LocalBuilder::isFirst(ArrayRef<StringAttr> axes) {
  Value number = coordinate(axes);
  dl::TensorBuilder t(top, entry.getLoc());
  return t.eq(number, t.splat(0, number));
}

Value LocalBuilder::lookUp(ArrayRef<int64_t> table, Value position) {
  auto type = RankedTensorType::get(int64_t(table.size()), top.getI64Type());
  Value values = dl::ConstantOp::create(top, entry.getLoc(), DenseElementsAttr::get(type, table));
  return dl::GatherOp::create(top, entry.getLoc(), values, position, 0, 0);
}

Value LocalBuilder::start(dl::DimShardingAttr split, int64_t extent) {
  Value &value = starts[{split, extent}];
  if (value)
    return value;
  Value number = coordinate(split.getAxes());
  if (!isBlocks(split))
    return value = lookUp(split.getBorders().drop_back(), number);
  dl::TensorBuilder t(top, entry.getLoc());
  return value = t.mul(number, double(largest(split, extent)));
}

/// Of the member's rows; with blocks, more where it is not the last of them.
Value LocalBuilder::count(dl::DimShardingAttr split, int64_t extent) {
  dl::TensorBuilder t(top, entry.getLoc());
  if (isBlocks(split)) {
    Value first = start(split, extent);
    return t.sub(t.splat(double(extent), first), first);
  }
  SmallVector<int64_t> counts;
  for (auto [begin, end] : llvm::zip(split.getBorders(), split.getBorders().drop_front()))
    counts.push_back(end - begin);
  return lookUp(counts, coordinate(split.getAxes()));
}

int64_t LocalBuilder::largest(dl::DimShardingAttr split, int64_t extent) {
  int64_t most = 0;
  SmallVector<int64_t> borders = mesh.borders(split, extent);
  for (size_t i = 1; i < borders.size(); ++i)
    most = std::max(most, borders[i] - borders[i - 1]);
  return most;
}

bool LocalBuilder::isEven(dl::DimShardingAttr split, int64_t extent) {
  return largest(split, extent) * mesh.size(split.getAxes()) == extent;
}

/// [largest part] i1: rows that are the member's own.
Value LocalBuilder::mask(dl::DimShardingAttr split, int64_t extent) {
  Value &value = masks[{split, extent}];
  if (value)
    return value;
  auto type = RankedTensorType::get(largest(split, extent), top.getI64Type());
  Value own = count(split, extent);
  Value position = dl::IotaOp::create(top, entry.getLoc(), type, 0);
  Value end = dl::BroadcastOp::create(top, entry.getLoc(), type, own, ArrayRef<int64_t>{});
  return value = dl::TensorBuilder(top, entry.getLoc()).lt(position, end);
}

Value LocalBuilder::masked(Value value, int64_t dim, dl::DimShardingAttr split, int64_t extent, TypedAttr neutral) {
  if (isEven(split, extent))
    return value;
  Location location = value.getLoc();
  RankedTensorType type = typeOf(value);
  Value own = dl::BroadcastOp::create(here, location, type.clone(here.getI1Type()), mask(split, extent), dim);
  Value other = dl::ConstantOp::create(here, location, DenseElementsAttr::get(type, Attribute(neutral)));
  return dl::SelectOp::create(here, location, own, value, other);
}
