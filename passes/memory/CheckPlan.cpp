#include "Placement.h"
#include "UnderWay.h"

#include "dlc/ir/Control.h"
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
    if (dl::ControlOpInterface control = controlOf(group))
      return !isCarried(control, result, input);
    argument = group.getBody().front().getArgument(input);
    for (Value value : group.getBody().front().getTerminator()->getOperands())
      if (pull(value, /*elsewhere=*/false))
        return true;
    return false;
  }

private:
  /// Every step reads the carried value from where the step before wrote it: that may be where the first one is.
  bool isCarried(dl::ControlOpInterface control, unsigned result, unsigned input) {
    unsigned first = control->getNumOperands() - control->getRegion(0).getNumArguments();
    return result < control.getNumCarried() && control.getBufferOffsets()[result] < 0 &&
           llvm::count(control->getOperands(), group.getBody().front().getArgument(input)) == 1 &&
           control->getOperand(first + result) == group.getBody().front().getArgument(input);
  }

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
    if (auto barrier = inside.getDefiningOp<dl::BarrierValueOp>()) {
      inside = barrier.getX();
      moved = true;
    }
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

/// Checks an entry, or a region that runs in `bytes` of its group's workspace.
class EntryCheck {
public:
  explicit EntryCheck(Block &block, dl::ControlOpInterface control = {}, int64_t bytes = INT64_MAX)
      : block(block), control(control), bytes(bytes) {}

  LogicalResult run() {
    for (auto [position, op] : llvm::enumerate(block)) {
      bool isRenaming = isa<dl::GroupOp>(op) && bytesOf(op.getResult(0)) != op.getResult(0);
      if (!isRenaming)
        for (Value operand : op.getOperands())
          lastUse[bytesOf(operand)] = position;
    }
    for (Value argument : block.getArguments()) {
      live[argument] = slotOf(argument);
      lastUse.try_emplace(argument, -1);
    }
    for (auto read : block.getOps<dl::ReadOp>())
      live[read.getValue()] = slotOf(read.getValue());
    for (auto variable : block.getParentOp()->getParentOfType<ModuleOp>().getOps<dl::VariableOp>())
      variables[variable.getSymNameAttr()] = variable;
    for (auto write : block.getOps<dl::WriteOp>())
      if (failed(checkWrite(write)))
        return failure();
    for (unsigned index = 0; index < block.getTerminator()->getNumOperands(); ++index)
      if (failed(checkResult(index)))
        return failure();
    if (failed(checkSecondBuffers()))
      return failure();
    for (auto [position, op] : llvm::enumerate(block))
      if (auto group = dyn_cast<dl::GroupOp>(op))
        if (failed(checkGroup(group, position)))
          return failure();
    return underWay.checkNone();
  }

private:
  ArrayRef<int64_t> secondBuffers() { return control ? control.getBufferOffsets() : ArrayRef<int64_t>(); }

  /// In its own slot, or in that of the carried argument.
  LogicalResult checkResult(unsigned index) {
    Value value = block.getTerminator()->getOperand(index);
    dl::SlotAttr slot = slotOf(value);
    bool inPlace = index < secondBuffers().size() && secondBuffers()[index] < 0;
    if (inPlace)
      carriedInPlace[bytesOf(value)] = index;
    StringRef arena = inPlace ? argumentArena : resultArena;
    if (!slot || slot.getArena() != arena || slot.getOffset() != int64_t(index))
      return block.getTerminator()->emitOpError("expects result ") << index << " in its own slot, got " << slot;
    return success();
  }

  LogicalResult checkSecondBuffers() {
    for (auto [index, offset] : llvm::enumerate(secondBuffers())) {
      if (offset < 0)
        continue;
      auto slot = dl::SlotAttr::get(control.getContext(), activationArena, offset,
                                    dl::getStorageBytes(block.getArgument(index).getType()));
      if (failed(checkInside(control, slot)))
        return failure();
      reserved.push_back(slot);
    }
    return success();
  }

  LogicalResult checkInside(Operation *op, dl::SlotAttr slot) {
    if (slot.getArena() != activationArena || (slot.getOffset() >= 0 && slot.getOffset() + slot.getBytes() <= bytes))
      return success();
    return op->emitOpError("expects a slot in the ") << bytes << " bytes of its region, got " << slot;
  }

  LogicalResult checkRegions(dl::GroupOp group) {
    dl::ControlOpInterface inner = controlOf(group);
    if (!inner)
      return success();
    if (inner.getBufferOffsets().size() != inner.getNumCarried())
      return inner.emitOpError("expects a second buffer or -1 for each carried value; run dl-plan-memory");
    int64_t room = group.getWorkspaceAttr() ? group.getWorkspaceAttr().getBytes() : 0;
    for (Region &region : inner->getRegions())
      if (failed(EntryCheck(region.front(), inner, room).run()))
        return failure();
    return success();
  }

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
      if (failed(checkState(result, slot)) || failed(checkInside(group, slot)) ||
          failed(checkLive(group, result.getResultNumber(), slot, position)))
        return failure();
      written.push_back(slot);
    }
    if (dl::SlotAttr workspace = group.getWorkspaceAttr()) {
      if (failed(checkInside(group, workspace)) || failed(checkLive(group, -1, workspace, position)))
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
      // New values of variables and results are read by whoever comes after the step.
      if (newValues.contains(result) || carriedInPlace.contains(result) || slotOf(result).getArena() == resultArena)
        lastUse[result] = INT64_MAX;
      else
        lastUse.try_emplace(result, position);
    }
    return checkRegions(group);
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

  /// A slot that belongs to a variable holds only that variable's new value, and one of an argument its next value.
  LogicalResult checkState(Value result, dl::SlotAttr slot) {
    if (slot.getArena() == argumentArena) {
      auto carried = carriedInPlace.find(result);
      if (carried == carriedInPlace.end() || int64_t(carried->second) != slot.getOffset())
        return result.getDefiningOp()->emitOpError("expects not to overwrite an argument, got ") << slot;
    }
    for (auto &[name, variable] : variables)
      if (variable.getSlotAttr() && overlap(variable.getSlotAttr(), slot) && newValues.lookup(result) != name)
        return result.getDefiningOp()->emitOpError("expects not to overwrite @") << name.getValue() << ", got " << slot;
    return success();
  }

  LogicalResult checkLive(dl::GroupOp group, int64_t result, dl::SlotAttr slot, int64_t position) {
    for (dl::SlotAttr other : reserved)
      if (overlap(slot, other))
        return group.emitOpError("expects bytes apart from the second buffer of a carried value, got ") << slot;
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

  Block &block;
  dl::ControlOpInterface control;
  int64_t bytes;
  SmallVector<dl::SlotAttr> reserved;
  DenseMap<Value, unsigned> carriedInPlace; // bytes of the next value -> argument
  DenseMap<Value, int64_t> lastUse;
  llvm::MapVector<Value, dl::SlotAttr> live;
  llvm::MapVector<StringAttr, dl::VariableOp> variables;
  DenseMap<Value, StringAttr> newValues;
  UnderWay underWay;
};

struct CheckPlanPass : passes::impl::CheckPlanPassBase<CheckPlanPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(EntryCheck(function.getBody().front()).run()))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
