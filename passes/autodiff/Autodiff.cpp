#include "dlc/ir/Constant.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Program.h"
#include "dlc/passes/Activity.h"
#include "dlc/passes/Passes.h"

// Before:  %y = dl.mul %x, %x : tensor<f32>
//          %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
// After:   %y = dl.mul %x, %x : tensor<f32>
//          %one = dl.constant dense<1.0> : tensor<f32>
//          %0 = dl.mul %one, %x : tensor<f32>
//          %1 = dl.mul %one, %x : tensor<f32>
//          %g = dl.add %0, %1 : tensor<f32>

namespace dlc::passes {
#define GEN_PASS_DEF_AUTODIFFPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

namespace {

/// Expands one gradient op: a sweep forward from `wrt` that collects the active ops, then a sweep back over them.
class Expansion {
public:
  Expansion(dl::GradientOp gradient, bool decomposeFirst)
      : gradient(gradient), decomposeFirst(decomposeFirst), builder(gradient), activity(gradient.getLoss()) {}

  LogicalResult run() {
    if (failed(checkWrt()) || failed(collectActiveOps()))
      return failure();
    seed();
    for (Operation *op : llvm::reverse(activeOps))
      if (failed(visit(op)))
        return failure();
    finish();
    return success();
  }

private:
  LogicalResult checkWrt();
  LogicalResult collectActiveOps();
  bool isActive(Operation *op) const;
  Operation *decompose(dl::DecomposableOpInterface op);
  LogicalResult refuse(Operation *op);
  void seed();
  LogicalResult visit(Operation *op);
  void accumulate(Location location, Value value, dl::Cotangent contribution);
  void finish();

  dl::GradientOp gradient;
  bool decomposeFirst;
  OpBuilder builder;
  Activity activity;
  DenseSet<Value> active;
  SmallVector<Operation *> activeOps;
  DenseMap<Value, dl::Cotangent> cotangents;
};

} // namespace

LogicalResult Expansion::checkWrt() {
  for (auto [index, value] : llvm::enumerate(gradient.getWrt())) {
    if (!activity.influences(value) && !gradient.getAllowUnused())
      return gradient.emitOpError("expects every wrt value to influence the loss, got number ")
             << index << ", which does not; use allow_unused for a zero gradient";
    active.insert(value);
  }
  return success();
}

bool Expansion::isActive(Operation *op) const {
  return llvm::any_of(op->getResults(), [&](Value result) { return activity.influences(result); }) &&
         llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
           return active.contains(operand.get()) && carriesDerivative(op, operand.getOperandNumber());
         });
}

// Decomposing replaces ops under the sweep: it goes on at the first of the new ones, which may be composites again.
LogicalResult Expansion::collectActiveOps() {
  Operation *op = &gradient->getBlock()->front();
  while (op != gradient) {
    if (!isActive(op)) {
      op = op->getNextNode();
      continue;
    }
    auto decomposable = dyn_cast<dl::DecomposableOpInterface>(op);
    bool hasRule = isa<dl::DifferentiableOpInterface>(op);
    if (decomposable && (!hasRule || decomposeFirst)) {
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
Operation *Expansion::decompose(dl::DecomposableOpInterface op) {
  Operation *before = op->getPrevNode();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  SmallVector<Value> values = op.decompose(builder);
  activity.replace(op, before, values);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values)) {
    if (active.erase(result)) // one of `wrt`
      active.insert(value);
    result.replaceAllUsesWith(value);
  }
  op->erase();
  return before ? before->getNextNode() : &gradient->getBlock()->front();
}

LogicalResult Expansion::refuse(Operation *op) {
  InFlightDiagnostic error = op->emitOpError("expects a derivative rule or a decomposition, got neither");
  for (Value result : op->getResults()) {
    if (!activity.influences(result))
      continue;
    for (Operation *towards : activity.pathToLoss(result))
      error.attachNote(towards->getLoc()) << "the loss depends on it through '" << towards->getName() << "'";
    break;
  }
  error.attachNote(gradient.getLoc()) << "differentiated here";
  return error;
}

void Expansion::seed() {
  auto type = cast<RankedTensorType>(gradient.getLoss().getType());
  Value one = dl::ConstantOp::createSplat(builder, gradient.getLoc(), type, 1.0);
  cotangents.try_emplace(gradient.getLoss(), dl::Cotangent{one, {}});
}

LogicalResult Expansion::visit(Operation *op) {
  SmallVector<dl::Cotangent> results;
  for (Value result : op->getResults())
    results.push_back(cotangents.lookup(result));
  if (llvm::none_of(results, [](const dl::Cotangent &cotangent) { return bool(cotangent); }))
    return success();
  llvm::BitVector needs(op->getNumOperands());
  for (OpOperand &operand : op->getOpOperands())
    if (active.contains(operand.get()) && carriesDerivative(op, operand.getOperandNumber()))
      needs.set(operand.getOperandNumber());
  dl::AdjointBuilder adjoint(builder, op, results, std::move(needs));
  if (failed(cast<dl::DifferentiableOpInterface>(op).buildAdjoint(adjoint)))
    return op->emitOpError("expects a derivative, but its rule has none for this use");
  for (auto [operand, contribution] : adjoint.contributions()) {
    Value value = op->getOperand(operand);
    if (contribution.value.getType() != value.getType())
      return op->emitOpError("expects a derivative of type ")
             << value.getType() << " for operand " << operand << ", got " << contribution.value.getType();
    accumulate(op->getLoc(), value, contribution);
  }
  return success();
}

// A sum is exactly 0 under a mask only where all of its terms are.
void Expansion::accumulate(Location location, Value value, dl::Cotangent contribution) {
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

void Expansion::finish() {
  SmallVector<Value> results;
  for (Value value : gradient.getWrt()) {
    Value result = cotangents.lookup(value).value;
    if (!result)
      result = dl::ConstantOp::createSplat(builder, gradient.getLoc(), cast<RankedTensorType>(value.getType()), 0.0);
    results.push_back(result);
  }
  gradient.replaceAllUsesWith(results);
  gradient.erase();
}

namespace {

struct AutodiffPass : passes::impl::AutodiffPassBase<AutodiffPass> {
  using AutodiffPassBase::AutodiffPassBase;

  void runOnOperation() override {
    SmallVector<dl::GradientOp> gradients;
    SmallVector<dl::StopGradientOp> stops;
    getOperation().walk([&](dl::GradientOp op) { gradients.push_back(op); });
    for (dl::GradientOp gradient : gradients)
      if (failed(Expansion(gradient, decomposeFirst).run()))
        return signalPassFailure();
    getOperation().walk([&](dl::StopGradientOp op) { stops.push_back(op); });
    for (dl::StopGradientOp stop : stops) {
      stop.replaceAllUsesWith(stop.getX());
      stop.erase();
    }
  }
};

} // namespace
