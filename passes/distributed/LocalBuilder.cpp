#include "distributed/LocalBuilder.h"

#include "dlc/ir/Constant.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Index.h"
#include "dlc/ir/Program.h"
#include "dlc/ir/Shape.h"
#include "mlir/IR/Matchers.h"

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

// Reshards

Value LocalBuilder::reshard(Value value, RankedTensorType global, dl::ShardingAttr from, dl::ShardingAttr to) {
  if (from.getPartial() && from.getPartial() != to.getPartial())
    value = reduced(value, from.getPartial());
  for (int64_t dim = 0; dim < global.getRank(); ++dim)
    if (from.isSplit(dim) && from.getDims()[dim] != to.getDims()[dim])
      value = gathered(value, dim, from.getDims()[dim], global.getDimSize(dim));
  for (int64_t dim = 0; dim < global.getRank(); ++dim)
    if (to.isSplit(dim) && from.getDims()[dim] != to.getDims()[dim])
      value = cut(value, dim, to.getDims()[dim], global.getDimSize(dim));
  // Max and min of equal values are the value.
  dl::PartialAttr partial = to.getPartial();
  if (!partial || partial == from.getPartial() || partial.getKind() != dl::ReduceKind::Sum)
    return value;
  dl::TensorBuilder t(here, value.getLoc());
  if (matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()))
    return value;
  Type boolean = typeOf(value).clone(here.getI1Type());
  Value first = dl::BroadcastOp::create(here, value.getLoc(), boolean, isFirst(partial.getAxes()), ArrayRef<int64_t>{});
  return t.select(first, value, t.splat(typeOf(value).getElementType().isFloat() ? -0.0 : 0.0, value));
}

static ArrayAttr namesOf(ArrayRef<StringAttr> axes) {
  return ArrayAttr::get(axes.front().getContext(), SmallVector<Attribute>(axes.begin(), axes.end()));
}

Value LocalBuilder::reduced(Value value, dl::PartialAttr partial) {
  Location location = value.getLoc();
  dl::TensorBuilder t(here, location);
  Type element = typeOf(value).getElementType();
  bool boolean = element.isInteger(1); // any or all: the largest or smallest of 0 and 1
  if (boolean)
    value = t.cast(value, here.getI8Type());
  value = dl::AllReduceOp::create(here, location, value, partial.getKind(), namesOf(partial.getAxes()), ArrayAttr())
              .getResult(0);
  return boolean ? t.cast(value, element) : value;
}

/// The dim and dim 0 exchanged: parts of dim 0 lie one behind the other in memory.
Value LocalBuilder::swapped(Value value, int64_t dim) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()));
  std::swap(permutation[0], permutation[dim]);
  return here.createOrFold<dl::TransposeOp>(value.getLoc(), value, permutation);
}

Value LocalBuilder::gathered(Value value, int64_t dim, dl::DimShardingAttr split, int64_t extent) {
  Value moved = swapped(value, dim);
  SmallVector<int64_t> shape(typeOf(moved).getShape());
  shape[0] *= mesh.size(split.getAxes());
  Value all = dl::AllGatherOp::create(here, value.getLoc(), typeOf(moved).clone(shape), moved, namesOf(split.getAxes()),
                                      0, ArrayAttr());
  return swapped(withoutPadding(all, 0, split, extent), dim);
}

Value LocalBuilder::rows(Value value, int64_t dim, int64_t first, int64_t count) {
  SmallVector<int64_t> starts(typeOf(value).getRank(), 0), limits(typeOf(value).getShape());
  SmallVector<int64_t> strides(starts.size(), 1);
  starts[dim] = first;
  limits[dim] = first + count;
  return here.createOrFold<dl::SliceOp>(value.getLoc(), value, starts, limits, strides);
}

Value LocalBuilder::withoutPadding(Value value, int64_t dim, dl::DimShardingAttr split, int64_t extent) {
  if (isBlocks(split))
    return rows(value, dim, 0, extent);
  int64_t block = largest(split, extent);
  SmallVector<Value> parts;
  for (auto [i, border] : llvm::enumerate(split.getBorders().drop_back()))
    if (int64_t own = split.getBorders()[i + 1] - border)
      parts.push_back(rows(value, dim, int64_t(i) * block, own));
  if (parts.empty())
    return rows(value, dim, 0, 0);
  return here.createOrFold<dl::ConcatOp>(value.getLoc(), parts, dim);
}

/// The member's part of a value that it has all of.
Value LocalBuilder::cut(Value value, int64_t dim, dl::DimShardingAttr split, int64_t extent) {
  Location location = value.getLoc();
  auto type = RankedTensorType::get(largest(split, extent), here.getI64Type());
  Value first = dl::BroadcastOp::create(here, location, type, start(split, extent), ArrayRef<int64_t>{});
  Value positions = dl::TensorBuilder(here, location).add(dl::IotaOp::create(here, location, type, 0), first);
  return dl::GatherOp::create(here, location, value, positions, dim, 0);
}
