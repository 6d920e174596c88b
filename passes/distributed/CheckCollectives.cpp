#include "dlc/ir/Collective.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

// Follows along which axes of the mesh each value may differ between members. Changes nothing.

namespace dlc::passes {
#define GEN_PASS_DEF_CHECKCOLLECTIVESPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;

namespace {

using Axes = llvm::SmallSetVector<StringAttr, 2>;

class EntryCheck {
public:
  EntryCheck(func::FuncOp function, dl::MeshOp mesh) : function(function), mesh(mesh) {
    for (auto variable : function->getParentOfType<ModuleOp>().getOps<dl::VariableOp>())
      variables[variable.getSymNameAttr()] = variable;
  }

  LogicalResult run() {
    for (BlockArgument argument : function.getArguments())
      differs[argument] = axesOf(function.getArgAttr(argument.getArgNumber(), "dl.sharding"));
    if (failed(visit(function.getBody().front())))
      return failure();
    Operation *end = function.getBody().front().getTerminator();
    for (auto [index, value] : llvm::enumerate(end->getOperands())) {
      Axes known = axesOf(function.getResultAttr(index, "dl.sharding"));
      for (StringAttr axis : differs.lookup(value))
        if (!known.contains(axis))
          return end->emitOpError("expects result ")
                 << index << " to be equal on all members, got one that differs along " << axis.getValue();
    }
    return success();
  }

private:
  static Axes axesOf(Attribute sharding) {
    Axes axes;
    if (auto known = dyn_cast_if_present<dl::ShardingAttr>(sharding))
      for (dl::DimShardingAttr dim : known.getDims())
        axes.insert(dim.getAxes().begin(), dim.getAxes().end());
    return axes;
  }

  Axes ofAll(ValueRange values) const {
    Axes axes;
    for (Value value : values)
      axes.insert_range(differs.lookup(value));
    return axes;
  }

  LogicalResult visit(Block &block) {
    for (Operation &op : block)
      if (failed(visit(&op)))
        return failure();
    return success();
  }

  LogicalResult visit(Operation *op) {
    if (auto read = dyn_cast<dl::ReadOp>(op))
      differs[read.getValue()] = axesOf(variables.lookup(read.getVariableAttr().getAttr()));
    else if (auto write = dyn_cast<dl::WriteOp>(op))
      return checkWrite(write);
    else if (auto group = dyn_cast<dl::GroupOp>(op))
      return visitGroup(group);
    else if (auto collective = dyn_cast<dl::CollectiveOpInterface>(op))
      return visitCollective(collective);
    else if (isa<dl::WaitOp>(op))
      for (auto [from, to] : llvm::zip(op->getOperands(), op->getResults()))
        differs[to] = differs.lookup(from);
    else if (auto control = dyn_cast<dl::ControlOpInterface>(op))
      return visitControl(control);
    else
      for (Value result : op->getResults())
        differs[result] = ofAll(op->getOperands());
    return success();
  }

  /// A variable of role coordinate is the member's index along the axis in its name.
  Axes axesOf(dl::VariableOp variable) {
    Axes axes;
    if (!variable || variable.getRole() != dl::Role::Coordinate)
      return axes;
    for (auto axis : mesh.getAxisNames().getAsRange<StringAttr>())
      if (variable.getSymName() == ("mesh." + axis.getValue()).str())
        axes.insert(axis);
    if (axes.empty()) // of another name: of any axis
      axes.insert_range(mesh.getAxisNames().getAsRange<StringAttr>());
    return axes;
  }

  LogicalResult checkWrite(dl::WriteOp write) {
    Axes axes = differs.lookup(write.getValue());
    if (axes.empty())
      return success();
    return write.emitOpError("expects a new value that is equal on all members, got one that differs along ")
           << axes.front().getValue();
  }

  LogicalResult visitGroup(dl::GroupOp group) {
    if (failed(checkWaits(group)))
      return failure();
    Block &body = group.getBody().front();
    for (auto [argument, input] : llvm::zip(body.getArguments(), group.getInputs()))
      differs[argument] = differs.lookup(input);
    if (failed(visit(body)))
      return failure();
    for (auto [result, value] : llvm::zip(group.getResults(), body.getTerminator()->getOperands()))
      differs[result] = differs.lookup(value);
    return success();
  }

  /// A collective ends once; what is waited for is one.
  static LogicalResult checkWaits(dl::GroupOp group) {
    auto kindOf = [](Operation *op) {
      auto other = dyn_cast_if_present<dl::GroupOp>(op);
      return other ? other.getKind() : dl::GroupKind::Pointwise;
    };
    if (group.getKind() == dl::GroupKind::Wait)
      for (Value input : group.getInputs())
        if (kindOf(input.getDefiningOp()) != dl::GroupKind::Collective)
          return group.emitOpError("expects to wait for results of collectives");
    if (group.getKind() != dl::GroupKind::Collective)
      return success();
    DenseSet<Operation *> waits;
    for (Operation *user : group->getUsers())
      if (kindOf(user) == dl::GroupKind::Wait)
        waits.insert(user);
    if (waits.size() > 1)
      return group.emitOpError("expects one wait for all its results, got ") << waits.size();
    return success();
  }

  LogicalResult visitCollective(dl::CollectiveOpInterface collective) {
    // Members' parts lie one behind the other.
    if (auto dim = collective->getAttrOfType<IntegerAttr>("dim"); dim && dim.getInt() != 0)
      return collective->emitOpError("expects dim(0), got dim(")
             << dim.getInt() << "); exchange the dims before and after";
    Axes axes = ofAll(collective->getOperands());
    dl::CollectiveKind kind = collective.getCollectiveKind();
    bool isEqual = kind == dl::CollectiveKind::AllReduce || kind == dl::CollectiveKind::AllGather;
    for (auto axis : collective.getAxes().getAsRange<StringAttr>())
      if (isEqual)
        axes.remove(axis);
      else
        axes.insert(axis);
    for (Value result : collective->getResults())
      differs[result] = axes;
    return success();
  }

  /// Members take the same way around a collective only if they agree on what chooses it; the number of steps of a loop
  /// is the same for all.
  LogicalResult visitControl(dl::ControlOpInterface op) {
    unsigned arguments = op->getRegion(0).getNumArguments();
    Axes way = ofAll(op->getOperands().drop_back(arguments));
    WalkResult walked = op->walk([&](dl::CollectiveOpInterface collective) {
      if (way.empty())
        return WalkResult::advance();
      collective->emitOpError("expects members to take the same way to it, but that may differ along ")
          << way.front().getValue();
      return WalkResult::interrupt();
    });
    if (walked.wasInterrupted() || failed(visitSteps(op)))
      return failure();
    for (OpResult result : op->getResults()) {
      Axes axes = way;
      for (Region &region : op->getRegions())
        axes.insert_range(differs.lookup(region.front().getTerminator()->getOperand(result.getResultNumber())));
      if (result.getResultNumber() < op.getNumCarried())
        axes.insert_range(differs.lookup(op->getRegion(0).getArgument(result.getResultNumber())));
      differs[result] = axes;
    }
    return success();
  }

  /// Until steps carry on no more than was known.
  LogicalResult visitSteps(dl::ControlOpInterface op) {
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        differs[argument] = differs.lookup(op.getOperandOf(argument.getArgNumber()).get());
    for (bool changed = true; changed;) {
      changed = false;
      for (Region &region : op->getRegions()) {
        if (failed(visit(region.front())))
          return failure();
        for (unsigned i = 0; i < op.getNumCarried(); ++i) {
          Axes &carried = differs[region.getArgument(i)];
          size_t before = carried.size();
          carried.insert_range(differs.lookup(region.front().getTerminator()->getOperand(i)));
          changed |= carried.size() != before;
        }
      }
    }
    return success();
  }

  func::FuncOp function;
  dl::MeshOp mesh;
  DenseMap<StringAttr, dl::VariableOp> variables;
  DenseMap<Value, Axes> differs;
};

struct CheckCollectivesPass : passes::impl::CheckCollectivesPassBase<CheckCollectivesPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    dl::MeshOp mesh = dl::MeshOp::find(getOperation());
    if (!mesh || !getOperation()->hasAttr("dl.local"))
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(EntryCheck(function, mesh).run()))
        return signalPassFailure();
  }
};

} // namespace
