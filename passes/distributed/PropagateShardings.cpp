#include "distributed/RegionShardings.h"
#include "dlc/ir/Control.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

// Before:  func.func @f(%x: tensor<8x4xf32> {dl.sharding = #dl.sharding<[data, _]>}, %w: tensor<4x2xf32>) … {
//            %y = dl.dot_general %x, %w … -> tensor<8x2xf32>
//            %s = dl.reduce_sum %y over [0] : (tensor<8x2xf32>) -> tensor<2xf32>
// After:     %y = dl.dot_general %x, %w … {dl.result_shardings = [#dl.sharding<[data, _]>], dl.operand_shardings = …}
//            %s = dl.reduce_sum %y over [0] {dl.result_shardings = [#dl.sharding<[_], partial = sum(data)>], …}

namespace dlc::passes {
#define GEN_PASS_DEF_PROPAGATESHARDINGSPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

namespace {

/// The shardings of one entry, the regions of its ops included. A dim, once split, stays so: passes over the block end.
class Propagation {
public:
  Propagation(Block &block, dl::MeshOp mesh) : block(block), mesh(mesh) {}

  void run(func::FuncOp function) {
    for (BlockArgument argument : block.getArguments())
      shardings[argument] = givenSharding(function.getArgAttr(argument.getArgNumber(), "dl.sharding"), argument);
    do {
      changed = false;
      forward(block);
      backward(block);
    } while (changed);
    block.walk([&](Operation *op) { annotate(*op); });
  }

private:
  dl::ShardingAttr givenSharding(Attribute attribute, Value value) {
    dl::ShardingAttr sharding = shardingOr(attribute, value.getType());
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? canonical(sharding, type.getShape(), mesh) : sharding;
  }

  dl::ShardingAttr shardingOf(Value value) {
    dl::ShardingAttr &sharding = shardings[value];
    if (!sharding)
      sharding = shardingOr({}, value.getType());
    return sharding;
  }

  OpSplits &splitsOf(Operation &op) {
    auto known = splits.find(&op);
    if (known != splits.end())
      return known->second;
    if (auto shardable = dyn_cast<dl::ShardableOpInterface>(op))
      shardable.settle(llvm::map_to_vector(op.getOperands(), [&](Value operand) { return shardingOf(operand); }));
    return splits.try_emplace(&op, &op, mesh).first->second;
  }

  RegionSplits &splitsOf(dl::ControlOpInterface op) { return regions.try_emplace(op, op).first->second; }

  static bool hasRule(Operation &op) { return !op.hasTrait<OpTrait::IsTerminator>() && op.getNumRegions() == 0; }

  void forward(Block &inside) {
    for (Operation &op : inside)
      if (auto control = dyn_cast<dl::ControlOpInterface>(op))
        forward(control);
      else
        forward(op);
  }

  void backward(Block &inside) {
    for (Operation &op : llvm::reverse(inside))
      if (auto control = dyn_cast<dl::ControlOpInterface>(op))
        backward(control);
      else
        backward(op);
  }

  void forward(dl::ControlOpInterface op) {
    RegionSplits &held = splitsOf(op);
    for (OpOperand &operand : op->getOpOperands())
      changed |= held.adoptOperand(operand.getOperandNumber(), shardingOf(operand.get()));
    for (Region &region : op->getRegions()) {
      for (BlockArgument argument : region.getArguments())
        shardings[argument] = held.argument(argument.getArgNumber());
      forward(region.front());
      for (OpOperand &yielded : region.front().getTerminator()->getOpOperands())
        changed |= held.adoptYielded(yielded.getOperandNumber(), shardingOf(yielded.get()));
    }
    for (OpResult result : op->getResults())
      shardings[result] = held.resultSharding(result.getResultNumber());
  }

  void backward(dl::ControlOpInterface op) {
    for (OpResult result : op->getResults())
      if (dl::ShardingAttr wanted = wantedOf(result))
        changed |= splitsOf(op).adoptResult(result.getResultNumber(), wanted);
    for (Region &region : op->getRegions())
      backward(region.front());
  }

  void forward(Operation &op) {
    if (auto reshard = dyn_cast<dl::ReshardOp>(op)) {
      shardings[reshard.getY()] = givenSharding(reshard.getSharding(), reshard.getY());
      return;
    }
    if (!hasRule(op))
      return;
    // Where operands want different things the larger one is not moved.
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, op.getNumOperands()));
    llvm::stable_sort(order, [&](unsigned a, unsigned b) { return elements(op, a) > elements(op, b); });
    for (unsigned operand : order)
      changed |= splitsOf(op).adoptOperand(operand, shardingOf(op.getOperand(operand)));
    for (OpResult result : op.getResults())
      changed |= splitsOf(op).adoptResult(result.getResultNumber(), shardingOf(result));
    publish(op);
  }

  static int64_t elements(Operation &op, unsigned operand) {
    return cast<RankedTensorType>(op.getOperand(operand).getType()).getNumElements();
  }

  void publish(Operation &op) {
    for (OpResult result : op.getResults())
      shardings[result] = splitsOf(op).resultSharding(result.getResultNumber()).withPartial({});
  }

  /// A result that all users want split in one way is made in parts, where its op can: then it computes less.
  void backward(Operation &op) {
    if (isa<dl::ReshardOp>(op) || !hasRule(op))
      return;
    for (OpResult result : op.getResults())
      if (dl::ShardingAttr wanted = wantedOf(result))
        changed |= splitsOf(op).adoptResult(result.getResultNumber(), wanted);
    publish(op);
  }

  /// What all users agree on; null if nothing.
  dl::ShardingAttr wantedOf(OpResult result) {
    dl::ShardingAttr common;
    for (OpOperand &use : result.getUses()) {
      Operation &user = *use.getOwner();
      if (isa<dl::BarrierValueOp>(user) && use.getOperandNumber() > 0) // only waited for
        continue;
      dl::ShardingAttr wanted;
      if (auto reshard = dyn_cast<dl::ReshardOp>(user))
        wanted = givenSharding(reshard.getSharding(), result).withPartial({});
      else if (auto control = dyn_cast<dl::ControlOpInterface>(user))
        wanted = splitsOf(control).operandSharding(use.getOperandNumber());
      else if (hasRule(user))
        wanted = splitsOf(user).operandSharding(use.getOperandNumber());
      else if (dl::ControlOpInterface around = controlAround(&user))
        wanted = splitsOf(around).yielded(use.getOperandNumber());
      if (!wanted || wanted.isReplicated() || (common && common != wanted))
        return {};
      common = wanted;
    }
    return common;
  }

  void annotate(Operation &op) {
    if (auto control = dyn_cast<dl::ControlOpInterface>(op))
      annotate(op, splitsOf(control));
    else if (!isa<dl::ReshardOp>(op) && hasRule(op))
      annotate(op, splitsOf(op));
  }

  template <class Splits>
  static void annotate(Operation &op, const Splits &splits) {
    SmallVector<Attribute> operands, results;
    for (unsigned i = 0; i < op.getNumOperands(); ++i)
      operands.push_back(splits.operandSharding(i));
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      results.push_back(splits.resultSharding(i));
    auto replicated = [](Attribute sharding) { return cast<dl::ShardingAttr>(sharding).isReplicated(); };
    if (llvm::all_of(operands, replicated) && llvm::all_of(results, replicated))
      return;
    op.setAttr(operandShardings, ArrayAttr::get(op.getContext(), operands));
    op.setAttr(resultShardings, ArrayAttr::get(op.getContext(), results));
  }

  Block &block;
  dl::MeshOp mesh;
  DenseMap<Value, dl::ShardingAttr> shardings;
  std::map<Operation *, OpSplits> splits; // references to an op's stay
  std::map<Operation *, RegionSplits> regions;
  bool changed = false;
};

struct PropagateShardingsPass : passes::impl::PropagateShardingsPassBase<PropagateShardingsPass> {
  void runOnOperation() override {
    dl::MeshOp mesh = dl::MeshOp::find(getOperation());
    if (!mesh || getOperation()->hasAttr("dl.local"))
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr("dl.entry") && !function.isExternal()) {
        if (failed(verifyArguments(function)))
          return signalPassFailure();
        Propagation(function.getBody().front(), mesh).run(function);
      }
  }

  static LogicalResult verifyArguments(func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      Attribute given = function.getArgAttr(i, "dl.sharding");
      if (!given)
        continue;
      auto sharding = dyn_cast<dl::ShardingAttr>(given);
      auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
      if (!sharding || !type || !type.hasStaticShape() || sharding.getPartial())
        return function.emitOpError("expects a sharding of argument ") << i << ", which is not partial, got " << given;
      if (failed(dl::verifySharding(function, type, sharding)))
        return failure();
    }
    return success();
  }
};

} // namespace
