#include "CollectiveOrder.h"
#include "Placement.h"

#include "dlc/ir/Constant.h"
#include "dlc/ir/Storage.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

namespace {

/// Which group writes each variable and result, and what must run before what.
class StatePlacer {
public:
  StatePlacer(Block &block, unsigned carried) : block(block), carried(carried) {
    for (auto variable : block.getParentOp()->getParentOfType<ModuleOp>().getOps<dl::VariableOp>())
      variables[variable.getSymNameAttr()] = variable;
    for (auto read : block.getOps<dl::ReadOp>())
      reads[read.getVariableAttr().getAttr()] = read;
  }

  LogicalResult place();
  void schedule();
  FixedSlots takeSlots() { return std::move(slots); }

private:
  /// Gives each operand of an in-place collective bytes of its own.
  void reserveOperands();
  void reserve(OpOperand &operand);
  /// Whoever else reads such an operand does so before the collective starts, or the collective takes a copy.
  void orderBeforeCollectives();
  LogicalResult placeWrite(dl::WriteOp write);
  void placeCarried(Operation *terminator, unsigned index);
  void placeResult(Operation *terminator, unsigned index);
  /// Whether `value`'s root is a group's result no one has claimed yet.
  bool isClaimable(Value value) const;
  /// Lets the group that makes `root` write it to `slot` after all readers of the old value there, which may be null;
  /// false if one must run later.
  bool claim(Value root, Value old, dl::SlotAttr slot);
  bool canPrecede(ArrayRef<dl::GroupOp> readers, dl::GroupOp writer) const;
  Value addCopy(Value value, Location location);
  Value addCopyBefore(Operation *position, Value value, Location location);
  /// A copy reads `value`: before the group that overwrites it, if it lies in a variable.
  bool orderBeforeOverwrite(Value value, dl::GroupOp copy);
  SmallVector<Operation *> successorsOf(Operation *op) const;
  int64_t growth(dl::GroupOp group, const DenseMap<Value, unsigned> &remaining) const;

  Block &block;
  unsigned carried;
  DenseMap<StringAttr, dl::VariableOp> variables;
  DenseMap<StringAttr, dl::ReadOp> reads;
  DenseMap<Value, dl::GroupOp> writers;                  // over old values, of what is placed so far
  DenseMap<Operation *, SmallVector<Operation *>> later; // beyond uses: readers of old values -> writer
  llvm::SetVector<Value> reserved;                       // roots that collectives change in place
  FixedSlots slots;
};

SmallVector<Operation *> StatePlacer::successorsOf(Operation *op) const {
  SmallVector<Operation *> successors;
  for (Operation *user : op->getUsers())
    if (isa<dl::GroupOp>(user))
      successors.push_back(user);
  if (auto found = later.find(op); found != later.end())
    llvm::append_range(successors, found->second);
  return successors;
}

bool StatePlacer::canPrecede(ArrayRef<dl::GroupOp> readers, dl::GroupOp writer) const {
  DenseSet<Operation *> reached;
  SmallVector<Operation *> open{writer};
  while (!open.empty())
    for (Operation *next : successorsOf(open.pop_back_val()))
      if (reached.insert(next).second)
        open.push_back(next);
  return llvm::none_of(readers, [&](dl::GroupOp reader) { return reached.contains(reader); });
}

bool StatePlacer::isClaimable(Value value) const {
  Value root = rootOf(value);
  auto group = root.getDefiningOp<dl::GroupOp>();
  return group && !isInPlaceCollective(group) && !slots.contains(root) && !reserved.contains(root);
}

bool StatePlacer::claim(Value root, Value old, dl::SlotAttr slot) {
  auto writer = root.getDefiningOp<dl::GroupOp>();
  SmallVector<dl::GroupOp> readers;
  if (old)
    readers = readersOfBytes(old);
  if (!canPrecede(readers, writer))
    return false;
  if (llvm::is_contained(readers, writer)) {
    // The group reads the old value itself: only lane by lane, and through one operand.
    std::optional<unsigned> input;
    for (auto [index, value] : llvm::enumerate(writer.getInputs()))
      if (rootOf(value) == old) {
        if (input)
          return false;
        input = index;
      }
    if (!canTakeOver(writer, cast<OpResult>(root).getResultNumber(), *input))
      return false;
  }
  for (dl::GroupOp reader : readers)
    if (reader != writer)
      later[reader].push_back(writer);
  if (old)
    writers[old] = writer;
  slots[root] = slot;
  return true;
}

Value StatePlacer::addCopy(Value value, Location location) {
  Operation *position = block.getTerminator();
  for (Operation &op : block)
    if (isa<dl::WriteOp>(op)) {
      position = &op;
      break;
    }
  return addCopyBefore(position, value, location);
}

Value StatePlacer::addCopyBefore(Operation *position, Value value, Location location) {
  OpBuilder builder(position);
  return createCopy(builder, value, location);
}

bool StatePlacer::orderBeforeOverwrite(Value value, dl::GroupOp copy) {
  dl::GroupOp writer = writers.lookup(rootOf(value));
  if (!writer || writer == copy)
    return true;
  if (!canPrecede({copy}, writer))
    return false;
  later[copy].push_back(writer);
  return true;
}

void StatePlacer::reserveOperands() {
  for (auto group : llvm::make_early_inc_range(block.getOps<dl::GroupOp>()))
    if (isInPlaceCollective(group))
      for (OpOperand &operand : group->getOpOperands())
        reserve(operand);
}

void StatePlacer::reserve(OpOperand &operand) {
  Value root = rootOf(operand.get());
  auto producer = root.getDefiningOp<dl::GroupOp>();
  if (!producer || producer.isExchange() || reserved.contains(root)) {
    operand.set(addCopyBefore(operand.getOwner(), operand.get(), operand.getOwner()->getLoc()));
    root = operand.get();
  }
  reserved.insert(root);
}

void StatePlacer::orderBeforeCollectives() {
  for (auto collective : llvm::make_early_inc_range(block.getOps<dl::GroupOp>())) {
    if (!isInPlaceCollective(collective))
      continue;
    for (OpOperand &operand : collective->getOpOperands()) {
      SmallVector<dl::GroupOp> others = readersOfBytes(rootOf(operand.get()));
      llvm::erase_if(others, [&](dl::GroupOp reader) {
        return reader == collective || llvm::is_contained(waitsOf(collective), reader);
      });
      if (others.empty())
        continue;
      if (!canPrecede(others, collective)) {
        reserved.remove(rootOf(operand.get()));
        operand.set(addCopyBefore(collective, operand.get(), collective.getLoc()));
        reserved.insert(operand.get());
        continue;
      }
      for (dl::GroupOp reader : others)
        later[reader].push_back(collective);
    }
  }
}

LogicalResult StatePlacer::placeWrite(dl::WriteOp write) {
  StringAttr name = write.getVariableAttr().getAttr();
  dl::SlotAttr slot = variables.lookup(name).getSlotAttr();
  if (!slot)
    return write.emitOpError("expects a variable with a slot, got ")
           << write.getVariableAttr() << "; run dl-layout-state";
  dl::ReadOp read = reads.lookup(name);
  Value value = write.getValue(), old = read ? read.getValue() : Value();
  if (isClaimable(value) && claim(rootOf(value), old, slot))
    return success();
  Value copy = addCopy(value, write.getLoc());
  bool ordered = claim(copy, old, slot) && orderBeforeOverwrite(value, copy.getDefiningOp<dl::GroupOp>());
  if (!ordered) {
    // Variables exchange their values: the first goes through the activation arena.
    slots.erase(copy);
    Value first = addCopy(value, write.getLoc());
    first.getDefiningOp()->moveBefore(copy.getDefiningOp());
    copy.getDefiningOp()->setOperand(0, first);
    later.erase(copy.getDefiningOp());
    orderBeforeOverwrite(value, first.getDefiningOp<dl::GroupOp>());
    claim(copy, old, slot);
  }
  write.setOperand(copy);
  return success();
}

void StatePlacer::placeCarried(Operation *terminator, unsigned index) {
  Value value = terminator->getOperand(index), old = block.getArgument(index);
  if (!isClaimable(value) || !claim(rootOf(value), old, slotOf(old)))
    placeResult(terminator, index);
}

void StatePlacer::placeResult(Operation *terminator, unsigned index) {
  Value value = terminator->getOperand(index);
  auto slot =
      dl::SlotAttr::get(block.getParentOp()->getContext(), resultArena, index, dl::getStorageBytes(value.getType()));
  if (isClaimable(value)) {
    slots[rootOf(value)] = slot;
    return;
  }
  Value copy = addCopy(value, terminator->getLoc());
  // A result that is an old value of a variable which is overwritten before the copy can be ordered cannot occur: the
  // copy has no successors but the writer.
  orderBeforeOverwrite(value, copy.getDefiningOp<dl::GroupOp>());
  slots[copy] = slot;
  terminator->setOperand(index, copy);
}

LogicalResult StatePlacer::place() {
  reserveOperands();
  for (auto write : llvm::make_early_inc_range(block.getOps<dl::WriteOp>()))
    if (failed(placeWrite(write)))
      return failure();
  for (unsigned index = 0; index < block.getTerminator()->getNumOperands(); ++index)
    if (index < carried)
      placeCarried(block.getTerminator(), index);
    else
      placeResult(block.getTerminator(), index);
  orderBeforeCollectives();
  return success();
}

/// Bytes of activations that are live after the group and were not before; scalars, on which updates of variables wait,
/// count as none.
int64_t StatePlacer::growth(dl::GroupOp group, const DenseMap<Value, unsigned> &remaining) const {
  int64_t bytes = 0;
  if (isView(group))
    return bytes;
  for (Value result : group.getResults())
    if (!slots.contains(result) && cast<RankedTensorType>(result.getType()).getNumElements() > 1)
      bytes += dl::getSlotBytes(result.getType());
  llvm::SmallSetVector<Value, 8> roots;
  for (Value input : group.getInputs())
    roots.insert(rootOf(input));
  for (Value root : roots)
    if (root.getDefiningOp<dl::GroupOp>() && !slots.contains(root) && remaining.lookup(root) == 1)
      bytes -= dl::getSlotBytes(root.getType());
  return bytes;
}

void StatePlacer::schedule() {
  SmallVector<dl::GroupOp> groups(block.getOps<dl::GroupOp>());
  DenseMap<Operation *, unsigned> waiting;
  DenseMap<Value, unsigned> remaining; // readers of a root's bytes still to come
  for (dl::GroupOp group : groups) {
    for (Operation *next : successorsOf(group))
      ++waiting[next];
    for (Value result : group.getResults())
      if (rootOf(result) == result)
        remaining[result] = readersOfBytes(result).size();
  }
  std::vector<unsigned> ready; // ascending: program order
  DenseMap<Operation *, unsigned> indices;
  for (auto [index, group] : llvm::enumerate(groups)) {
    indices[group] = index;
    if (!waiting.lookup(group))
      ready.push_back(index);
  }
  CollectiveOrder collectives(groups, [this](dl::GroupOp group) { return successorsOf(group); });
  Operation *position = groups.empty() ? nullptr : groups.back()->getNextNode();
  while (!ready.empty()) {
    auto next = collectives.choose(ready, [&](dl::GroupOp group) { return growth(group, remaining); });
    dl::GroupOp group = groups[*next];
    ready.erase(next);
    group->moveBefore(position);
    for (Value root : rootsReadBy(group))
      if (auto found = remaining.find(root); found != remaining.end())
        --found->second;
    for (Operation *successor : successorsOf(group))
      if (--waiting[successor] == 0)
        ready.insert(llvm::lower_bound(ready, indices[successor]), indices[successor]);
  }
}

} // namespace

FailureOr<FixedSlots> dlc::passes::placeState(Block &block, unsigned carried) {
  StatePlacer placer(block, carried);
  if (failed(placer.place()))
    return failure();
  placer.schedule();
  return placer.takeSlots();
}
