#include "distributed/OpSplits.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

dl::DimShardingAttr dlc::passes::canonical(dl::DimShardingAttr split, int64_t extent, dl::MeshOp mesh) {
  MLIRContext *context = split.getContext();
  if (split.getAxes().empty() || !mesh.isSplit(split.getAxes()))
    return dl::DimShardingAttr::get(context, {}, {});
  auto even = dl::DimShardingAttr::get(context, split.getAxes(), {});
  auto blocks = split.getLeaf() == mesh.leafExtent(even, extent) && !split.getLeaves()
                    ? even
                    : dl::DimShardingAttr::get(context, split.getAxes(), {}, split.getLeaf(), split.getLeaves());
  if (split.getBorders().empty() || mesh.borders(blocks, extent) == split.getBorders())
    return blocks;
  return dl::DimShardingAttr::get(context, split.getAxes(), split.getBorders());
}

dl::ShardingAttr dlc::passes::canonical(dl::ShardingAttr sharding, ArrayRef<int64_t> shape, dl::MeshOp mesh) {
  for (auto [dim, extent] : llvm::enumerate(shape))
    sharding = sharding.withDim(dim, canonical(sharding.getDims()[dim], extent, mesh));
  if (dl::PartialAttr partial = sharding.getPartial(); partial && !mesh.isSplit(partial.getAxes()))
    sharding = sharding.withPartial({});
  return sharding;
}

dl::ShardingAttr dlc::passes::shardingOr(Attribute attribute, Type type) {
  if (auto sharding = dyn_cast_or_null<dl::ShardingAttr>(attribute))
    return sharding;
  auto tensor = dyn_cast<RankedTensorType>(type);
  return dl::ShardingAttr::replicated(type.getContext(), tensor ? tensor.getRank() : 0);
}

OpSplits::OpSplits(Operation *op, dl::MeshOp mesh)
    : op(op), mesh(mesh), rule(dl::shardingRuleOf(op)), splits(rule.factors.size()) {
  // Parts of a minor factor do not lie together.
  for (const auto *tensors : {&rule.operands, &rule.results})
    for (const Dims &dims : *tensors)
      for (const dl::DimFactors &factors : dims)
        for (unsigned minor : ArrayRef(factors).drop_front(factors.empty() ? 0 : 1))
          rule.factors[minor].kind = dl::ShardingFactor::Kind::Whole;
}

bool OpSplits::adoptOperand(unsigned operand, dl::ShardingAttr sharding) {
  return adopt(rule.operands[operand], op->getOperand(operand).getType(), sharding, true);
}

bool OpSplits::adoptResult(unsigned result, dl::ShardingAttr sharding) {
  return adopt(rule.results[result], op->getResult(result).getType(), sharding, false);
}

bool OpSplits::adopt(const Dims &dims, Type type, dl::ShardingAttr sharding, bool reduces) {
  bool adopted = false;
  for (auto [dim, factors] : llvm::enumerate(dims))
    if (sharding.isSplit(dim))
      adopted |= adoptDim(factors, sharding.getDims()[dim], cast<RankedTensorType>(type).getDimSize(dim), reduces);
  return adopted;
}

int64_t OpSplits::minorExtent(const dl::DimFactors &factors) const {
  int64_t extent = 1;
  for (unsigned factor : ArrayRef(factors).drop_front())
    extent *= rule.factors[factor].extent;
  return extent;
}

bool OpSplits::adoptDim(const dl::DimFactors &factors, dl::DimShardingAttr split, int64_t extent, bool reduces) {
  using Kind = dl::ShardingFactor::Kind;
  if (factors.empty() || splits[factors.front()])
    return false;
  const dl::ShardingFactor &factor = rule.factors[factors.front()];
  if (factor.kind == Kind::Whole || (!reduces && (factor.kind == Kind::Reduce || factor.parts > 1)))
    return false;
  for (dl::DimShardingAttr other : splits)
    if (other &&
        llvm::any_of(other.getAxes(), [&](StringAttr axis) { return llvm::is_contained(split.getAxes(), axis); }))
      return false;
  SmallVector<int64_t> borders = mesh.borders(split, extent);
  int64_t minor = minorExtent(factors), leaf = mesh.leafExtent(split, extent);
  if (leaf % minor)
    return false;
  for (int64_t &border : borders) {
    if (border % minor)
      return false;
    border /= minor;
  }
  splits[factors.front()] =
      canonical(dl::DimShardingAttr::get(op->getContext(), split.getAxes(), borders, leaf / minor, split.getLeaves()),
                factor.extent, mesh);
  return true;
}

/// Of a result that has one of some parts of every leaf's rows, or of every member's.
dl::DimShardingAttr OpSplits::partOf(dl::DimShardingAttr split, const dl::ShardingFactor &factor) const {
  if (!mesh.isOrdered(split.getAxes()))
    return dl::DimShardingAttr::get(op->getContext(), split.getAxes(), {});
  int64_t leaves = mesh.leavesOfMember(split) * mesh.size(split.getAxes()) / factor.parts;
  return dl::DimShardingAttr::get(op->getContext(), split.getAxes(), {}, mesh.leafExtent(split, factor.extent), leaves);
}

dl::ShardingAttr OpSplits::shardingOf(const Dims &dims, Type type, bool made) const {
  dl::ShardingAttr sharding = shardingOr({}, type);
  for (auto [dim, factors] : llvm::enumerate(dims)) {
    if (factors.empty() || !splits[factors.front()])
      continue;
    dl::DimShardingAttr split = splits[factors.front()];
    if (made && rule.factors[factors.front()].parts > 1) {
      sharding = sharding.withDim(dim, partOf(split, rule.factors[factors.front()]));
      continue;
    }
    int64_t extent = rule.factors[factors.front()].extent, minor = minorExtent(factors);
    SmallVector<int64_t> borders = mesh.borders(split, extent);
    for (int64_t &border : borders)
      border *= minor;
    split = dl::DimShardingAttr::get(op->getContext(), split.getAxes(), borders, mesh.leafExtent(split, extent) * minor,
                                     split.getLeaves());
    sharding = sharding.withDim(dim, canonical(split, cast<RankedTensorType>(type).getDimSize(dim), mesh));
  }
  return sharding;
}

dl::ShardingAttr OpSplits::operandSharding(unsigned operand) const {
  return shardingOf(rule.operands[operand], op->getOperand(operand).getType(), false);
}

dl::ShardingAttr OpSplits::resultSharding(unsigned result) const {
  dl::ShardingAttr sharding = shardingOf(rule.results[result], op->getResult(result).getType(), true);
  SmallVector<StringAttr> axes;
  int64_t leaves = 0;
  dl::ReduceKind kind = dl::ReduceKind::Sum;
  for (auto [factor, split] : llvm::zip_equal(rule.factors, splits))
    if (split && factor.kind == dl::ShardingFactor::Kind::Reduce) {
      llvm::append_range(axes, split.getAxes());
      kind = factor.reduce;
      leaves = std::max(leaves, split.getLeaves());
    }
  return axes.empty() ? sharding : sharding.withPartial(dl::PartialAttr::get(op->getContext(), kind, axes, leaves));
}
