#include "memory/Placement.h"

#include "dlc/ir/Storage.h"
#include "dlc/passes/Passes.h"
#include <map>
#include <set>

// Before:  %0 = dl.group kind(pointwise) [4] (%a = %p : tensor<4xf32>, %b = %lr : tensor<f32>) -> tensor<4xf32> { … }
//          %1 = dl.group kind(pointwise) [9] (%a = %q : tensor<9xf32>, %b = %lr : tensor<f32>) -> tensor<9xf32> { … }
// After:   %0:2 = dl.group kind(horizontal) [] (%a = %p : tensor<4xf32>, %b = %lr : tensor<f32>, %c = %q :
// tensor<9xf32>)
//              -> (tensor<4xf32>, tensor<9xf32>) {
//            %2 = dl.group kind(pointwise) [4] (%d = %a : tensor<4xf32>, %e = %b : tensor<f32>) -> tensor<4xf32> { … }
//            %3 = dl.group kind(pointwise) [9] (%d = %c : tensor<9xf32>, %e = %b : tensor<f32>) -> tensor<9xf32> { … }
//            dl.yield %2, %3 : tensor<4xf32>, tensor<9xf32>
//          }

namespace dlc::passes {
#define GEN_PASS_DEF_FUSEHORIZONTALPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

/// Bytes a part may move: above, its kernel takes longer than its launch.
static constexpr int64_t maxMovedBytes = 1 << 20;
/// Bytes that lie in memory longer because their readers, or writers, wait for each other: so much may a peak grow.
static constexpr int64_t maxHeldBytes = 256 << 10;
/// Operands of a kernel: a GPU takes 4 KiB of them.
static constexpr size_t maxOperands = 128;
/// Parts of a kernel: its code grows with them.
static constexpr size_t maxParts = 16;

namespace {

/// Which groups must run before which: producers before readers, readers of a variable's old value before its writer.
class GroupOrder {
public:
  explicit GroupOrder(Block &block) {
    for (auto read : block.getOps<dl::ReadOp>())
      reads[read.getVariableAttr().getAttr()] = read;
    for (auto write : block.getOps<dl::WriteOp>())
      writes[write.getVariableAttr().getAttr()] = write;
  }

  SmallVector<Operation *> successorsOf(dl::GroupOp group) const {
    SmallVector<Operation *> next;
    for (Operation *user : group->getUsers())
      if (isa<dl::GroupOp>(user))
        next.push_back(user);
    for (Value input : group.getInputs())
      if (auto read = rootOf(input).getDefiningOp<dl::ReadOp>())
        if (dl::WriteOp write = writes.lookup(read.getVariableAttr().getAttr()))
          addGroup(rootOf(write.getValue()).getDefiningOp(), group, next);
    return next;
  }

  SmallVector<Operation *> predecessorsOf(dl::GroupOp group) const {
    SmallVector<Operation *> previous;
    for (Value input : group.getInputs())
      addGroup(input.getDefiningOp(), group, previous);
    for (Value result : group.getResults())
      addReadersOfOld(result, group, previous);
    return previous;
  }

private:
  static void addGroup(Operation *op, dl::GroupOp besides, SmallVectorImpl<Operation *> &list) {
    if (isa_and_present<dl::GroupOp>(op) && op != besides)
      list.push_back(op);
  }

  void addReadersOfOld(Value value, dl::GroupOp writer, SmallVectorImpl<Operation *> &list) const {
    for (OpOperand &use : value.getUses()) {
      if (auto view = dyn_cast<dl::GroupOp>(use.getOwner()); view && isView(view)) {
        if (use.getOperandNumber() < view.getNumResults()) // else only waited for
          addReadersOfOld(view.getResult(use.getOperandNumber()), writer, list);
      } else if (auto write = dyn_cast<dl::WriteOp>(use.getOwner()))
        if (dl::ReadOp read = reads.lookup(write.getVariableAttr().getAttr()))
          for (dl::GroupOp reader : readersOfBytes(read.getValue()))
            addGroup(reader, writer, list);
    }
  }

  DenseMap<StringAttr, dl::ReadOp> reads;
  DenseMap<StringAttr, dl::WriteOp> writes;
};

/// Which collectives come before a group. Groups that share a kernel wait for the same ones: an update goes on while
/// gradients of other buckets are still under way.
class CollectivesBefore {
public:
  explicit CollectivesBefore(Block &block) {
    DenseMap<Operation *, std::set<unsigned>> before;
    unsigned count = 0;
    for (auto group : block.getOps<dl::GroupOp>()) {
      std::set<unsigned> all;
      for (Value input : group.getInputs())
        if (auto known = before.find(input.getDefiningOp()); known != before.end())
          all.insert(known->second.begin(), known->second.end());
      if (group.getKind() == dl::GroupKind::Collective)
        all.insert(count++);
      if (all.empty())
        continue;
      setOf[group] = numbers.try_emplace(all, numbers.size() + 1).first->second;
      before[group] = std::move(all);
    }
  }

  bool any() const { return !setOf.empty(); }
  /// Number of the group's set, 0 for none.
  unsigned operator()(dl::GroupOp group) const { return setOf.lookup(group); }

private:
  std::map<std::set<unsigned>, unsigned> numbers;
  DenseMap<Operation *, unsigned> setOf;
};

/// Independent groups, in program order, that are to share a kernel.
class Batch {
public:
  explicit Batch(const GroupOrder &order) : order(&order) {}

  ArrayRef<dl::GroupOp> getParts() const { return parts; }
  /// No path leads from the group to a part or back.
  bool isIndependentOf(dl::GroupOp group) const { return !after.contains(group) && !before.contains(group); }

  bool hasRoomFor(dl::GroupOp group, int64_t bytes) const {
    SmallVector<Value> fresh(group.getInputs());
    llvm::erase_if(fresh, [&](Value input) { return inputs.contains(input); });
    return parts.size() < maxParts && held + bytes <= maxHeldBytes &&
           inputs.size() + fresh.size() + results + group.getNumResults() <= maxOperands;
  }

  void add(dl::GroupOp group, int64_t bytes) {
    parts.push_back(group);
    inputs.insert(group.getInputs().begin(), group.getInputs().end());
    results += group.getNumResults();
    held += bytes;
    reach(group, after, [&](dl::GroupOp from) { return order->successorsOf(from); });
    reach(group, before, [&](dl::GroupOp from) { return order->predecessorsOf(from); });
  }

private:
  static void reach(dl::GroupOp from, DenseSet<Operation *> &reached,
                    llvm::function_ref<SmallVector<Operation *>(dl::GroupOp)> next) {
    SmallVector<dl::GroupOp> open{from};
    while (!open.empty())
      for (Operation *op : next(open.pop_back_val()))
        if (reached.insert(op).second)
          open.push_back(cast<dl::GroupOp>(op));
  }

  const GroupOrder *order;
  SmallVector<dl::GroupOp> parts;
  DenseSet<Value> inputs;
  size_t results = 0;
  int64_t held = 0;
  DenseSet<Operation *> after, before;
};

/// Groups that can move to where the first, or the last, of a batch is.
enum class Side { Leading, Trailing };

class HorizontalFusion {
public:
  explicit HorizontalFusion(Block &block) : block(block), order(block), collectives(block) {}

  void run(Side side) {
    SmallVector<dl::GroupOp> groups;
    for (auto group : block.getOps<dl::GroupOp>())
      if (sideOf(group) == side && isSmall(group))
        groups.push_back(group);
    if (collectives.any())
      llvm::sort(groups, [&](dl::GroupOp a, dl::GroupOp b) {
        unsigned first = collectives(a), second = collectives(b);
        return first != second ? first < second : a->isBeforeInBlock(b);
      });
    Batch batch(order);
    for (dl::GroupOp group : groups) {
      bool waitsAlike = batch.getParts().empty() || collectives(batch.getParts().front()) == collectives(group);
      // Batches do not overlap, so that no more than one holds memory at a time.
      if (!waitsAlike || !batch.hasRoomFor(group, heldBytes(group, side))) {
        merge(batch.getParts(), side);
        batch = Batch(order);
      }
      if (batch.isIndependentOf(group) && batch.hasRoomFor(group, heldBytes(group, side)))
        batch.add(group, heldBytes(group, side));
    }
    merge(batch.getParts(), side);
  }

private:
  static std::optional<Side> sideOf(dl::GroupOp group) {
    if (llvm::none_of(group.getInputs(), [](Value input) { return input.getDefiningOp<dl::GroupOp>(); }))
      return Side::Leading;
    if (llvm::none_of(group->getUsers(), [](Operation *user) { return isa<dl::GroupOp>(user); }))
      return Side::Trailing;
    return std::nullopt;
  }

  static bool isSmall(dl::GroupOp group) {
    if (group.getKind() != dl::GroupKind::Pointwise || group.getSlots() || isView(group) || isCopy(group))
      return false;
    int64_t moved = 0;
    for (Type type : llvm::concat<const Type>(group.getOperandTypes(), group.getResultTypes()))
      moved += dl::getStorageBytes(type);
    return moved <= maxMovedBytes;
  }

  /// What waits in memory for the rest of a batch.
  static int64_t heldBytes(dl::GroupOp group, Side side) {
    int64_t bytes = 0;
    for (Value value : group->getResults())
      if (side == Side::Leading &&
          llvm::any_of(value.getUsers(), [](Operation *user) { return isa<dl::GroupOp>(user); }))
        bytes += dl::getSlotBytes(value.getType());
    for (Value value : group.getInputs())
      if (side == Side::Trailing && value.getDefiningOp<dl::GroupOp>())
        bytes += dl::getSlotBytes(value.getType());
    return bytes;
  }

  void merge(ArrayRef<dl::GroupOp> parts, Side side) {
    if (parts.size() < 2)
      return;
    dl::GroupOp place = side == Side::Leading ? parts.front() : parts.back();
    SmallVector<Location> lines;
    llvm::SetVector<Value> inputs;
    SmallVector<Type> types;
    for (dl::GroupOp part : parts) {
      lines.push_back(part.getLoc());
      inputs.insert(part.getInputs().begin(), part.getInputs().end());
      llvm::append_range(types, part.getResultTypes());
    }
    OpBuilder builder(place);
    auto merged =
        dl::GroupOp::create(builder, builder.getFusedLoc(lines), types, inputs.getArrayRef(), dl::GroupKind::Horizontal,
                            ArrayRef<int64_t>(), ArrayAttr(), DenseI64ArrayAttr(), dl::SlotAttr());
    IRMapping inside;
    Block &body = merged.getBody().emplaceBlock();
    for (Value input : inputs)
      inside.map(input, body.addArgument(input.getType(), input.getLoc()));
    builder.setInsertionPointToStart(&body);
    SmallVector<Value> yielded, replaced;
    for (dl::GroupOp part : parts) {
      llvm::append_range(yielded, builder.clone(*part, inside)->getResults());
      llvm::append_range(replaced, part.getResults());
    }
    dl::YieldOp::create(builder, merged.getLoc(), yielded);
    for (auto [old, result] : llvm::zip(replaced, merged.getResults()))
      old.replaceAllUsesWith(result);
    for (dl::GroupOp part : parts)
      part.erase();
  }

  Block &block;
  GroupOrder order;
  CollectivesBefore collectives;
};

struct FuseHorizontalPass : passes::impl::FuseHorizontalPassBase<FuseHorizontalPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && isInOrder(function.getBody().front())) {
        HorizontalFusion fusion(function.getBody().front());
        fusion.run(Side::Leading);
        fusion.run(Side::Trailing);
      }
  }

  /// Reads and constants, then groups, then writes, as dl-fuse leaves them: groups may change places.
  static bool isInOrder(Block &block) {
    bool groups = false, writes = false;
    for (Operation &op : block) {
      bool isGroup = isa<dl::GroupOp>(op), isWrite = isa<dl::WriteOp>(op);
      if ((isGroup && writes) || (groups && !isGroup && !isWrite && !op.hasTrait<OpTrait::IsTerminator>()))
        return false;
      groups |= isGroup;
      writes |= isWrite;
    }
    return true;
  }
};

} // namespace
