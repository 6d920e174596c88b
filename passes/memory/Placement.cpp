#include "Placement.h"

#include "dlc/ir/Collective.h"
#include "dlc/ir/Constant.h"
#include "dlc/ir/Control.h"
#include "dlc/ir/Storage.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

bool dlc::passes::isView(dl::GroupOp group) {
  if (group.isExchange())
    return group.getKind() == dl::GroupKind::Wait;
  Block &body = group.getBody().front();
  if (isa<dl::BarrierValueOp>(body.front()))
    return true;
  if (group.getInputs().size() != 1 || group.getNumResults() != 1)
    return false;
  return !body.without_terminator().empty() && llvm::all_of(body.without_terminator(), [](Operation &op) {
    auto map = dyn_cast<dl::IndexMapOpInterface>(op);
    return map && map.keepsOrder() && op.getNumOperands() == 1;
  });
}

bool dlc::passes::isCopy(dl::GroupOp group) {
  Block &body = group.getBody().front();
  return group.getInputs().size() == 1 && group.getNumResults() == 1 && body.without_terminator().empty();
}

Value dlc::passes::createCopy(OpBuilder &builder, Value value, Location location) {
  auto type = cast<RankedTensorType>(value.getType());
  auto copy = dl::GroupOp::create(builder, location, TypeRange(type), value, dl::GroupKind::Pointwise, type.getShape(),
                                  ArrayAttr(), DenseI64ArrayAttr(), dl::SlotAttr());
  Block &body = copy.getBody().emplaceBlock();
  builder.setInsertionPointToStart(&body);
  dl::YieldOp::create(builder, location, ValueRange(body.addArgument(type, location)));
  return copy.getResult(0);
}

dl::ControlOpInterface dlc::passes::controlOf(dl::GroupOp group) {
  if (group.getKind() != dl::GroupKind::Control)
    return {};
  return cast<dl::ControlOpInterface>(group.getBody().front().front());
}

Value dlc::passes::operandOf(dl::GroupOp group, BlockArgument argument) {
  Operation *op = argument.getOwner()->getParentOp();
  unsigned first = op->getNumOperands() - argument.getOwner()->getNumArguments();
  return group.getInputs()[cast<BlockArgument>(op->getOperand(first + argument.getArgNumber())).getArgNumber()];
}

// A carried value that is updated in place, and is passed in only once.
static bool carriesInPlace(dl::ControlOpInterface control, unsigned result, BlockArgument input) {
  ArrayRef<int64_t> offsets = control.getBufferOffsets();
  unsigned first = control->getNumOperands() - control->getRegion(0).getNumArguments();
  return result < offsets.size() && offsets[result] < 0 && input.hasOneUse() &&
         control->getOperand(first + result) == input;
}

Value dlc::passes::rootOf(Value value) {
  for (;;) {
    auto group = value.getDefiningOp<dl::GroupOp>();
    if (!group || !isView(group))
      return value;
    value = group.getInputs()[cast<OpResult>(value).getResultNumber()];
  }
}

SmallVector<dl::GroupOp> dlc::passes::readersOfBytes(Value root) {
  llvm::SetVector<Operation *> readers;
  SmallVector<Value> open{root};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      auto group = dyn_cast<dl::GroupOp>(use.getOwner());
      if (!group)
        continue;
      if (isView(group)) {
        if (use.getOperandNumber() < group.getNumResults()) // else only waited for
          open.push_back(group.getResult(use.getOperandNumber()));
        continue;
      }
      readers.insert(group);
      if (group.isExchange())
        readers.insert_range(waitsOf(group));
    }
  }
  return llvm::map_to_vector(readers, [](Operation *op) { return cast<dl::GroupOp>(op); });
}

SmallVector<Value> dlc::passes::rootsReadBy(dl::GroupOp group) {
  llvm::SmallSetVector<Value, 8> roots;
  if (group.getKind() == dl::GroupKind::Wait) {
    for (dl::GroupOp collective : collectivesOf(group))
      for (Value input : collective.getInputs())
        roots.insert(rootOf(input));
  } else if (!isView(group)) {
    for (Value input : group.getInputs())
      roots.insert(rootOf(input));
  }
  return roots.takeVector();
}

SmallVector<dl::GroupOp> dlc::passes::waitsOf(dl::GroupOp collective) {
  llvm::SetVector<dl::GroupOp> waits;
  for (Operation *user : collective->getUsers())
    if (auto group = dyn_cast<dl::GroupOp>(user); group && group.getKind() == dl::GroupKind::Wait)
      waits.insert(group);
  return waits.takeVector();
}

SmallVector<dl::GroupOp> dlc::passes::collectivesOf(dl::GroupOp wait) {
  llvm::SetVector<dl::GroupOp> collectives;
  for (Value input : wait.getInputs())
    if (auto group = input.getDefiningOp<dl::GroupOp>(); group && group.getKind() == dl::GroupKind::Collective)
      collectives.insert(group);
  return collectives.takeVector();
}

bool dlc::passes::isInPlaceCollective(dl::GroupOp group) {
  return group.getKind() == dl::GroupKind::Collective &&
         group.getCollective().getCollectiveKind() == dl::CollectiveKind::AllReduce;
}

bool dlc::passes::canTakeOver(dl::GroupOp group, unsigned result, unsigned input) {
  if (group.getKind() == dl::GroupKind::Horizontal) {
    // The part that writes the result alone reads the input, once.
    auto inside = cast<OpResult>(group.getBody().front().getTerminator()->getOperand(result));
    auto part = cast<dl::GroupOp>(inside.getOwner());
    BlockArgument argument = group.getBody().front().getArgument(input);
    return argument.hasOneUse() && *argument.user_begin() == part &&
           canTakeOver(part, inside.getResultNumber(), argument.use_begin()->getOperandNumber());
  }
  if (dl::ControlOpInterface control = controlOf(group))
    return carriesInPlace(control, result, group.getBody().front().getArgument(input));
  bool isRow = group.getKind() == dl::GroupKind::Row;
  if (!isRow && group.getKind() != dl::GroupKind::Pointwise && group.getKind() != dl::GroupKind::Column)
    return false;
  Value argument = group.getBody().front().getArgument(input);
  auto from = cast<RankedTensorType>(argument.getType()),
       to = cast<RankedTensorType>(group.getResult(result).getType());
  if (from.getShape() != to.getShape() ||
      dl::getElementBytes(from.getElementType()) != dl::getElementBytes(to.getElementType()))
    return false;
  bool inDomain = from.getShape() == group.getDomain();
  DenseSet<Value> seen;
  SmallVector<Value> open{argument};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (isa<dl::YieldOp>(user) || (isRow && inDomain && isa<dl::ReductionOpInterface>(user)))
        continue;
      if (!isa<dl::ScalarBodyOpInterface>(user))
        return false;
      open.push_back(user->getResult(0));
    }
  }
  return true;
}

dl::SlotAttr dlc::passes::slotOf(Value value) {
  int64_t bytes = dl::getStorageBytes(value.getType());
  if (auto argument = dyn_cast<BlockArgument>(value))
    return dl::SlotAttr::get(value.getContext(), argumentArena, argument.getArgNumber(), bytes);
  if (auto read = value.getDefiningOp<dl::ReadOp>()) {
    auto variable = SymbolTable::lookupNearestSymbolFrom<dl::VariableOp>(read, read.getVariableAttr());
    return variable.getSlotAttr();
  }
  if (auto group = value.getDefiningOp<dl::GroupOp>()) {
    if (!group.getSlots())
      return {};
    return dyn_cast<dl::SlotAttr>((*group.getSlots())[cast<OpResult>(value).getResultNumber()]);
  }
  return value.getDefiningOp()->getAttrOfType<dl::SlotAttr>("dl.slot");
}
