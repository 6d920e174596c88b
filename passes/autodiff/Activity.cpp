#include "dlc/passes/Activity.h"

#include "dlc/ir/Dl.h"

using namespace mlir;
using namespace dlc::passes;

Activity::Activity(Value loss) : Activity(ValueRange(loss), loss.getDefiningOp()) {}

Activity::Activity(ValueRange losses, Operation *last) {
  for (Value loss : losses)
    next.try_emplace(loss, nullptr);
  for (Operation *op = last; op; op = op->getPrevNode())
    visit(op);
}

void Activity::visit(Operation *op) {
  if (llvm::none_of(op->getResults(), [&](Value result) { return influences(result); }))
    return;
  for (OpOperand &operand : op->getOpOperands())
    if (carriesDerivative(op, operand.getOperandNumber()))
      next.try_emplace(operand.get(), op);
}

SmallVector<Operation *> Activity::pathToLoss(Value value) const {
  SmallVector<Operation *> path;
  while (Operation *op = next.lookup(value)) {
    path.push_back(op);
    value = *llvm::find_if(op->getResults(), [&](Value result) { return influences(result); });
  }
  return path;
}

void Activity::replace(Operation *op, Operation *before, ValueRange values) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values)) {
    auto found = next.find(result);
    if (found == next.end())
      continue;
    Operation *towards = found->second;
    next.erase(found);
    next.try_emplace(value, towards);
  }
  for (Operation *added = op->getPrevNode(); added != before; added = added->getPrevNode())
    visit(added);
  for (Value operand : op->getOperands())
    forget(operand, op);
}

// Lets a value that led through `op` lead through another user, if it still has one on the way.
void Activity::forget(Value value, Operation *op) {
  auto found = next.find(value);
  if (found == next.end() || found->second != op)
    return;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user != op && carriesDerivative(user, use.getOperandNumber()) &&
        llvm::any_of(user->getResults(), [&](Value result) { return influences(result); })) {
      found->second = user;
      return;
    }
  }
  next.erase(found);
}
