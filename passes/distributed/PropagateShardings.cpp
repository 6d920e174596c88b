#include "distributed/OpSplits.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

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

/// The shardings of one entry. A dim, once split, stays so: passes over the block end.
class Propagation {
public:
  Propagation(Block &block, dl::MeshOp mesh) : block(block), mesh(mesh) {}

  void run(func::FuncOp function) {
    for (BlockArgument argument : block.getArguments())
      shardings[argument] = givenSharding(function.getArgAttr(argument.getArgNumber(), "dl.sharding"), argument);
    do {
      changed = false;
      for (Operation &op : block)
        forward(op);
      for (Operation &op : llvm::reverse(block))
        backward(op);
    } while (changed);
    for (Operation &op : block)
      annotate(op);
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

  OpSplits &splitsOf(Operation &op) { return splits.try_emplace(&op, &op, mesh).first->second; }

  static bool hasRule(Operation &op) { return !op.hasTrait<OpTrait::IsTerminator>() && op.getNumRegions() == 0; }

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
      dl::ShardingAttr wanted;
      if (auto reshard = dyn_cast<dl::ReshardOp>(user))
        wanted = givenSharding(reshard.getSharding(), result).withPartial({});
      else if (user.getBlock() == &block && hasRule(user))
        wanted = splitsOf(user).operandSharding(use.getOperandNumber());
      if (!wanted || wanted.isReplicated() || (common && common != wanted))
        return {};
      common = wanted;
    }
    return common;
  }

  void annotate(Operation &op) {
    if (isa<dl::ReshardOp>(op) || !hasRule(op))
      return;
    SmallVector<Attribute> operands, results;
    for (unsigned i = 0; i < op.getNumOperands(); ++i)
      operands.push_back(splitsOf(op).operandSharding(i));
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      results.push_back(splitsOf(op).resultSharding(i));
    auto replicated = [](Attribute sharding) { return cast<dl::ShardingAttr>(sharding).isReplicated(); };
    if (llvm::all_of(operands, replicated) && llvm::all_of(results, replicated))
      return;
    op.setAttr(operandShardings, ArrayAttr::get(op.getContext(), operands));
    op.setAttr(resultShardings, ArrayAttr::get(op.getContext(), results));
  }

  Block &block;
  dl::MeshOp mesh;
  DenseMap<Value, dl::ShardingAttr> shardings;
  DenseMap<Operation *, OpSplits> splits;
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
