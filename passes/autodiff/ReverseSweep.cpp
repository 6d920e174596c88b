#include "ReverseSweep.h"

#include "dlc/ir/Elementwise.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

ReverseSweep::ReverseSweep(ValueRange losses, Operation *end, OpBuilder &builder, Options options)
    : end(end), builder(builder), options(options), activity(losses, end->getPrevNode()) {}

LogicalResult ReverseSweep::run() {
  if (failed(collectActiveOps()))
    return failure();
  for (Operation *op : llvm::reverse(activeOps))
    if (failed(visit(op)))
      return failure();
  return success();
}

bool ReverseSweep::isActive(Operation *op) const {
  return llvm::any_of(op->getResults(), [&](Value result) { return activity.influences(result); }) &&
         llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
           return active.contains(operand.get()) && carriesDerivative(op, operand.getOperandNumber());
         });
}

// Decomposing replaces ops under the sweep: it goes on at the first of the new ones, which may be composites again.
LogicalResult ReverseSweep::collectActiveOps() {
  Operation *op = &end->getBlock()->front();
  while (op != end) {
    if (!isActive(op)) {
      op = op->getNextNode();
      continue;
    }
    auto decomposable = dyn_cast<dl::DecomposableOpInterface>(op);
    bool hasRule = isa<dl::DifferentiableOpInterface>(op);
    if (decomposable && (!hasRule || options.decomposeFirst)) {
      op = decompose(decomposable);
      continue;
    }
    if (!hasRule)
      return refuse(op);
    activeOps.push_back(op);
    active.insert_range(op->getResults());
    op = op->getNextNode();
  }
  return success();
}

/// Returns the first op not yet seen.
Operation *ReverseSweep::decompose(dl::DecomposableOpInterface op) {
  Operation *before = op->getPrevNode();
  OpBuilder inPlace(op);
  SmallVector<Value> values = op.decompose(inPlace);
  activity.replace(op, before, values);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values)) {
    if (active.erase(result)) // one of those wanted
      active.insert(value);
    if (dl::Cotangent seed = cotangents.lookup(result)) {
      cotangents.erase(result);
      accumulate(op->getLoc(), value, seed);
    }
    result.replaceAllUsesWith(value);
  }
  op->erase();
  return before ? before->getNextNode() : &end->getBlock()->front();
}

LogicalResult ReverseSweep::refuse(Operation *op) {
  InFlightDiagnostic error = op->emitOpError("expects a derivative rule or a decomposition, got neither");
  for (Value result : op->getResults()) {
    if (!activity.influences(result))
      continue;
    for (Operation *towards : activity.pathToLoss(result))
      error.attachNote(towards->getLoc()) << "the loss depends on it through '" << towards->getName() << "'";
    break;
  }
  error.attachNote(options.origin) << "differentiated here";
  return error;
}

LogicalResult ReverseSweep::visit(Operation *op) {
  SmallVector<dl::Cotangent> results;
  for (Value result : op->getResults())
    results.push_back(cotangents.lookup(result));
  if (llvm::none_of(results, [](const dl::Cotangent &cotangent) { return bool(cotangent); }))
    return success();
  llvm::BitVector needs(op->getNumOperands());
  for (OpOperand &operand : op->getOpOperands())
    if (active.contains(operand.get()) && carriesDerivative(op, operand.getOperandNumber()))
      needs.set(operand.getOperandNumber());
  dl::AdjointBuilder adjoint(builder, op, results, std::move(needs), this);
  if (failed(cast<dl::DifferentiableOpInterface>(op).buildAdjoint(adjoint)))
    return op->emitOpError("expects a derivative, but its rule has none for this use");
  for (auto [operand, contribution] : adjoint.contributions()) {
    Value value = op->getOperand(operand);
    if (contribution.value.getType() != value.getType())
      return op->emitOpError("expects a derivative of type ")
             << value.getType() << " for operand " << operand << ", got " << contribution.value.getType();
    accumulate(op->getLoc(), value, contribution);
  }
  if (Operation *by = adjoint.getReplacement())
    replace(op, by);
  return success();
}

void ReverseSweep::replace(Operation *op, Operation *by) {
  for (auto [result, value] : llvm::zip(op->getResults(), by->getResults())) {
    if (auto found = cotangents.find(result); found != cotangents.end()) {
      dl::Cotangent cotangent = found->second;
      cotangents.erase(found);
      cotangents.try_emplace(value, cotangent);
    }
    result.replaceAllUsesWith(value);
  }
  op->erase();
}

// A sum is exactly 0 under a mask only where all of its terms are.
void ReverseSweep::accumulate(Location location, Value value, dl::Cotangent contribution) {
  dl::Cotangent &sum = cotangents[value];
  if (!sum) {
    sum = contribution;
    return;
  }
  sum.value = dl::AddOp::create(builder, location, sum.value, contribution.value);
  if (sum.mask && contribution.mask)
    sum.mask = dl::OrOp::create(builder, location, sum.mask, contribution.mask);
  else
    sum.mask = {};
}

FailureOr<SmallVector<Value>> ReverseSweep::differentiate(Block &forward, const llvm::BitVector &wanted,
                                                          ArrayRef<Value> seeds, Block &adjoint) {
  OpBuilder inAdjoint(builder.getContext());
  inAdjoint.setInsertionPointToEnd(&adjoint);
  Operation *yield = forward.getTerminator();
  SmallVector<Value> losses;
  for (auto [value, seed] : llvm::zip_equal(yield->getOperands(), seeds))
    if (seed)
      losses.push_back(value);
  ReverseSweep sweep(losses, yield, inAdjoint, options);
  for (unsigned i : wanted.set_bits())
    sweep.activate(forward.getArgument(i));
  // Before any op is decomposed: its results are then others.
  for (auto [value, seed] : llvm::zip_equal(yield->getOperands(), seeds))
    if (seed)
      sweep.accumulate(yield->getLoc(), value, {seed, {}});
  if (failed(sweep.run()))
    return failure();
  SmallVector<Value> found;
  for (BlockArgument argument : forward.getArguments())
    found.push_back(wanted[argument.getArgNumber()] ? sweep.cotangentOf(argument) : Value());
  return found;
}
