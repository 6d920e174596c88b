#include "UnderWay.h"

#include "Placement.h"

#include "dlc/ir/Collective.h"
#include "dlc/ir/Storage.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

bool dlc::passes::overlap(dl::SlotAttr a, dl::SlotAttr b) {
  if (a.getArena() != b.getArena())
    return false;
  if (a.getArena() == resultArena || a.getArena() == argumentArena)
    return a.getOffset() == b.getOffset(); // an index
  return a.getOffset() < b.getOffset() + b.getBytes() && b.getOffset() < a.getOffset() + a.getBytes();
}

static SmallVector<dl::SlotAttr> slotsOf(ValueRange values) {
  return llvm::map_to_vector(values, [](Value value) { return slotOf(value); });
}

static bool touches(dl::SlotAttr slot, ArrayRef<dl::SlotAttr> others) {
  return llvm::any_of(others, [&](dl::SlotAttr other) { return overlap(slot, other); });
}

static bool isWait(Operation *op) {
  auto group = dyn_cast<dl::GroupOp>(op);
  return group && group.getKind() == dl::GroupKind::Wait;
}

FailureOr<SmallVector<dl::SlotAttr>> UnderWay::start(dl::GroupOp collective) {
  SmallVector<dl::SlotAttr> reads = slotsOf(collective.getInputs()), writes = slotsOf(collective.getResults());
  if (collective.getCollective().getCollectiveKind() == dl::CollectiveKind::AllReduce) {
    if (reads != writes)
      return collective.emitOpError("expects to leave its results in its operands' bytes");
    for (auto [before, next] : llvm::zip(writes, ArrayRef(writes).drop_front()))
      if (next.getArena() != before.getArena() ||
          next.getOffset() != int64_t(llvm::alignTo(before.getOffset() + before.getBytes(), dl::slotAlignment)))
        return collective.emitOpError("expects operands one behind the other, got ") << before << " and " << next;
    // The gaps travel too.
    writes = {dl::SlotAttr::get(collective.getContext(), writes.front().getArena(), writes.front().getOffset(),
                                writes.back().getOffset() + writes.back().getBytes() - writes.front().getOffset())};
    reads = writes;
  }
  if (llvm::any_of(collective->getUsers(), isWait))
    exchanges.push_back({collective, std::move(reads), writes});
  return writes;
}

void UnderWay::end(dl::GroupOp wait) {
  llvm::erase_if(exchanges, [&](const Exchange &exchange) {
    return llvm::any_of(wait.getInputs(), [&](Value value) { return value.getDefiningOp() == exchange.group; });
  });
}

LogicalResult UnderWay::check(dl::GroupOp group, ArrayRef<dl::SlotAttr> reads, ArrayRef<dl::SlotAttr> writes) const {
  auto error = [&](dl::SlotAttr slot, StringRef what, dl::GroupOp collective) {
    InFlightDiagnostic diagnostic = group.emitOpError("expects to ")
                                    << what << " no bytes between the start and the wait of a collective, got " << slot;
    diagnostic.attachNote(collective.getLoc()) << "the collective";
    return failure();
  };
  for (const Exchange &exchange : exchanges) {
    for (dl::SlotAttr slot : reads)
      if (touches(slot, exchange.writes))
        return error(slot, "read", exchange.group);
    for (dl::SlotAttr slot : writes)
      if (touches(slot, exchange.writes) || touches(slot, exchange.reads))
        return error(slot, "write", exchange.group);
  }
  return success();
}

LogicalResult UnderWay::checkNone() const {
  if (exchanges.empty())
    return success();
  dl::GroupOp collective = exchanges.front().group;
  return collective.emitOpError("expects its wait behind it");
}
