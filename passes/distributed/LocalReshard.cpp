#include "distributed/LocalReshard.h"

#include "dlc/ir/Constant.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Index.h"
#include "dlc/ir/Shape.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

static ArrayAttr namesOf(ArrayRef<StringAttr> axes) {
  return ArrayAttr::get(axes.front().getContext(), SmallVector<Attribute>(axes.begin(), axes.end()));
}

static dl::DimShardingAttr wholeDim(MLIRContext *context) { return dl::DimShardingAttr::get(context, {}, {}); }

static bool shareAny(ArrayRef<StringAttr> one, ArrayRef<StringAttr> other) {
  return llvm::any_of(one, [&](StringAttr axis) { return llvm::is_contained(other, axis); });
}

Value LocalReshard::to(dl::ShardingAttr wanted) {
  cutWhereFree(wanted); // what is cut first does not travel
  reduce(wanted);
  do {
    exchange(wanted);
    cutWhereFree(wanted);
  } while (gatherOne(wanted));
  if (wanted.getPartial() && wanted.getPartial() != held.getPartial())
    makePartial(wanted.getPartial());
  return value;
}

bool LocalReshard::isUsed(ArrayRef<StringAttr> axes) const {
  return (held.getPartial() && shareAny(axes, held.getPartial().getAxes())) ||
         llvm::any_of(held.getDims(), [&](dl::DimShardingAttr dim) { return shareAny(axes, dim.getAxes()); });
}

void LocalReshard::cutWhereFree(dl::ShardingAttr wanted) {
  for (int64_t dim = 0; dim < global.getRank(); ++dim)
    if (wanted.isSplit(dim) && !held.isSplit(dim) && !isUsed(wanted.getDims()[dim].getAxes()))
      cut(dim, wanted.getDims()[dim]);
}

/// The member's part of a dim that it has all of.
void LocalReshard::cut(int64_t dim, dl::DimShardingAttr split) {
  Location location = value.getLoc();
  int64_t extent = global.getDimSize(dim);
  auto positions = RankedTensorType::get(local.largest(split, extent), b.getI64Type());
  Value first = dl::BroadcastOp::create(b, location, positions, local.start(split, extent), ArrayRef<int64_t>{});
  Value own = dl::TensorBuilder(b, location).add(dl::IotaOp::create(b, location, positions, 0), first);
  value = dl::GatherOp::create(b, location, value, own, dim, 0);
  held = held.withDim(dim, split);
}

// Partial values

void LocalReshard::reduce(dl::ShardingAttr wanted) {
  if (!held.getPartial() || held.getPartial() == wanted.getPartial())
    return;
  dl::TensorBuilder t(b, value.getLoc());
  Type element = type().getElementType();
  bool boolean = element.isInteger(1); // any or all: the largest or smallest of 0 and 1
  if (boolean)
    value = t.cast(value, b.getI8Type());
  if (!wanted.getPartial())
    reduceAndScatter(wanted);
  if (dl::PartialAttr rest = held.getPartial())
    value = dl::AllReduceOp::create(b, value.getLoc(), value, rest.getKind(), namesOf(rest.getAxes()), ArrayAttr())
                .getResult(0);
  held = held.withPartial({});
  if (boolean)
    value = t.cast(value, element);
}

/// Where a dim becomes split along axes of the sum, each member gets its part of it alone.
void LocalReshard::reduceAndScatter(dl::ShardingAttr wanted) {
  for (int64_t dim = 0; dim < global.getRank() && held.getPartial(); ++dim) {
    dl::DimShardingAttr split = wanted.getDims()[dim];
    dl::PartialAttr partial = held.getPartial();
    auto isSummed = [&](StringAttr axis) { return llvm::is_contained(partial.getAxes(), axis); };
    if (!wanted.isSplit(dim) || held.isSplit(dim) || !llvm::all_of(split.getAxes(), isSummed))
      continue;
    // An order of the sum is one of all its axes together.
    if (local.getMesh().isOrdered(partial.getAxes()) && split.getAxes() != partial.getAxes())
      continue;
    addPadding(dim, split);
    swapWithFirst(dim);
    SmallVector<int64_t> shape(type().getShape());
    shape[0] /= partsOf(split);
    value = dl::ReduceScatterOp::create(b, value.getLoc(), type().clone(shape), value, partial.getKind(),
                                        namesOf(split.getAxes()), 0, ArrayAttr());
    swapWithFirst(dim);
    SmallVector<StringAttr> rest = llvm::filter_to_vector(
        partial.getAxes(), [&](StringAttr axis) { return !llvm::is_contained(split.getAxes(), axis); });
    held = held.withPartial({}).withDim(dim, split);
    if (!rest.empty())
      held = held.withPartial(dl::PartialAttr::get(b.getContext(), partial.getKind(), rest, partial.getLeaves()));
  }
}

/// Max and min of equal values are the value.
void LocalReshard::makePartial(dl::PartialAttr partial) {
  held = held.withPartial(partial);
  if (partial.getKind() != dl::ReduceKind::Sum)
    return;
  if (matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()))
    return;
  dl::TensorBuilder t(b, value.getLoc());
  Value first = dl::BroadcastOp::create(b, value.getLoc(), type().clone(b.getI1Type()),
                                        local.isFirst(partial.getAxes()), ArrayRef<int64_t>{});
  value = t.select(first, value, t.splat(type().getElementType().isFloat() ? -0.0 : 0.0, value));
}

// Split dims

void LocalReshard::exchange(dl::ShardingAttr wanted) {
  for (int64_t from = 0; from < global.getRank(); ++from)
    for (int64_t to = 0; to < global.getRank(); ++to)
      if (held.isSplit(from) && held.getDims()[from] != wanted.getDims()[from] && wanted.isSplit(to) &&
          !held.isSplit(to) && wanted.getDims()[to].getAxes() == held.getDims()[from].getAxes())
        exchangeDims(from, to, wanted.getDims()[to]);
}

/// Each member gives the others their parts of dim `to` and gets theirs of `from`.
void LocalReshard::exchangeDims(int64_t from, int64_t to, dl::DimShardingAttr split) {
  int64_t rank = global.getRank(), parts = partsOf(split);
  addPadding(to, split);
  SmallVector<int64_t> front{to}, apart, order;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != to)
      front.push_back(dim);
  transpose(front);
  value = dl::AllToAllOp::create(b, value.getLoc(), value, namesOf(split.getAxes()), 0, ArrayAttr());
  // Now the member each part came from is the major part of dim `from`.
  llvm::append_range(apart, type().getShape());
  apart[0] /= parts;
  apart.insert(apart.begin(), parts);
  reshape(apart);
  SmallVector<int64_t> merged;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == from)
      order.push_back(0);
    order.push_back(1 + (llvm::find(front, dim) - front.begin()));
    merged.push_back(apart[order.back()] * (dim == from ? parts : 1));
  }
  transpose(order);
  reshape(merged);
  dropPadding(from, held.getDims()[from], global.getDimSize(from));
  held = held.withDim(from, wholeDim(b.getContext())).withDim(to, split);
}

/// Makes the last dim whole that is split otherwise than wanted; false if there is none.
bool LocalReshard::gatherOne(dl::ShardingAttr wanted) {
  for (int64_t dim = global.getRank() - 1; dim >= 0; --dim) {
    dl::DimShardingAttr split = held.getDims()[dim];
    if (!held.isSplit(dim) || split == wanted.getDims()[dim])
      continue;
    swapWithFirst(dim);
    SmallVector<int64_t> shape(type().getShape());
    shape[0] *= partsOf(split);
    value = dl::AllGatherOp::create(b, value.getLoc(), type().clone(shape), value, namesOf(split.getAxes()), 0,
                                    ArrayAttr());
    dropPadding(0, split, global.getDimSize(dim));
    swapWithFirst(dim);
    held = held.withDim(dim, wholeDim(b.getContext()));
    return true;
  }
  return false;
}

void LocalReshard::addPadding(int64_t dim, dl::DimShardingAttr split) {
  int64_t extent = global.getDimSize(dim), block = local.largest(split, extent), all = block * partsOf(split);
  if (local.isEven(split, extent))
    return;
  Location location = value.getLoc();
  if (local.isBlocks(split)) {
    SmallVector<int64_t> none(global.getRank(), 0), behind = none;
    behind[dim] = all - extent;
    Value zero = dl::TensorBuilder(b, location).splat(0, RankedTensorType::get({}, type().getElementType()));
    value = dl::PadOp::create(b, location, value, zero, none, behind, none);
    return;
  }
  SmallVector<int64_t> places;
  for (int64_t border : split.getBorders().drop_back())
    for (int64_t row = 0; row < block; ++row)
      places.push_back(std::min(border + row, extent - 1));
  auto type = RankedTensorType::get(all, b.getI64Type());
  Value positions = dl::ConstantOp::create(b, location, DenseElementsAttr::get(type, ArrayRef(places)));
  value = dl::GatherOp::create(b, location, value, positions, dim, 0);
}

void LocalReshard::dropPadding(int64_t dim, dl::DimShardingAttr split, int64_t extent) {
  if (local.isBlocks(split)) {
    value = rows(dim, 0, extent);
    return;
  }
  int64_t block = local.largest(split, extent);
  SmallVector<Value> parts;
  for (auto [i, border] : llvm::enumerate(split.getBorders().drop_back()))
    if (int64_t own = split.getBorders()[i + 1] - border)
      parts.push_back(rows(dim, int64_t(i) * block, own));
  value = parts.empty() ? rows(dim, 0, 0) : b.createOrFold<dl::ConcatOp>(value.getLoc(), parts, dim);
}

// Moves

Value LocalReshard::rows(int64_t dim, int64_t first, int64_t count) {
  SmallVector<int64_t> starts(type().getRank(), 0), limits(type().getShape()), strides(starts.size(), 1);
  starts[dim] = first;
  limits[dim] = first + count;
  return b.createOrFold<dl::SliceOp>(value.getLoc(), value, starts, limits, strides);
}

/// Parts of dim 0 lie one behind the other in memory.
void LocalReshard::swapWithFirst(int64_t dim) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, type().getRank()));
  std::swap(permutation[0], permutation[dim]);
  transpose(permutation);
}

void LocalReshard::transpose(ArrayRef<int64_t> permutation) {
  value = b.createOrFold<dl::TransposeOp>(value.getLoc(), value, permutation);
}

void LocalReshard::reshape(ArrayRef<int64_t> shape) {
  value = b.createOrFold<dl::ReshapeOp>(value.getLoc(), type().clone(shape), value);
}
