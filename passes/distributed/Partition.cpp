#include "distributed/LocalReshard.h"
#include "distributed/RegionShardings.h"
#include "dlc/passes/Passes.h"
#include "dlc/passes/Pipelines.h"
#include "mlir/Pass/PassManager.h"

// Before:  func.func @f(%x: tensor<6x4xf32> {dl.sharding = #dl.sharding<[data, _]>}) -> tensor<4xf32> … {
//            %s = dl.reduce_sum %x over [0] {dl.result_shardings = [#dl.sharding<[_], partial = sum(data)>]} : …
//            %r = dl.reshard %s to <[_]> : tensor<4xf32>
//            return %r : tensor<4xf32>
// After:   dl.variable @mesh.data : tensor<i64> role(coordinate) init(#dl.zeros)                     // on 4 members
//          func.func @f(%x: tensor<2x4xf32> {dl.sharding = #dl.sharding<[data, _]>, dl.global = tensor<6x4xf32>}) … {
//            %c = dl.read @mesh.data : tensor<i64>
//            %own = … %c …                                  // rows below 6 - 2 * %c
//            %0 = dl.select %own, %x, %zero : tensor<2x4xf32>
//            %s = dl.reduce_sum %0 over [0] : (tensor<2x4xf32>) -> tensor<4xf32>
//            %r = dl.all_reduce sum(data) %s : tensor<4xf32>
//            return %r : tensor<4xf32>

namespace dlc::passes {
#define GEN_PASS_DEF_PARTITIONPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

namespace {

using Shardings = DenseMap<Value, dl::ShardingAttr>;

/// What an op asks for when it becomes local.
class OpPartition : public dl::PartitionBuilder {
public:
  OpPartition(Operation *op, LocalBuilder &local, ArrayRef<dl::ShardingAttr> operands, ArrayRef<Type> operandGlobals,
              ArrayRef<dl::ShardingAttr> results, ArrayRef<Type> globals)
      : op(op), local(local), operands(operands), operandGlobals(operandGlobals), results(results), globals(globals) {}

  OpBuilder &getBuilder() override {
    local.setInsertionPointAfter(op);
    return local.getBuilder();
  }
  dl::ShardingAttr getOperandSharding(unsigned operand) override { return operands[operand]; }
  dl::ShardingAttr getResultSharding(unsigned result) override { return results[result]; }

  dl::LeafSplit getLeaves(unsigned operand, int64_t dim) override {
    dl::DimShardingAttr split = operands[operand].getDims()[dim];
    dl::MeshOp mesh = local.getMesh();
    if (!mesh.isOrdered(split.getAxes()))
      return {};
    int64_t leaf = mesh.leafExtent(split, cast<RankedTensorType>(operandGlobals[operand]).getDimSize(dim));
    if (leaf)
      return {mesh.leavesOfMember(split), leaf};
    op->emitRemark() << "'" << op->getName()
                     << "' adds up parts of given sizes; its result depends on the number of members";
    return {};
  }

  Value getStart(unsigned result, int64_t dim) override {
    return local.start(results[result].getDims()[dim], cast<RankedTensorType>(globals[result]).getDimSize(dim));
  }

  Value onFirstMember(Value value, unsigned splitOperand, int64_t dim) override {
    local.setInsertionPoint(op);
    auto type = cast<RankedTensorType>(value.getType());
    auto whole = dl::ShardingAttr::replicated(op->getContext(), type.getRank());
    auto partial =
        dl::PartialAttr::get(op->getContext(), dl::ReduceKind::Sum, operands[splitOperand].getDims()[dim].getAxes());
    return LocalReshard(local, value, type, whole).to(whole.withPartial(partial));
  }

  /// Up to where the value is made, the result is read on.
  void replaceResult(OpResult result, Value value) override {
    Operation *maker = value.getDefiningOp();
    result.replaceUsesWithIf(value, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return user != maker && !(user->getBlock() == maker->getBlock() && user->isBeforeInBlock(maker));
    });
    replaced.push_back({value, result.getResultNumber()});
  }
  ArrayRef<std::pair<Value, unsigned>> getReplaced() const { return replaced; }

private:
  Operation *op;
  LocalBuilder &local;
  ArrayRef<dl::ShardingAttr> operands;
  ArrayRef<Type> operandGlobals;
  ArrayRef<dl::ShardingAttr> results;
  ArrayRef<Type> globals;
  SmallVector<std::pair<Value, unsigned>> replaced;
};

/// Turns one entry into what a member runs.
class EntryPartition {
public:
  EntryPartition(func::FuncOp entry, dl::MeshOp mesh)
      : entry(entry), block(entry.getBody().front()), mesh(mesh), local(entry, mesh) {}

  void run() {
    block.walk([&](Operation *op) {
      if (op->hasAttr(resultShardings)) // rules follow from global types
        rules.try_emplace(op, dl::shardingRuleOf(op));
    });
    for (BlockArgument argument : block.getArguments())
      takeArgument(argument);
    partition(block);
    giveResults(block.getTerminator());
    for (Operation *op : done)
      op->erase();
    block.walk<WalkOrder::PreOrder>([](Operation *op) {
      if (auto control = dyn_cast<dl::ControlOpInterface>(op))
        passIn(control);
    });
  }

private:
  static RankedTensorType tensorOf(Type type) { return dyn_cast<RankedTensorType>(type); }

  dl::ShardingAttr shardingOf(Value value) {
    dl::ShardingAttr sharding = shardings.lookup(value);
    return sharding ? sharding : shardingOr({}, value.getType());
  }

  Type localType(Type type, dl::ShardingAttr sharding) {
    RankedTensorType tensor = tensorOf(type);
    return tensor && !sharding.isReplicated() ? mesh.localType(tensor, sharding) : type;
  }

  void remember(Value value, dl::ShardingAttr sharding) {
    shardings[value] = sharding;
    globals[value] = value.getType();
    value.setType(localType(value.getType(), sharding));
  }

  void partition(Block &inside) {
    auto ops = llvm::map_to_vector(inside, [](Operation &op) { return &op; });
    for (Operation *op : ops)
      if (auto reshard = dyn_cast<dl::ReshardOp>(op))
        exchange(reshard);
      else if (auto control = dyn_cast<dl::ControlOpInterface>(op))
        partition(control);
      else
        partition(op);
  }

  void partition(dl::ControlOpInterface op) {
    auto given = op->getAttrOfType<ArrayAttr>(resultShardings);
    op->removeAttr(resultShardings);
    for (Region &region : op->getRegions()) {
      for (BlockArgument argument : region.getArguments()) {
        dl::ShardingAttr held = shardingOf(op.getOperandOf(argument.getArgNumber()).get());
        remember(argument, argumentSharding(op, argument.getArgNumber(), held));
      }
      partition(region.front());
    }
    for (OpResult result : op->getResults())
      remember(result, shardingOr(given ? given[result.getResultNumber()] : Attribute(), result.getType()));
  }

  /// What was made for the member at the top of the entry, and is read inside.
  static void passIn(dl::ControlOpInterface op) {
    llvm::MapVector<Value, SmallVector<OpOperand *>> read;
    op->walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (inner != op && !op->isAncestor(operand.get().getParentRegion()->getParentOp()))
          read[operand.get()].push_back(&operand);
    });
    for (auto &[value, uses] : read) {
      op.addWhole(value);
      for (OpOperand *use : uses)
        for (Region &region : op->getRegions())
          if (region.isAncestor(use->getOwner()->getParentRegion()))
            use->set(region.getArguments().back());
    }
  }

  void takeArgument(BlockArgument argument) {
    unsigned index = argument.getArgNumber();
    dl::ShardingAttr sharding = shardingOr(entry.getArgAttr(index, "dl.sharding"), argument.getType());
    if (RankedTensorType type = tensorOf(argument.getType()))
      sharding = canonical(sharding, type.getShape(), mesh);
    if (sharding.isReplicated()) {
      entry.removeArgAttr(index, "dl.sharding");
      return;
    }
    entry.setArgAttr(index, "dl.sharding", sharding);
    entry.setArgAttr(index, "dl.global", TypeAttr::get(argument.getType()));
    remember(argument, sharding);
  }

  void exchange(dl::ReshardOp reshard) {
    dl::ShardingAttr to = canonical(reshard.getSharding(), reshard.getType().getShape(), mesh);
    local.setInsertionPoint(reshard);
    Value value = LocalReshard(local, reshard.getX(), reshard.getType(), shardingOf(reshard.getX())).to(to);
    if (value != reshard.getX()) {
      globals[value] = reshard.getType();
      shardings[value] = to;
    }
    reshard.replaceAllUsesWith(value);
    done.push_back(reshard);
  }

  void partition(Operation *op) {
    auto given = op->getAttrOfType<ArrayAttr>(resultShardings);
    op->removeAttr(resultShardings);
    SmallVector<dl::ShardingAttr> operands, results;
    SmallVector<Type> globalTypes(op->getResultTypes()), operandGlobals;
    bool replicated = !given;
    for (Value operand : op->getOperands()) {
      operands.push_back(shardingOf(operand));
      Type global = globals.lookup(operand);
      operandGlobals.push_back(global ? global : operand.getType());
      replicated &= operands.back().isReplicated();
    }
    for (OpResult result : op->getResults())
      results.push_back(shardingOr(given ? given[result.getResultNumber()] : Attribute(), result.getType()));
    if (replicated || op->hasTrait<OpTrait::IsTerminator>())
      return;
    maskReduced(op, operands);
    for (auto [result, sharding] : llvm::zip_equal(op->getResults(), results))
      remember(result, sharding);
    auto shardable = dyn_cast<dl::ShardableOpInterface>(op);
    if (!shardable)
      return;
    OpPartition partition(op, local, operands, operandGlobals, results, globalTypes);
    shardable.partitionLocal(partition);
    for (auto [value, result] : partition.getReplaced()) {
      shardings[value] = results[result];
      globals[value] = globalTypes[result];
    }
  }

  /// Rows beyond a member's own must not be seen by what adds rows up.
  void maskReduced(Operation *op, ArrayRef<dl::ShardingAttr> operands) {
    auto known = rules.find(op);
    if (known == rules.end()) // its operands in parts are waited for, not read
      return;
    const dl::ShardingRule &rule = known->second;
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      for (auto [dim, factors] : llvm::enumerate(rule.operands[index]))
        if (!factors.empty() && operands[index].isSplit(dim) &&
            rule.factors[factors.front()].kind == dl::ShardingFactor::Kind::Reduce)
          maskDim(operand, dim, operands[index].getDims()[dim], rule.factors[factors.front()].reduce);
    }
  }

  void maskDim(OpOperand &operand, int64_t dim, dl::DimShardingAttr split, dl::ReduceKind kind) {
    Operation *op = operand.getOwner();
    auto shardable = dyn_cast<dl::ShardableOpInterface>(op);
    auto global = cast<RankedTensorType>(globals.lookup(operand.get()));
    TypedAttr neutral = shardable ? shardable.getNeutral(operand.getOperandNumber(), kind)
                                  : dl::neutralValue(kind, global.getElementType());
    if (!neutral)
      return;
    local.setInsertionPoint(op);
    Value masked = local.masked(operand.get(), dim, split, global.getDimSize(dim), neutral);
    globals[masked] = global;
    operand.set(masked);
  }

  void giveResults(Operation *terminator) {
    for (OpOperand &operand : terminator->getOpOperands()) {
      dl::ShardingAttr sharding = shardingOf(operand.get());
      if (sharding.isReplicated())
        continue;
      entry.setResultAttr(operand.getOperandNumber(), "dl.sharding", sharding);
      entry.setResultAttr(operand.getOperandNumber(), "dl.global", TypeAttr::get(globals.lookup(operand.get())));
    }
    entry.setType(FunctionType::get(entry.getContext(), block.getArgumentTypes(), terminator->getOperandTypes()));
  }

  func::FuncOp entry;
  Block &block;
  dl::MeshOp mesh;
  LocalBuilder local;
  DenseMap<Operation *, dl::ShardingRule> rules;
  Shardings shardings;
  DenseMap<Value, Type> globals;
  SmallVector<Operation *> done;
};

struct PartitionPass : passes::impl::PartitionPassBase<PartitionPass> {
  void runOnOperation() override {
    dl::MeshOp mesh = dl::MeshOp::find(getOperation());
    if (!mesh || getOperation()->hasAttr("dl.local"))
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr("dl.entry") && !function.isExternal())
        EntryPartition(function, mesh).run();
    getOperation()->setAttr("dl.local", UnitAttr::get(&getContext()));
    // Masks and positions of equal parts are shared, what they make constant is folded.
    OpPassManager simplify("builtin.module");
    simplify.addPass(createDecomposePass());
    buildSimplifyPipeline(simplify);
    if (failed(runPipeline(simplify, getOperation())))
      signalPassFailure();
  }
};

} // namespace
