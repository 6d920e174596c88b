#include "Placement.h"
#include "UnderWay.h"

#include "dlc/ir/Storage.h"
#include "dlc/passes/Passes.h"
#include "llvm/ADT/MapVector.h"

// Reads a planned module as a machine would run it, without the planner's own bookkeeping: at each group, the bytes it
// writes must be bytes no later reader still wants. Changes nothing.

namespace dlc::passes {
#define GEN_PASS_DEF_CHECKPLANPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

namespace {

/// Pulls a result's element from the yielded value back to the arguments, as a kernel does.
class LaneWalk {
public:
  explicit LaneWalk(dl::GroupOp group) : group(group) {}

  /// Whether any result reads argument `input` at an index that a lane which writes `result` might have overwritten.
  bool readsElsewhere(unsigned result, unsigned input) {
    if (group.getKind() == dl::GroupKind::Horizontal)
      return partReadsElsewhere(result, input);
    argument = group.getBody().front().getArgument(input);
    for (Value value : group.getBody().front().getTerminator()->getOperands())
      if (pull(value, /*elsewhere=*/false))
        return true;
    return false;
  }

private:
  /// Parts run side by side: none but the one that overwrites the argument may read it.
  bool partReadsElsewhere(unsigned result, unsigned input) {
    Block &body = group.getBody().front();
    auto written = cast<OpResult>(body.getTerminator()->getOperand(result));
    for (auto part : body.getOps<dl::GroupOp>())
      for (auto [number, value] : llvm::enumerate(part.getInputs()))
        if (value == body.getArgument(input) &&
            (part != written.getOwner() || LaneWalk(part).readsElsewhere(written.getResultNumber(), number)))
          return true;
    return false;
  }

  bool pull(Value value, bool elsewhere) {
    if (value == argument)
      return elsewhere;
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert({value, elsewhere}).second)
      return false;
    // A row's reductions end before its stores, and what it reads back of them is its own.
    bool sweepsRow = group.getKind() == dl::GroupKind::Row && inDomain(argument);
    if (isa<dl::ReductionOpInterface>(op))
      elsewhere |= !sweepsRow;
    else if (!isa<dl::ScalarBodyOpInterface>(op))
      elsewhere |= !sweepsRow || op->getNumOperands() != 1 || inDomain(op->getOperand(0));
    return llvm::any_of(op->getOperands(), [&](Value operand) { return pull(operand, elsewhere); });
  }

  bool inDomain(Value value) { return cast<ShapedType>(value.getType()).getShape() == group.getDomain(); }

  dl::GroupOp group;
  Value argument;
  DenseSet<std::pair<Value, unsigned>> seen;
};

/// The value whose bytes are read through views, found from the bodies alone.
Value bytesOf(Value value) {
  while (auto group = value.getDefiningOp<dl::GroupOp>()) {
    if (group.getKind() == dl::GroupKind::Wait) {
      value = group.getInputs()[cast<OpResult>(value).getResultNumber()];
      continue;
    }
    auto yield = cast<dl::YieldOp>(group.getBody().front().getTerminator());
    Value inside = yield.getValues()[cast<OpResult>(value).getResultNumber()];
    bool moved = false;
    for (auto map = inside.getDefiningOp<dl::IndexMapOpInterface>(); map && map.keepsOrder();
         map = inside.getDefiningOp<dl::IndexMapOpInterface>()) {
      inside = map->getOperand(0);
      moved = true;
    }
    auto argument = dyn_cast<BlockArgument>(inside);
    if (!moved || !argument || group.getNumResults() != 1)
      return value;
    value = group.getInputs()[argument.getArgNumber()];
  }
  return value;
}

class EntryCheck {
public:
  explicit EntryCheck(func::FuncOp function) : function(function), block(function.getBody().front()) {}

  LogicalResult run() {
    for (auto [position, op] : llvm::enumerate(block)) {
      bool isRenaming = isa<dl::GroupOp>(op) && bytesOf(op.getResult(0)) != op.getResult(0);
      if (!isRenaming)
        for (Value operand : op.getOperands())
          lastUse[bytesOf(operand)] = position;
    }
    for (Value argument : block.getArguments())
      live[argument] = slotOf(argument);
    for (auto read : block.getOps<dl::ReadOp>())
      live[read.getValue()] = slotOf(read.getValue());
    for (auto variable : function->getParentOfType<ModuleOp>().getOps<dl::VariableOp>())
      variables[variable.getSymNameAttr()] = variable;
    for (auto write : block.getOps<dl::WriteOp>())
      if (failed(checkWrite(write)))
        return failure();
    for (auto [index, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
      dl::SlotAttr slot = slotOf(value);
      if (!slot || slot.getArena() != resultArena || slot.getOffset() != int64_t(index))
        return block.getTerminator()->emitOpError("expects result ") << index << " in its own slot, got " << slot;
    }
    for (auto [position, op] : llvm::enumerate(block))
      if (auto group = dyn_cast<dl::GroupOp>(op))
        if (failed(checkGroup(group, position)))
          return failure();
    return underWay.checkNone();
  }

private:
  LogicalResult checkWrite(dl::WriteOp write) {
    Value value = bytesOf(write.getValue());
    StringAttr name = write.getVariableAttr().getAttr();
    if (slotOf(value) != variables.lookup(name).getSlotAttr() || !value.getDefiningOp<dl::GroupOp>())
      return write.emitOpError("expects the new value in the variable's slot, got ") << slotOf(value);
    newValues[value] = name;
    return success();
  }

  LogicalResult checkGroup(dl::GroupOp group, int64_t position) {
    if (!group.getSlots())
      return group.emitOpError("expects slots; run dl-plan-memory");
    if (bytesOf(group.getResult(0)) != group.getResult(0)) {
      for (Value result : group.getResults())
        if (slotOf(result) != slotOf(bytesOf(result)))
          return group.emitOpError("expects a view to share its input's slot, got ") << slotOf(result);
      if (group.getKind() == dl::GroupKind::Wait)
        underWay.end(group);
      return success();
    }
    live.remove_if([&](auto &entry) { return lastUse.lookup(entry.first) < position; });
    SmallVector<dl::SlotAttr> written;
    for (OpResult result : group->getOpResults()) {
      dl::SlotAttr slot = slotOf(result);
      if (!slot || slot.getBytes() != dl::getStorageBytes(result.getType()))
        return group.emitOpError("expects a slot of ")
               << dl::getStorageBytes(result.getType()) << " bytes, got " << slot;
      if (failed(checkState(result, slot)) || failed(checkLive(group, result.getResultNumber(), slot, position)))
        return failure();
      written.push_back(slot);
    }
    if (dl::SlotAttr workspace = group.getWorkspaceAttr()) {
      if (failed(checkLive(group, -1, workspace, position)))
        return failure();
      written.push_back(workspace);
    }
    for (auto [index, slot] : llvm::enumerate(written))
      for (dl::SlotAttr other : ArrayRef(written).drop_front(index + 1))
        if (overlap(slot, other))
          return group.emitOpError("expects results and workspace apart, got ") << slot << " and " << other;
    SmallVector<dl::SlotAttr> read = llvm::map_to_vector(group.getInputs(), [](Value v) { return slotOf(v); });
    if (failed(underWay.check(group, read, written)) || (group.isExchange() && failed(start(group, position))))
      return failure();
    for (Value result : group.getResults()) {
      live[result] = slotOf(result);
      // New values of variables and results of the entry are read by whoever comes after the step.
      if (newValues.contains(result) || slotOf(result).getArena() == resultArena)
        lastUse[result] = INT64_MAX;
      else
        lastUse.try_emplace(result, position);
    }
    return success();
  }

  LogicalResult start(dl::GroupOp collective, int64_t position) {
    FailureOr<SmallVector<dl::SlotAttr>> written = underWay.start(collective);
    if (failed(written))
      return failure();
    for (dl::SlotAttr slot : *written)
      for (auto &[value, other] : live)
        if (overlap(slot, other) && lastUse.lookup(value) > position)
          return error(collective, slot, value, "is needed later");
    return success();
  }

  /// A slot that belongs to a variable holds only that variable's new value.
  LogicalResult checkState(Value result, dl::SlotAttr slot) {
    for (auto &[name, variable] : variables)
      if (variable.getSlotAttr() && overlap(variable.getSlotAttr(), slot) && newValues.lookup(result) != name)
        return result.getDefiningOp()->emitOpError("expects not to overwrite @") << name.getValue() << ", got " << slot;
    return success();
  }

  LogicalResult checkLive(dl::GroupOp group, int64_t result, dl::SlotAttr slot, int64_t position) {
    for (auto &[value, other] : live) {
      if (!overlap(slot, other))
        continue;
      if (result < 0 || lastUse.lookup(value) > position)
        return error(group, slot, value, "is needed later");
      if (slot != other)
        return error(group, slot, value, "lies elsewhere in it");
      int64_t input = group.getInPlace() ? (*group.getInPlace())[result] : -1;
      unsigned uses = llvm::count_if(group.getInputs(), [&](Value v) { return bytesOf(v) == value; });
      if (input < 0 || bytesOf(group.getInputs()[input]) != value || uses != 1)
        return error(group, slot, value, "is not its in_place input alone");
      auto from = cast<RankedTensorType>(group.getInputs()[input].getType());
      auto to = cast<RankedTensorType>(group.getResult(result).getType());
      bool keepsBytes = group.isExchange() && input == result; // UnderWay checks the rest
      if (from.getShape() != to.getShape() || (!keepsBytes && LaneWalk(group).readsElsewhere(result, input)))
        return error(group, slot, value, "is read by other lanes");
    }
    return success();
  }

  static LogicalResult error(dl::GroupOp group, dl::SlotAttr slot, Value value, StringRef why) {
    InFlightDiagnostic diagnostic = group.emitOpError("expects bytes no one reads, got ")
                                    << slot << ", where a value " << why;
    diagnostic.attachNote(value.getLoc()) << "the value";
    return diagnostic;
  }

  func::FuncOp function;
  Block &block;
  DenseMap<Value, int64_t> lastUse;
  llvm::MapVector<Value, dl::SlotAttr> live;
  llvm::MapVector<StringAttr, dl::VariableOp> variables;
  DenseMap<Value, StringAttr> newValues;
  UnderWay underWay;
};

struct CheckPlanPass : passes::impl::CheckPlanPassBase<CheckPlanPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(EntryCheck(function).run()))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
