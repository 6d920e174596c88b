#include "outline/CollectivePool.h"

#include "distributed/Buckets.h"
#include "memory/Placement.h"

#include "dlc/ir/Collective.h"
#include "dlc/ir/Storage.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

/// Gradients of buckets have a channel to themselves, so that nothing small waits behind them.
static constexpr int64_t gradientChannel = 0, otherChannel = 1;

dl::SlotAttr CollectivePool::wholeOf(ValueRange values) {
  dl::SlotAttr first = slotOf(values.front()), last = slotOf(values.back());
  if (values.size() == 1)
    return first;
  return dl::SlotAttr::get(first.getContext(), first.getArena(), first.getOffset(),
                           last.getOffset() + last.getBytes() - first.getOffset());
}

FlatSymbolRefAttr CollectivePool::add(dl::GroupOp group, rt::ProgramOp program) {
  Builder builder(group.getContext());
  dl::CollectiveOpInterface op = group.getCollective();
  dl::CollectiveKind kind = op.getCollectiveKind();
  bool scatters = kind == dl::CollectiveKind::ReduceScatter;
  Type element = getElementTypeOrSelf(group.getResult(0).getType());
  int64_t bytes = wholeOf(scatters ? ValueRange(group.getResults()) : ValueRange(group.getInputs())).getBytes();
  if (kind == dl::CollectiveKind::AllToAll)
    bytes /= dl::MeshOp::find(group).size(op.getAxes());
  ArrayAttr tensors = op.getTensorsAttr();
  dl::ReduceKindAttr reduce;
  if (std::optional<dl::ReduceKind> given = op.getReduceKind())
    reduce = dl::ReduceKindAttr::get(group.getContext(), *given);
  OpBuilder detached(group.getContext());
  auto made =
      rt::CollectiveOp::create(detached, group.getLoc(), builder.getStringAttr("c" + Twine(count++)),
                               dl::CollectiveKindAttr::get(group.getContext(), kind), reduce, op.getAxes(),
                               TypeAttr::get(element), builder.getI64IntegerAttr(bytes / dl::getElementBytes(element)),
                               builder.getI64IntegerAttr(op->hasAttr(bucketAttribute) ? gradientChannel : otherChannel),
                               tensors ? tensors : builder.getArrayAttr({}));
  symbols.insert(made, Block::iterator(program));
  return FlatSymbolRefAttr::get(made.getSymNameAttr());
}

void CollectivePool::keepShardings(func::FuncOp function, rt::ProgramOp program) {
  Builder builder(function.getContext());
  auto keep = [&](StringRef name, unsigned count, auto attributeOf) {
    SmallVector<Attribute> shardings;
    bool any = false;
    for (unsigned i = 0; i < count; ++i) {
      Attribute sharding = attributeOf(i, "dl.sharding"), whole = attributeOf(i, "dl.global");
      SmallVector<NamedAttribute> both;
      if (sharding && whole)
        both = {builder.getNamedAttr("global", whole), builder.getNamedAttr("sharding", sharding)};
      any |= !both.empty();
      shardings.push_back(builder.getDictionaryAttr(both));
    }
    if (any)
      program->setAttr(name, builder.getArrayAttr(shardings));
  };
  keep("argument_shardings", function.getNumArguments(),
       [&](unsigned i, StringRef name) { return function.getArgAttr(i, name); });
  keep("result_shardings", function.getNumResults(),
       [&](unsigned i, StringRef name) { return function.getResultAttr(i, name); });
}
