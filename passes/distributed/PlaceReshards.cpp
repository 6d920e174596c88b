#include "distributed/Partials.h"
#include "distributed/RegionShardings.h"
#include "dlc/ir/Control.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

// Before:  %g = dl.dot_general %x, %d … {dl.result_shardings = [#dl.sharding<[_, _], partial = sum(data)>], …}
//          %t = dl.transpose %g …
//          %u = dl.mul %t, %lr
// After:   %g = dl.dot_general %x, %d …
//          %t = dl.transpose %g … {dl.result_shardings = [#dl.sharding<[_, _], partial = sum(data)>]}
//          %r = dl.reshard %t to <[_, _]>
//          %u = dl.mul %r, %lr
// or, where all that read it take their parts of it:
//          %r = dl.reshard %t to <[data, _]>

namespace dlc::passes {
#define GEN_PASS_DEF_PLACERESHARDSPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

namespace {

/// Gives every use what it needs, and each value one reshard of a kind.
class Placement {
public:
  explicit Placement(Block &block) : block(block), partials(block) {}

  void run(func::FuncOp function) {
    for (BlockArgument argument : block.getArguments())
      shardings[argument] = canonicalOf(function.getArgAttr(argument.getArgNumber(), "dl.sharding"), argument);
    place(block);
  }

private:
  void place(Block &inside) {
    for (Operation &op : llvm::make_early_inc_range(inside)) {
      if (dl::PartialAttr partial = partials.passed(&op))
        keepTogether(op, partial);
      SmallVector<dl::ShardingAttr> needed = needs(op);
      for (auto [operand, sharding] : llvm::zip_equal(op.getOpOperands(), needed))
        give(operand, sharding, &op);
      if (auto control = dyn_cast<dl::ControlOpInterface>(op))
        placeInside(control, needed);
      record(op);
      op.removeAttr(operandShardings);
    }
  }

  void placeInside(dl::ControlOpInterface op, ArrayRef<dl::ShardingAttr> operands) {
    for (Region &region : op->getRegions()) {
      for (BlockArgument argument : region.getArguments()) {
        unsigned number = argument.getArgNumber();
        shardings[argument] = argumentSharding(op, number, operands[op.getOperandOf(number).getOperandNumber()]);
      }
      place(region.front());
    }
  }

  /// What a block is to yield: what the op around it gives.
  dl::ShardingAttr needsYielded(dl::ControlOpInterface around, unsigned number) {
    auto given = around->getAttrOfType<ArrayAttr>(resultShardings);
    OpResult result = around->getResult(number);
    dl::ShardingAttr sharding = shardingOr(given ? given[number] : Attribute(), result.getType());
    return yieldedSharding(around, number, sharding).withPartial(partials.yielded(result));
  }

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
    // Of what a barrier waits for, any parts will do.
    bool isBarrier = isa<dl::BarrierValueOp>(op);
    for (auto [operand, sharding] : llvm::zip_equal(op.getOpOperands(), needed)) {
      if (isBarrier && operand.getOperandNumber() > 0)
        continue;
      if (isa<func::ReturnOp>(op)) {
        sharding = shardings.lookup(operand.get()).withPartial({});
        continue;
      }
      if (op.hasTrait<OpTrait::IsTerminator>()) {
        if (dl::ControlOpInterface around = controlAround(&op))
          sharding = needsYielded(around, operand.getOperandNumber());
        continue;
      }
      sharding =
          given ? cast<dl::ShardingAttr>(given[operand.getOperandNumber()]) : shardingOr({}, operand.get().getType());
      sharding = sharding.withPartial(partials.needed(operand));
    }
    return needed;
  }

  /// An axis is for one thing: an op on parts of a sum does not also split a dim along it. Whoever reads its result in
  /// parts gets them from the one reduction behind it.
  static void keepTogether(Operation &op, dl::PartialAttr partial) {
    auto isSummed = [&](StringAttr axis) { return llvm::is_contained(partial.getAxes(), axis); };
    for (StringRef name : {operandShardings, resultShardings}) {
      auto given = op.getAttrOfType<ArrayAttr>(name);
      if (!given)
        continue;
      SmallVector<Attribute> kept;
      for (auto sharding : given.getAsRange<dl::ShardingAttr>()) {
        for (auto [dim, split] : llvm::enumerate(sharding.getDims()))
          if (llvm::any_of(split.getAxes(), isSummed))
            sharding = sharding.withDim(dim, dl::DimShardingAttr::get(op.getContext(), {}, {}));
        kept.push_back(sharding);
      }
      op.setAttr(name, ArrayAttr::get(op.getContext(), kept));
    }
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
      if (dl::PartialAttr partial = partials.of(result))
        sharding = sharding.withPartial(partial);
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
    dl::ShardingAttr sharding = wantedOf(value, shardings.lookup(value).withPartial({}));
    auto whole = dl::ReshardOp::create(builder, value.getLoc(), value, sharding);
    value.replaceAllUsesExcept(whole, whole);
    shardings[whole.getY()] = sharding;
  }

  /// What all readers of a partial value take their parts of; `otherwise` if they do not agree.
  dl::ShardingAttr wantedOf(Value value, dl::ShardingAttr otherwise) {
    dl::ShardingAttr common;
    for (OpOperand &use : value.getUses()) {
      auto given = use.getOwner()->getAttrOfType<ArrayAttr>(operandShardings);
      dl::ShardingAttr wanted = otherwise;
      if (auto reshard = dyn_cast<dl::ReshardOp>(use.getOwner()))
        wanted = canonicalOf(reshard.getSharding(), value).withPartial({});
      else if (given)
        wanted = cast<dl::ShardingAttr>(given[use.getOperandNumber()]).withPartial({});
      if (common && common != wanted)
        return otherwise;
      common = wanted;
    }
    return common ? common : otherwise;
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
