#include "FusionGraph.h"
#include "distributed/Buckets.h"

#include "dlc/ir/Collective.h"
#include "dlc/ir/Control.h"
#include "dlc/ir/Storage.h"
#include "dlc/ir/Widen.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

/// Above this cost or number of values read, a cheap body is stored rather than computed in each group.
static constexpr unsigned maxFreeCost = 4, maxFreeReads = 3;
/// Elements from which a transposing read is worth a kernel of its own.
static constexpr int64_t stridedElements = 16384;
/// Groups visited by one merge before it gives up.
static constexpr size_t visitBudget = 64;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static AffineMap identityOf(Value value) {
  return AffineMap::getMultiDimIdentityMap(typeOf(value).getRank(), value.getContext());
}

/// A broadcast, or a reshape that only adds or drops dimensions of size 1: dims in order, or constants.
static bool readsInOrder(ArrayRef<dl::IndexSource> sources) {
  if (sources.size() != 1 || !sources[0].bounds.empty())
    return false;
  int64_t last = -1;
  for (AffineExpr expr : sources[0].map.getResults()) {
    if (isa<AffineConstantExpr>(expr))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || int64_t(dim.getPosition()) <= last)
      return false;
    last = dim.getPosition();
  }
  return true;
}

/// Whether neighbours of the result are far apart in the operand.
static bool readsStrided(Operation *op, ArrayRef<dl::IndexSource> sources) {
  RankedTensorType type = typeOf(op->getResult(0));
  if (type.getRank() == 0 || type.getNumElements() < stridedElements)
    return false;
  return llvm::any_of(sources, [&](const dl::IndexSource &source) {
    return source.map.getNumResults() && !source.map.getResults().back().isFunctionOfDim(type.getRank() - 1);
  });
}

static bool isProgramLevel(Operation *op) {
  return isa<dl::ReadOp, dl::WriteOp>(op) || op->hasTrait<OpTrait::IsTerminator>();
}

static bool isSplat(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat();
}

/// Members exchange bytes; each such op is a group of its own.
static bool isExchange(Operation *op) { return isa<dl::CollectiveOpInterface, dl::WaitOp>(op); }

/// Whether a kernel of its own reads the operand through a cast that kernels make as they read.
static bool readsThroughCast(OpOperand &operand) {
  return isa<dl::OwnKernelOpInterface>(operand.getOwner()) && dl::widensNarrowFloats(operand.get().getDefiningOp());
}

/// Whether the operand, or what it is cast from, has to be in memory.
static bool readsMemory(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto kernel = dyn_cast<dl::OwnKernelOpInterface>(op))
    return !kernel.acceptsSplat(operand.getOperandNumber()) || !isSplat(operand.get());
  auto map = dyn_cast<dl::IndexMapOpInterface>(op);
  return isProgramLevel(op) || isa<dl::GroupOp, dl::ControlOpInterface, dl::BarrierValueOp>(op) || isExchange(op) ||
         (map && map.keepsOrder());
}

Value FusionGraph::memoryOf(OpOperand &operand) const {
  if (!readsMemory(operand))
    return {};
  Operation *source = operand.get().getDefiningOp();
  return source && isFree(source) && readsThroughCast(operand) ? source->getOperand(0) : operand.get();
}

/// Kernels had better compute the op again from its one large operand than store and read it: if there are several, as
/// that operand is as easily read as the result; one alone if it has fewer bytes.
bool FusionGraph::isCheapAgain(Operation *op, ArrayRef<Read> reads) const {
  if (llvm::any_of(op->getUses(), [](OpOperand &use) { return readsMemory(use) && !readsThroughCast(use); }))
    return false;
  Value large;
  for (const Read &read : reads) {
    if (!read.map.isIdentity() || read.value == large)
      continue;
    if (large)
      return false;
    large = read.value;
  }
  int64_t spare = op->hasOneUse() ? 1 : 0;
  return large && dl::getStorageBytes(large.getType()) + spare <= dl::getStorageBytes(op->getResult(0).getType());
}

bool FusionGraph::addFree(Operation *op) {
  FreeOp added{{}, 0};
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant))) {
    if (!constant.isSplat())
      return false;
  } else if (auto map = dyn_cast<dl::IndexMapOpInterface>(op)) {
    SmallVector<dl::IndexSource> sources = map.getIndexSources();
    if (!readsInOrder(sources))
      return false;
    readThrough(op->getOperand(sources[0].operand), sources[0].map, added.reads, added.cost);
  } else if (auto body = dyn_cast<dl::ScalarBodyOpInterface>(op)) {
    added.cost = body.getScalarCost();
    for (Value operand : op->getOperands())
      readThrough(operand, identityOf(operand), added.reads, added.cost);
    bool readsFreeOps = llvm::all_of(
        op->getOperands(), [&](Value operand) { return operand.getDefiningOp() && isFree(operand.getDefiningOp()); });
    if (!readsFreeOps && !isCheapAgain(op, added.reads))
      return false;
  } else if (!isa<dl::IndexValuedOpInterface>(op)) {
    return false;
  }
  if (added.cost > maxFreeCost || added.reads.size() > maxFreeReads)
    return false;
  freeOps.try_emplace(op, std::move(added));
  return true;
}

void FusionGraph::readThrough(Value value, AffineMap map, SmallVectorImpl<Read> &reads, unsigned &cost) const {
  auto found = freeOps.find(value.getDefiningOp());
  if (!value.getDefiningOp() || found == freeOps.end()) {
    reads.push_back({value, map});
    return;
  }
  cost += found->second.cost;
  for (const Read &read : found->second.reads)
    reads.push_back({read.value, read.map.compose(map)});
}

void FusionGraph::addReads(Node &node, FusionGroup &group) {
  Operation *op = node.op;
  auto readWhole = [&] {
    for (OpOperand &operand : op->getOpOperands())
      if (Value value = memoryOf(operand))
        node.reads.push_back({value, {}});
  };
  if (isa<dl::GroupOp, dl::BarrierValueOp>(op)) {
    group.sealed = true;
    return readWhole();
  }
  if (isExchange(op)) {
    group.kind = isa<dl::WaitOp>(op) ? dl::GroupKind::Wait : dl::GroupKind::Collective;
    group.domain.clear();
    group.sealed = true;
    return readWhole();
  }
  if (isa<dl::ControlOpInterface>(op)) {
    group.kind = dl::GroupKind::Control;
    group.domain.clear();
    group.sealed = true;
    return readWhole();
  }
  if (auto kernel = dyn_cast<dl::OwnKernelOpInterface>(op)) {
    group.kind = kernel.acceptsEpilogue() ? dl::GroupKind::Contract : dl::GroupKind::Window;
    group.sealed = !kernel.acceptsEpilogue() || op->getNumResults() != 1;
    return readWhole();
  }
  if (auto map = dyn_cast<dl::IndexMapOpInterface>(op)) {
    SmallVector<dl::IndexSource> sources = map.getIndexSources();
    node.moves = !isFree(op);
    group.sealed = map.keepsOrder() || readsStrided(op, sources);
    if (map.keepsOrder())
      return readWhole();
    for (const dl::IndexSource &source : sources)
      readThrough(op->getOperand(source.operand), source.map, node.reads, node.cost);
    return;
  }
  if (auto indirect = dyn_cast<dl::IndirectIndexOpInterface>(op)) {
    dl::IndirectSource source = indirect.getIndirectSource();
    // The position is unknown here; any will do, as no rule lets an op that moves elements read its own lane.
    AffineExpr position = getAffineDimExpr(source.map.getNumDims() - 1, op->getContext());
    AffineMap anywhere = source.map.replace(position, getAffineConstantExpr(0, op->getContext()),
                                            source.map.getNumDims() - 1, /*numResultSyms=*/0);
    node.moves = true;
    readThrough(op->getOperand(source.operand), anywhere, node.reads, node.cost);
    readThrough(op->getOperand(source.positions), source.positionMap, node.reads, node.cost);
    return;
  }
  if (auto reduction = dyn_cast<dl::ReductionOpInterface>(op)) {
    RankedTensorType type = typeOf(op->getOperand(0));
    group.domain.assign(type.getShape().begin(), type.getShape().end());
    llvm::append_range(group.axes, reduction.getReductionAxes());
    bool trailing = llvm::all_of(llvm::enumerate(group.axes), [&](auto axis) {
      return axis.value() == type.getRank() - int64_t(group.axes.size()) + int64_t(axis.index());
    });
    group.kind = trailing ? dl::GroupKind::Row : dl::GroupKind::Column;
  } else {
    group.plain = true;
  }
  for (Value operand : op->getOperands())
    readThrough(operand, identityOf(operand), node.reads, node.cost);
}

void FusionGraph::addNode(Operation *op) {
  unsigned index = nodes.size();
  Node node{op, index, {}, 1, false, false, false};
  if (auto body = dyn_cast<dl::ScalarBodyOpInterface>(op))
    node.cost = body.getScalarCost();
  FusionGroup group{};
  group.kind = dl::GroupKind::Pointwise;
  llvm::append_range(group.domain, typeOf(op->getResult(0)).getShape());
  group.nodes.push_back(index);
  group.order = index;
  addReads(node, group);
  group.cost = node.cost;
  for (Value result : op->getResults())
    producers[result] = index;
  nodes.push_back(std::move(node));
  groups.push_back(std::move(group));
}

LogicalResult FusionGraph::addOp(Operation *op) {
  if (isProgramLevel(op))
    return success();
  for (Type type : op->getResultTypes())
    if (!isa<RankedTensorType>(type) || !cast<RankedTensorType>(type).hasStaticShape())
      return op->emitOpError("expects a tensor of static shape, got ") << type;
  if (op->getNumResults() &&
      (addFree(op) || matchPattern(op, m_Constant()) || isExchange(op) ||
       isa<dl::GroupOp, dl::BarrierValueOp, dl::ControlOpInterface, dl::OwnKernelOpInterface, dl::ReductionOpInterface,
           dl::IndexMapOpInterface, dl::IndirectIndexOpInterface, dl::ScalarBodyOpInterface>(op)))
    return success();
  return op->emitOpError("expects a scalar body, an index map, a reduction or a kernel of its own, got none; "
                         "run dl-autodiff and dl-decompose first");
}

FailureOr<FusionGraph> FusionGraph::build(Block &block) {
  FusionGraph graph;
  for (Operation &op : block)
    if (failed(graph.addOp(&op)))
      return failure();
  // A free op that someone needs in memory is a node as well, which in turn may need its operands in memory.
  DenseSet<Operation *> inMemory;
  for (Operation &op : llvm::reverse(block)) {
    if (!graph.isFree(&op) || inMemory.contains(&op))
      for (OpOperand &operand : op.getOpOperands())
        if (Value value = graph.memoryOf(operand))
          inMemory.insert(value.getDefiningOp());
  }
  for (Operation &op : block)
    if (!isProgramLevel(&op) && (graph.isFree(&op) ? inMemory.contains(&op) : !matchPattern(&op, m_Constant())))
      graph.addNode(&op);
  graph.addReaders(block);
  graph.addFeeds();
  graph.markUpdates(block);
  return graph;
}

void FusionGraph::addReaders(Block &block) {
  for (auto [index, node] : llvm::enumerate(nodes))
    for (const Read &read : node.reads) {
      readers[read.value].push_back({unsigned(index), read.map});
      groups[index].inputs.insert(read.value);
    }
  for (Operation &op : block)
    if (isa<dl::WriteOp>(op) || op.hasTrait<OpTrait::IsTerminator>())
      for (Value operand : op.getOperands())
        readers[operand].push_back({outside, {}});
  for (auto [index, node] : llvm::enumerate(nodes))
    llvm::append_range(groups[index].results, node.op->getResults());
}

void FusionGraph::addFeeds() {
  for (auto [index, node] : llvm::enumerate(nodes))
    if (isa<dl::CollectiveOpInterface>(node.op) && !node.op->hasAttr(bucketAttribute))
      for (const Read &read : node.reads)
        if (unsigned producer = producerOf(read.value);
            producer != outside && !llvm::is_contained(groups[producer].feeds, index))
          groups[producer].feeds.push_back(index);
}

void FusionGraph::markUpdates(Block &block) {
  for (auto write : block.getOps<dl::WriteOp>())
    if (unsigned node = producerOf(write.getValue()); node != outside)
      nodes[node].updates = true;
  for (auto [node, group] : llvm::reverse(llvm::zip(nodes, groups)))
    if (group.plain && !readersOf(node.op->getResult(0)).empty())
      node.updates |= llvm::all_of(readersOf(node.op->getResult(0)), [&](const Reader &reader) {
        return reader.node != outside && nodes[reader.node].updates;
      });
}

ArrayRef<Reader> FusionGraph::readersOf(Value value) const {
  auto found = readers.find(value);
  return found == readers.end() ? ArrayRef<Reader>() : ArrayRef<Reader>(found->second);
}

unsigned FusionGraph::producerOf(Value value) const {
  auto found = producers.find(value);
  return found == producers.end() ? outside : found->second;
}

SmallVector<unsigned> FusionGraph::getSchedule() const {
  SmallVector<unsigned> schedule;
  for (unsigned group = 0; group < groups.size(); ++group)
    if (!groups[group].nodes.empty())
      schedule.push_back(group);
  llvm::sort(schedule, [&](unsigned a, unsigned b) { return groups[a].order < groups[b].order; });
  return schedule;
}

bool FusionGraph::collect(unsigned from, bool forward, unsigned lower, unsigned upper, unsigned stop,
                          SmallVectorImpl<unsigned> &found) const {
  llvm::SmallDenseSet<unsigned> seen;
  size_t budget = visitBudget * 8;
  auto visit = [&](unsigned next) {
    unsigned order = groups[next].order;
    if (order > lower && order < upper && seen.insert(next).second)
      found.push_back(next);
  };
  // The group itself is expanded first; a direct edge to `stop` is what the merge removes.
  for (int64_t at = -1; at < int64_t(found.size()); ++at) {
    unsigned group = at < 0 ? from : found[at];
    if (found.size() > visitBudget)
      return false;
    ArrayRef<Value> values = forward ? ArrayRef<Value>(groups[group].results) : groups[group].inputs.getArrayRef();
    for (Value value : values) {
      if (!forward) {
        if (unsigned node = producerOf(value); node != outside)
          visit(groupOf(node));
        continue;
      }
      for (const Reader &reader : readersOf(value)) {
        if (budget-- == 0)
          return false;
        if (reader.node == outside || groupOf(reader.node) == group)
          continue;
        if (groupOf(reader.node) == stop && at >= 0)
          return false;
        visit(groupOf(reader.node));
      }
    }
  }
  return true;
}

// Pearce and Kelly, «A dynamic topological sort algorithm for directed acyclic graphs» (2006): only groups between the
// two change places.
bool FusionGraph::reorder(unsigned a, unsigned b) {
  unsigned lower = groups[a].order, upper = groups[b].order;
  SmallVector<unsigned> after, before;
  if (!collect(a, /*forward=*/true, lower, upper, b, after))
    return false;
  if (after.empty()) {
    groups[a].order = upper;
    return true;
  }
  if (!collect(b, /*forward=*/false, lower, upper, a, before))
    return false;
  auto byOrder = [&](unsigned x, unsigned y) { return groups[x].order < groups[y].order; };
  llvm::sort(after, byOrder);
  llvm::sort(before, byOrder);
  SmallVector<unsigned> sequence(before);
  sequence.push_back(a);
  llvm::append_range(sequence, after);
  SmallVector<unsigned> places;
  for (unsigned group : sequence)
    places.push_back(groups[group].order);
  places.push_back(upper);
  llvm::sort(places);
  for (auto [group, place] : llvm::zip(sequence, places))
    groups[group].order = place;
  return true;
}

SmallVector<Value> FusionGraph::resultsOf(const FusionGroup &a, const FusionGroup &b, unsigned ia, unsigned ib) const {
  SmallVector<Value> results;
  for (const FusionGroup *group : {&a, &b})
    for (Value value : group->results)
      if (llvm::any_of(readersOf(value), [&](const Reader &reader) {
            return reader.node == outside || (groupOf(reader.node) != ia && groupOf(reader.node) != ib);
          }))
        results.push_back(value);
  return results;
}

bool FusionGraph::merge(unsigned a, unsigned b) {
  if (a == b || groups[a].sealed || groups[b].sealed)
    return false;
  if (groups[a].order > groups[b].order)
    std::swap(a, b);
  FusionGroup merged = groups[a];
  if (!FusionRules{*this, a, b}.combine(merged))
    return false;
  merged.results = resultsOf(groups[a], groups[b], a, b);
  merged.inputs.clear();
  for (unsigned group : {a, b})
    for (Value input : groups[group].inputs) {
      unsigned node = producerOf(input);
      if (node == outside || (groupOf(node) != a && groupOf(node) != b))
        merged.inputs.insert(input);
    }
  if (merged.inputs.size() + merged.results.size() > maxOperands)
    return false;
  SmallVector<int64_t> reduced = dropAxes(merged.domain, merged.axes);
  for (Value value : merged.results) {
    ArrayRef<int64_t> shape = typeOf(value).getShape();
    bool inDomain = shape == ArrayRef(merged.domain) && merged.kind != dl::GroupKind::Column;
    if (!inDomain && shape != ArrayRef(reduced))
      return false;
  }
  if (!reorder(a, b))
    return false;
  merged.order = groups[a].order;
  for (unsigned collective : groups[b].feeds)
    if (!llvm::is_contained(merged.feeds, collective))
      merged.feeds.push_back(collective);
  llvm::sort(merged.feeds);
  merged.cost = groups[a].cost + groups[b].cost;
  SmallVector<unsigned> absorbed = std::move(merged.nodes);
  merged.nodes.clear();
  std::merge(groups[a].nodes.begin(), groups[a].nodes.end(), groups[b].nodes.begin(), groups[b].nodes.end(),
             std::back_inserter(merged.nodes));
  for (unsigned node : groups[b].nodes)
    nodes[node].group = a;
  if (merged.absorbed)
    for (unsigned node : absorbed)
      nodes[node].offLane = true;
  groups[b] = FusionGroup{};
  groups[b].sealed = true;
  groups[a] = std::move(merged);
  return true;
}
