#include "FusionGraph.h"

#include "dlc/ir/Storage.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

// What one kernel of each kind can run. Only shapes, index maps and kinds decide.

/// Evaluations at other indices than the reader's own: at most this often, unless the body is this cheap.
static constexpr unsigned maxMappedReads = 1, cheapCost = 4;

SmallVector<int64_t> dlc::passes::dropAxes(ArrayRef<int64_t> domain, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape;
  for (auto [axis, extent] : llvm::enumerate(domain))
    if (!llvm::is_contained(axes, int64_t(axis)))
      shape.push_back(extent);
  return shape;
}

static int64_t elementsOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

bool FusionRules::readsAny() const {
  for (Value value : graph.getGroup(a).results)
    for (const Reader &reader : graph.readersOf(value))
      if (reader.node != FusionGraph::outside && graph.groupOf(reader.node) == b)
        return true;
  return false;
}

bool FusionRules::readsAtLane(ArrayRef<int64_t> domain, ArrayRef<int64_t> axes) const {
  SmallVector<int64_t> reduced = dropAxes(domain, axes);
  SmallVector<unsigned> kept;
  for (unsigned axis = 0; axis < domain.size(); ++axis)
    if (!llvm::is_contained(axes, int64_t(axis)))
      kept.push_back(axis);
  for (Value value : graph.getGroup(a).results) {
    bool isReduced = shapeOf(value) == ArrayRef(reduced);
    if (!isReduced && shapeOf(value) != domain)
      return false;
    for (const Reader &reader : graph.readersOf(value)) {
      if (reader.node == FusionGraph::outside || graph.groupOf(reader.node) != b)
        continue;
      const Node &node = graph.getNodes()[reader.node];
      if (!reader.map || node.moves || node.offLane)
        return false;
      // A reduced value read at domain level must be the one of the reader's own row.
      bool ownRow = isReduced && reader.map.getNumDims() == domain.size() &&
                    reader.map == AffineMap::getMultiDimMapWithTargets(domain.size(), kept, value.getContext());
      if (!reader.map.isIdentity() && !ownRow)
        return false;
    }
  }
  return true;
}

bool FusionRules::absorbs(FusionGroup &merged) const {
  const FusionGroup &producer = graph.getGroup(a), &consumer = graph.getGroup(b);
  if (producer.kind != dl::GroupKind::Pointwise || elementsOf(consumer.domain) > elementsOf(producer.domain))
    return false;
  unsigned reads = 0;
  for (Value value : producer.results)
    for (const Reader &reader : graph.readersOf(value)) {
      if (reader.node == FusionGraph::outside || !reader.map)
        return false;
      if (graph.groupOf(reader.node) == b)
        ++reads;
      else if (graph.groupOf(reader.node) != a)
        return false;
    }
  merged.absorbed = true;
  return reads && (reads <= maxMappedReads || producer.cost <= cheapCost);
}

bool FusionRules::combinePointwise(FusionGroup &merged) const {
  const FusionGroup &first = graph.getGroup(a), &second = graph.getGroup(b);
  merged.domain = second.domain;
  if (first.domain == second.domain && readsAtLane(first.domain, {})) {
    merged.plain = first.plain && second.plain;
    return true;
  }
  merged.plain = false;
  return readsAny() && absorbs(merged);
}

bool FusionRules::combineRow(FusionGroup &merged) const {
  const FusionGroup &first = graph.getGroup(a), &second = graph.getGroup(b);
  const FusionGroup &row = second.kind == dl::GroupKind::Row ? second : first;
  merged.domain = row.domain;
  merged.axes = row.axes;
  merged.plain = false;
  SmallVector<int64_t> reduced = dropAxes(row.domain, row.axes);
  for (const FusionGroup *group : {&first, &second}) {
    bool fits = group->domain == row.domain || (group->kind == dl::GroupKind::Pointwise && group->domain == reduced);
    if (group->kind == dl::GroupKind::Row)
      fits &= group->axes == row.axes;
    if (!fits)
      return second.kind == dl::GroupKind::Row && group == &first && readsAny() && absorbs(merged);
  }
  if (readsAtLane(row.domain, row.axes))
    return true;
  return second.kind == dl::GroupKind::Row && readsAny() && absorbs(merged);
}

bool FusionRules::readsReduced(ArrayRef<int64_t> reduced) const {
  for (Value value : graph.getGroup(a).results)
    for (const Reader &reader : graph.readersOf(value))
      if (reader.node != FusionGraph::outside && graph.groupOf(reader.node) == b &&
          (!reader.map || !reader.map.isIdentity() || reader.map.getNumDims() != reduced.size()))
        return false;
  return true;
}

bool FusionRules::combineColumn(FusionGroup &merged) const {
  const FusionGroup &first = graph.getGroup(a), &second = graph.getGroup(b);
  const FusionGroup &column = second.kind == dl::GroupKind::Column ? second : first;
  merged.domain = column.domain;
  merged.axes = column.axes;
  merged.plain = false;
  // Values of the reduced shape are read by what follows the sweep only: a reduction of one would need a second sweep.
  SmallVector<int64_t> reduced = dropAxes(column.domain, column.axes);
  if (first.kind == second.kind)
    return first.domain == second.domain && first.axes == second.axes && readsReduced(reduced);
  const FusionGroup &pointwise = &column == &second ? first : second;
  if (pointwise.kind != dl::GroupKind::Pointwise || !readsAny())
    return false;
  if (pointwise.domain == reduced)
    return pointwise.plain && readsReduced(reduced);
  if (&column != &second)
    return false;
  return (pointwise.domain == column.domain && readsAtLane(column.domain, column.axes)) || absorbs(merged);
}

bool FusionRules::widensStored() const {
  const FusionGroup &reader = graph.getGroup(b);
  auto isWider = [&](Value value) {
    return llvm::any_of(reader.results, [&](Value result) {
      return dl::getStorageBytes(result.getType()) > dl::getStorageBytes(value.getType());
    });
  };
  return llvm::any_of(graph.getGroup(a).results, [&](Value value) {
    bool read = false, stored = false;
    for (const Reader &each : graph.readersOf(value)) {
      unsigned group = each.node == FusionGraph::outside ? each.node : graph.groupOf(each.node);
      (group == b ? read : stored) |= group != a;
    }
    return read && stored && isWider(value);
  });
}

bool FusionRules::combineOwnKernel(FusionGroup &merged) const {
  const FusionGroup &first = graph.getGroup(a), &second = graph.getGroup(b);
  bool anchorFirst = first.kind != dl::GroupKind::Pointwise;
  const FusionGroup &anchor = anchorFirst ? first : second, &pointwise = anchorFirst ? second : first;
  if (pointwise.kind != dl::GroupKind::Pointwise || !pointwise.plain || pointwise.domain != anchor.domain ||
      !readsAny() || !readsAtLane(anchor.domain, {}) || (anchorFirst && widensStored()))
    return false;
  // A contraction keeps partial sums in its result, so no update of a variable in its own memory.
  for (unsigned node : pointwise.nodes)
    if (graph.getNodes()[node].updates)
      return false;
  merged.kind = anchor.kind;
  merged.domain = anchor.domain;
  merged.plain = false;
  return true;
}

bool FusionRules::delaysCollective() const {
  const FusionGroup &first = graph.getGroup(a), &second = graph.getGroup(b);
  return first.feeds != second.feeds && (!first.feeds.empty() || !readsAny());
}

bool FusionRules::combine(FusionGroup &merged) const {
  if (delaysCollective())
    return false;
  auto either = [&](dl::GroupKind kind) { return graph.getGroup(a).kind == kind || graph.getGroup(b).kind == kind; };
  merged.axes.clear();
  merged.absorbed = false;
  if (either(dl::GroupKind::Contract) || either(dl::GroupKind::Window))
    return combineOwnKernel(merged);
  if (either(dl::GroupKind::Column)) {
    merged.kind = dl::GroupKind::Column;
    return combineColumn(merged);
  }
  if (either(dl::GroupKind::Row)) {
    merged.kind = dl::GroupKind::Row;
    return combineRow(merged);
  }
  return combinePointwise(merged);
}
