#include "distributed/OpSplits.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

// Before:  %g = dl.dot_general %x, %d … {dl.result_shardings = [#dl.sharding<[_, _], partial = sum(data)>], …}
//          %t = dl.transpose %g …
//          %u = dl.mul %t, %lr
// After:   %g = dl.dot_general %x, %d …
//          %t = dl.transpose %g … {dl.result_shardings = [#dl.sharding<[_, _], partial = sum(data)>]}
//          %r = dl.reshard %t to <[_, _]>
//          %u = dl.mul %r, %lr

namespace dlc::passes {
#define GEN_PASS_DEF_PLACERESHARDSPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

namespace {

/// Which values stay partial: those that only ops read which commute with the reduction, down to the last of these.
class Partials {
public:
  explicit Partials(Block &block) : block(block) {
    for (Operation &op : block)
      for (OpResult result : op.getResults())
        partials[result] = made(result);
    do {
      changed = false;
      for (Operation &op : block)
        for (OpResult result : op.getResults())
          update(result);
    } while (changed);
  }

  /// Null where the value is none, or is resolved right behind its op.
  dl::PartialAttr kept(Value value) const {
    return resolved.contains(value) ? dl::PartialAttr() : partials.lookup(value);
  }
  /// The partial values that are resolved, in program order.
  const llvm::MapVector<Value, dl::PartialAttr> &all() const { return partials; }
  bool isResolved(Value value) const { return resolved.contains(value); }

private:
  void update(OpResult result) {
    dl::PartialAttr partial = made(result);
    if (partial != partials.lookup(result)) {
      partials[result] = partial;
      changed = true;
    }
    if (!partial || resolved.contains(result) ||
        llvm::all_of(result.getUses(), [&](OpOperand &use) { return keeps(use, partial); }))
      return;
    resolved.insert(result);
    changed = true;
  }

  /// What the op makes of its operands: its own reduction, or theirs.
  dl::PartialAttr made(OpResult result) {
    Operation *op = result.getOwner();
    if (auto reshard = dyn_cast<dl::ReshardOp>(op))
      return reshard.getSharding().getPartial();
    if (auto shardings = op->getAttrOfType<ArrayAttr>(resultShardings))
      if (auto own = cast<dl::ShardingAttr>(shardings[result.getResultNumber()]).getPartial())
        return own;
    return passed(op);
  }

  dl::PartialAttr passed(Operation *op) {
    auto shardable = dyn_cast<dl::ShardableOpInterface>(op);
    if (!shardable || op->getNumOperands() == 0)
      return {};
    dl::PartialAttr partial = kept(op->getOperand(0));
    if (partial && (splitsAlong(op, partial) || !keepsOrder(op, partial)))
      return {};
    for (OpOperand &operand : op->getOpOperands())
      if (!partial || kept(operand.get()) != partial ||
          !shardable.passesPartial(operand.getOperandNumber(), partial.getKind()))
        return {};
    return partial;
  }

  /// Where sums have an order of their own, only what moves elements commutes with them.
  static bool keepsOrder(Operation *op, dl::PartialAttr partial) {
    return isa<dl::IndexMapOpInterface>(op) || !dl::MeshOp::find(op).isOrdered(partial.getAxes());
  }

  /// An axis is for one thing: what the op takes in parts is no sum along it.
  static bool splitsAlong(Operation *op, dl::PartialAttr partial) {
    auto given = op->getAttrOfType<ArrayAttr>(operandShardings);
    return given && llvm::any_of(given.getAsRange<dl::ShardingAttr>(), [&](dl::ShardingAttr sharding) {
             return llvm::any_of(sharding.getDims(), [&](dl::DimShardingAttr dim) {
               return llvm::any_of(dim.getAxes(),
                                   [&](StringAttr axis) { return llvm::is_contained(partial.getAxes(), axis); });
             });
           });
  }

  bool keeps(OpOperand &use, dl::PartialAttr partial) {
    if (isa<dl::ReshardOp>(use.getOwner()))
      return use.get().hasOneUse();
    return passed(use.getOwner()) == partial;
  }

  Block &block;
  llvm::MapVector<Value, dl::PartialAttr> partials;
  DenseSet<Value> resolved;
  bool changed = false;
};

/// Gives every use what it needs, and each value one reshard of a kind.
class Placement {
public:
  explicit Placement(Block &block) : block(block), partials(block) {}

  void run(func::FuncOp function) {
    for (BlockArgument argument : block.getArguments())
      shardings[argument] = canonicalOf(function.getArgAttr(argument.getArgNumber(), "dl.sharding"), argument);
    for (Operation &op : llvm::make_early_inc_range(block)) {
      SmallVector<dl::ShardingAttr> needed = needs(op);
      for (auto [operand, sharding] : llvm::zip_equal(op.getOpOperands(), needed))
        give(operand, sharding, &op);
      op.walk([&](Operation *inner) {
        if (inner != &op)
          for (OpOperand &operand : inner->getOpOperands())
            if (operand.get().getParentBlock() == &block)
              give(operand, shardingOr({}, operand.get().getType()), &op);
      });
      record(op);
      op.removeAttr(operandShardings);
    }
  }

private:
  dl::ShardingAttr canonicalOf(Attribute attribute, Value value) {
    dl::MeshOp mesh = dl::MeshOp::find(block.getParentOp());
    auto type = dyn_cast<RankedTensorType>(value.getType());
    dl::ShardingAttr sharding = shardingOr(attribute, value.getType());
    return type ? canonical(sharding, type.getShape(), mesh) : sharding;
  }

  /// What each operand has to be; null: anything.
  SmallVector<dl::ShardingAttr> needs(Operation &op) {
    SmallVector<dl::ShardingAttr> needed(op.getNumOperands());
    if (isa<dl::ReshardOp>(op))
      return needed;
    auto given = op.getAttrOfType<ArrayAttr>(operandShardings);
    for (auto [operand, sharding] : llvm::zip_equal(op.getOpOperands(), needed)) {
      if (isa<func::ReturnOp>(op)) {
        sharding = shardings.lookup(operand.get()).withPartial({});
        continue;
      }
      sharding =
          given ? cast<dl::ShardingAttr>(given[operand.getOperandNumber()]) : shardingOr({}, operand.get().getType());
      sharding = sharding.withPartial(partials.kept(operand.get()));
    }
    return needed;
  }

  void give(OpOperand &operand, dl::ShardingAttr needed, Operation *before) {
    Value value = operand.get();
    dl::ShardingAttr has = shardings.lookup(value);
    if (!needed || !has || has == needed)
      return;
    if (isGathered(has, needed) && !isa<dl::WriteOp>(before))
      before->emitRemark() << "'" << before->getName() << "' needs all of operand " << operand.getOperandNumber()
                           << ", which is held as " << has << "; it is gathered";
    Value &made = resharded[{value, needed}];
    if (!made) {
      OpBuilder builder(before);
      made = dl::ReshardOp::create(builder, before->getLoc(), value, needed);
      shardings[made] = needed;
    }
    operand.set(made);
  }

  static bool isGathered(dl::ShardingAttr has, dl::ShardingAttr needed) {
    for (size_t dim = 0; dim < needed.getDims().size(); ++dim)
      if (has.isSplit(dim) && has.getDims()[dim] != needed.getDims()[dim])
        return true;
    return false;
  }

  /// What the results are, resolved where they have to be.
  void record(Operation &op) {
    if (auto reshard = dyn_cast<dl::ReshardOp>(op)) {
      shardings[reshard.getY()] = canonicalOf(reshard.getSharding(), reshard.getY());
      resolve(reshard.getY());
      return;
    }
    auto given = op.getAttrOfType<ArrayAttr>(resultShardings);
    SmallVector<Attribute> results;
    bool replicated = true;
    for (OpResult result : op.getResults()) {
      dl::ShardingAttr sharding = shardingOr(given ? given[result.getResultNumber()] : Attribute(), result.getType());
      auto found = partials.all().find(result);
      if (found != partials.all().end())
        sharding = sharding.withPartial(found->second);
      shardings[result] = sharding;
      results.push_back(sharding);
      replicated &= sharding.isReplicated();
    }
    if (!replicated)
      op.setAttr(resultShardings, ArrayAttr::get(op.getContext(), results));
    for (OpResult result : op.getResults())
      resolve(result);
  }

  void resolve(Value value) {
    if (!partials.isResolved(value))
      return;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    dl::ShardingAttr sharding = shardings.lookup(value).withPartial({});
    auto whole = dl::ReshardOp::create(builder, value.getLoc(), value, sharding);
    value.replaceAllUsesExcept(whole, whole);
    shardings[whole.getY()] = sharding;
  }

  Block &block;
  Partials partials;
  DenseMap<Value, dl::ShardingAttr> shardings;
  DenseMap<std::pair<Value, dl::ShardingAttr>, Value> resharded;
};

struct PlaceReshardsPass : passes::impl::PlaceReshardsPassBase<PlaceReshardsPass> {
  void runOnOperation() override {
    if (!dl::MeshOp::find(getOperation()) || getOperation()->hasAttr("dl.local"))
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr("dl.entry") && !function.isExternal())
        Placement(function.getBody().front()).run(function);
  }
};

} // namespace
