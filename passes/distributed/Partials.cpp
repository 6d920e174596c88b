#include "distributed/Partials.h"

#include "distributed/RegionShardings.h"
#include "dlc/ir/Control.h"
#include "dlc/ir/Elementwise.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

static bool namesAxisOf(dl::ShardingAttr sharding, dl::PartialAttr partial) {
  return llvm::any_of(sharding.getDims(), [&](dl::DimShardingAttr dim) {
    return llvm::any_of(dim.getAxes(), [&](StringAttr axis) { return llvm::is_contained(partial.getAxes(), axis); });
  });
}

/// An axis is for one thing: what is taken, or made, in parts is no sum along it.
static bool splitsAlong(Operation *op, StringRef attribute, dl::PartialAttr partial) {
  auto given = op->getAttrOfType<ArrayAttr>(attribute);
  return given && llvm::any_of(given.getAsRange<dl::ShardingAttr>(),
                               [&](dl::ShardingAttr sharding) { return namesAxisOf(sharding, partial); });
}

/// Whether a result is a sum of its own.
static bool makesPartial(Operation *op) {
  auto given = op->getAttrOfType<ArrayAttr>(resultShardings);
  return given && llvm::any_of(given.getAsRange<dl::ShardingAttr>(),
                               [](dl::ShardingAttr sharding) { return bool(sharding.getPartial()); });
}

static Value yieldedBy(Region &region, unsigned result) { return region.front().getTerminator()->getOperand(result); }

/// Whether two steps each add a part to nothing: one level of a balanced binary tree.
static bool isTreeLevel(dl::ScanOp scan, unsigned carried) {
  Value first = scan.getCarried()[carried];
  BlockArgument argument = scan.getBlock().getArgument(carried);
  auto sum = yieldedBy(scan.getBody(), carried).getDefiningOp<dl::AddOp>();
  return scan.getTrips() == 2 && (matchPattern(first, m_AnyZeroFloat()) || matchPattern(first, m_Zero())) && sum &&
         sum->hasOneUse() && argument.hasOneUse() && argument.use_begin()->getOwner() == sum;
}

static bool isTreeAdd(Operation *op) {
  auto scan = dyn_cast<dl::ScanOp>(op->getParentOp());
  if (!scan || !op->hasOneUse() || !op->use_begin()->getOwner()->hasTrait<OpTrait::IsTerminator>())
    return false;
  unsigned carried = op->use_begin()->getOperandNumber();
  return carried < scan.getNumCarried() && isTreeLevel(scan, carried);
}

/// Two sums of leaves added: a sum of twice as many.
static dl::PartialAttr doubled(dl::PartialAttr partial, dl::MeshOp mesh) {
  int64_t leaves = 2 * partial.getLeaves(), all = mesh.size(partial.getAxes()) * mesh.leavesOfMember(partial.getAxes());
  return dl::PartialAttr::get(partial.getContext(), partial.getKind(), partial.getAxes(), leaves == all ? 0 : leaves);
}

Partials::Partials(Block &block) {
  do {
    changed = false;
    guess(block);
  } while (changed);
  open.clear();
  do {
    changed = false;
    confirm(block);
  } while (changed);
}

// The most that can be: a carried value is what the last step's is made of.
void Partials::guess(Block &block) {
  for (Operation &op : block) {
    auto control = dyn_cast<dl::ControlOpInterface>(op);
    for (unsigned i = 0; control && i < control.getNumCarried(); ++i)
      if (BlockArgument argument = op.getRegion(0).getArgument(i); !partials.lookup(argument))
        open.insert(argument);
    for (Region &region : op.getRegions())
      if (control)
        guess(region.front());
    for (unsigned i = 0; control && i < control.getNumCarried(); ++i) {
      BlockArgument argument = op.getRegion(0).getArgument(i);
      dl::PartialAttr last = kept(yieldedBy(op.getRegion(0), i));
      if (last && open.erase(argument)) {
        partials[argument] = last;
        changed = true;
      }
      if (open.contains(argument))
        open.insert(op.getResult(i));
    }
    bool unknown = !control && op.getNumOperands() > 0 &&
                   llvm::all_of(op.getOperands(), [&](Value operand) { return open.contains(operand); });
    for (OpResult result : op.getResults()) {
      partials[result] = made(result);
      if (partials[result])
        open.erase(result);
      else if (unknown)
        open.insert(result);
    }
  }
}

// Takes back what does not hold.
void Partials::confirm(Block &block) {
  for (Operation &op : block) {
    if (auto control = dyn_cast<dl::ControlOpInterface>(op)) {
      for (unsigned i = 0; i < control.getNumCarried(); ++i)
        updateCarried(control, op.getRegion(0).getArgument(i));
      for (Region &region : op.getRegions())
        confirm(region.front());
    }
    for (OpResult result : op.getResults())
      update(result);
  }
}

void Partials::set(Value value, dl::PartialAttr partial) {
  if (partial == partials.lookup(value))
    return;
  partials[value] = partial;
  changed = true;
}

void Partials::update(OpResult result) {
  dl::PartialAttr partial = made(result);
  set(result, partial);
  if (!partial || resolved.contains(result) ||
      llvm::all_of(result.getUses(), [&](OpOperand &use) { return keeps(use, partial); }))
    return;
  resolved.insert(result);
  changed = true;
}

void Partials::updateCarried(dl::ControlOpInterface op, BlockArgument argument) {
  dl::PartialAttr partial = of(argument);
  if (!partial)
    return;
  auto given = op->getAttrOfType<ArrayAttr>(resultShardings);
  unsigned number = argument.getArgNumber();
  bool holds = kept(yieldedBy(op->getRegion(0), number)) == partial &&
               !(given && namesAxisOf(cast<dl::ShardingAttr>(given[number]), partial)) &&
               llvm::all_of(argument.getUses(), [&](OpOperand &use) { return keeps(use, partial); });
  if (!holds)
    set(argument, {});
}

/// What the op makes of its operands: its own reduction, or theirs.
dl::PartialAttr Partials::made(OpResult result) const {
  Operation *op = result.getOwner();
  if (auto reshard = dyn_cast<dl::ReshardOp>(op))
    return reshard.getSharding().getPartial();
  if (isa<dl::ControlOpInterface>(op))
    return madeInside(result);
  if (auto shardings = op->getAttrOfType<ArrayAttr>(resultShardings))
    if (auto own = cast<dl::ShardingAttr>(shardings[result.getResultNumber()]).getPartial())
      return own;
  if (dl::PartialAttr partial = passed(op))
    return partial;
  OpOperand *parts = linear(op);
  return parts ? kept(parts->get()) : dl::PartialAttr();
}

/// Where one branch has a part of it, the other's is the first member's.
dl::PartialAttr Partials::madeInside(OpResult result) const {
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  if (number < cast<dl::ControlOpInterface>(op).getNumCarried()) {
    dl::PartialAttr carried = of(op->getRegion(0).getArgument(number));
    bool grows = carried && carried.getLeaves() && isTreeLevel(cast<dl::ScanOp>(op), number);
    return grows ? doubled(carried, dl::MeshOp::find(op)) : carried;
  }
  dl::PartialAttr partial;
  for (Region &region : op->getRegions())
    if (dl::PartialAttr own = kept(yieldedBy(region, number))) {
      if (partial && own != partial)
        return {};
      partial = own;
    }
  auto given = op->getAttrOfType<ArrayAttr>(resultShardings);
  bool isSplit = partial && given && namesAxisOf(cast<dl::ShardingAttr>(given[number]), partial);
  return isSplit ? dl::PartialAttr() : partial;
}

dl::PartialAttr Partials::yielded(OpResult result) const {
  auto op = cast<dl::ControlOpInterface>(result.getOwner());
  bool isCarried = result.getResultNumber() < op.getNumCarried();
  return of(isCarried ? Value(op->getRegion(0).getArgument(result.getResultNumber())) : Value(result));
}

dl::PartialAttr Partials::needed(OpOperand &operand) const {
  auto control = dyn_cast<dl::ControlOpInterface>(operand.getOwner());
  if (!control)
    return kept(operand.get());
  bool isCarried = operand.getOperandNumber() < control.getNumCarried();
  return isCarried ? of(control->getRegion(0).getArgument(operand.getOperandNumber())) : dl::PartialAttr();
}

dl::PartialAttr Partials::passed(Operation *op) const {
  auto shardable = dyn_cast<dl::ShardableOpInterface>(op);
  dl::PartialAttr partial;
  for (OpOperand &operand : op->getOpOperands()) {
    if (open.contains(operand.get()))
      continue;
    dl::PartialAttr own = kept(operand.get());
    if (!shardable || !own || (partial && own != partial) ||
        !shardable.passesPartial(operand.getOperandNumber(), own.getKind()))
      return {};
    partial = own;
  }
  return partial && keepsOrder(op, partial) ? partial : dl::PartialAttr();
}

/// Where sums have an order of their own, only what moves elements commutes with them, and the tree's own additions.
bool Partials::keepsOrder(Operation *op, dl::PartialAttr partial) const {
  return isa<dl::IndexMapOpInterface>(op) || !dl::MeshOp::find(op).isOrdered(partial.getAxes()) ||
         (partial.getLeaves() && isTreeAdd(op));
}

/// In a step of a loop, or a branch, what is linear is done to the parts instead of the sum, so that the loop's result
/// may stay partial. Where sums have an order this is for micro-batches alone, whose sums are none of a step: there
/// moves and powers of two keep the bits. The operand that is a part; the others are whole. Null: none.
OpOperand *Partials::linear(Operation *op) const {
  auto shardable = dyn_cast<dl::ShardableOpInterface>(op);
  if (!shardable || !isa<dl::ControlOpInterface>(op->getParentOp()) || makesPartial(op))
    return nullptr;
  dl::MeshOp mesh = dl::MeshOp::find(op);
  for (OpOperand &operand : op->getOpOperands()) {
    dl::PartialAttr own = kept(operand.get());
    bool fits = own && own.getKind() == dl::ReduceKind::Sum && (own.getLeaves() || !mesh.isOrdered(own.getAxes()));
    if (fits && shardable.isLinearIn(operand.getOperandNumber()) && !splitsAlong(op, operandShardings, own))
      return &operand;
  }
  return nullptr;
}

bool Partials::keeps(OpOperand &use, dl::PartialAttr partial) const {
  Operation *user = use.getOwner();
  if (isa<dl::ReshardOp>(user))
    return use.get().hasOneUse();
  if (isa<dl::ControlOpInterface>(user))
    return needed(use) == partial;
  if (user->hasTrait<OpTrait::IsTerminator>()) {
    dl::ControlOpInterface around = controlAround(user);
    return around && yielded(around->getResult(use.getOperandNumber())) == partial;
  }
  if (dl::PartialAttr next = passed(user))
    return next == partial;
  return linear(user) == &use;
}
