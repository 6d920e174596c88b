#include "dlc/ir/Constant.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Optim.h"
#include "dlc/ir/Program.h"
#include "dlc/passes/Activity.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

// Before:  dl.variable @w : tensor<4xf32> role(parameter) init(…)
//          func.func @step(%x: tensor<4xf32>) -> tensor<f32> attributes {dl.entry} {
//            %w = dl.read @w : tensor<4xf32>
//            … return %loss
// After:   also variables @opt.momentum_buffer.w, @opt.lr, @opt.momentum, @opt.weight_decay, @opt.step, read at the top
//          and before the return: %g = dl.gradient %loss wrt %w
//                                 %p, %b = dl.sgd %w, %g lr %lr …
//                                 dl.write @w, %p     dl.write @opt.momentum_buffer.w, %b

namespace dlc::passes {
#define GEN_PASS_DEF_ADDTRAININGPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;

namespace {

/// Adds the rest of a training step to an entry that computes a loss.
class TrainingStep {
public:
  explicit TrainingStep(func::FuncOp entry)
      : entry(entry), module(entry->getParentOfType<ModuleOp>()), symbols(module),
        builder(entry.getBody().front().getTerminator()) {}

  LogicalResult add(passes::Optimizer optimizer, bool momentum);

private:
  LogicalResult collectParameters(Value loss);
  Value state(StringRef kind, dl::ReadOp parameter);
  Value hyper(StringRef name, double value);
  Value nextStep();
  /// Reads the variable, created if there is none; null after an error if the name means something else.
  Value variable(const Twine &name, RankedTensorType type, dl::Role role, Attribute init);
  LogicalResult addSgd(bool momentum);
  LogicalResult addAdamW();
  void write(StringRef name, Value value) { dl::WriteOp::create(builder, entry.getLoc(), name, value); }

  func::FuncOp entry;
  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  SmallVector<dl::ReadOp> parameters;
  ValueRange gradients;
  bool clash = false;
};

} // namespace

static std::string stateName(StringRef kind, dl::ReadOp parameter) {
  return ("opt." + kind + "." + parameter.getVariable()).str();
}

LogicalResult TrainingStep::collectParameters(Value loss) {
  passes::Activity activity(loss);
  llvm::StringMap<dl::ReadOp> reads;
  for (auto read : entry.getOps<dl::ReadOp>())
    if (!reads.try_emplace(read.getVariable(), read).second)
      return read.emitOpError("expects one read of @") << read.getVariable() << "; run dl-forward-state first";
  for (auto write : entry.getOps<dl::WriteOp>())
    if (module.lookupSymbol<dl::VariableOp>(write.getVariable()).getRole() == dl::Role::Parameter)
      return write.emitOpError("expects an entry without updates of its own, got a write to parameter @")
             << write.getVariable();
  for (auto variable : module.getOps<dl::VariableOp>()) {
    dl::ReadOp read = reads.lookup(variable.getSymName());
    if (variable.getRole() == dl::Role::Parameter && read && activity.influences(read.getValue()))
      parameters.push_back(read);
  }
  if (parameters.empty())
    return entry.emitOpError("expects a parameter that influences the loss, got none");
  return success();
}

Value TrainingStep::variable(const Twine &name, RankedTensorType type, dl::Role role, Attribute init) {
  std::string text = name.str();
  if (Operation *known = symbols.lookup(text)) {
    auto variable = dyn_cast<dl::VariableOp>(known);
    if (!variable || variable.getType() != type || variable.getRole() != role) {
      known->emitOpError("expects @") << text << " to be free or a variable of type " << type << " and role "
                                      << dl::stringifyRole(role);
      clash = true;
      return {};
    }
  } else {
    OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
    auto created = dl::VariableOp::create(atEnd, entry.getLoc(), text, type, role, init, dl::SlotAttr());
    Operation *last = nullptr;
    for (auto other : module.getOps<dl::VariableOp>())
      if (other != created)
        last = other;
    created->moveAfter(last);
    symbols.insert(created);
  }
  OpBuilder behindReads(&*llvm::find_if_not(entry.getBody().front(), llvm::IsaPred<dl::ReadOp>));
  return dl::ReadOp::create(behindReads, entry.getLoc(), type, text);
}

Value TrainingStep::state(StringRef kind, dl::ReadOp parameter) {
  return variable(stateName(kind, parameter), cast<RankedTensorType>(parameter.getType()), dl::Role::OptimizerState,
                  dl::ZerosAttr::get(entry.getContext()));
}

Value TrainingStep::hyper(StringRef name, double value) {
  Type f64 = builder.getF64Type();
  return variable("opt." + name, RankedTensorType::get({}, f64), dl::Role::Hyper,
                  dl::ConstantAttr::get(entry.getContext(), FloatAttr::get(f64, value)));
}

Value TrainingStep::nextStep() {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  Value step = variable("opt.step", type, dl::Role::Counter, dl::ZerosAttr::get(entry.getContext()));
  if (!step)
    return {};
  Value one = dl::ConstantOp::createSplat(builder, entry.getLoc(), type, 1);
  Value next = dl::AddOp::create(builder, entry.getLoc(), step, one);
  write("opt.step", next);
  return next;
}

LogicalResult TrainingStep::addSgd(bool momentum) {
  SmallVector<Value> buffers(parameters.size());
  if (momentum)
    buffers = llvm::map_to_vector(parameters, [&](dl::ReadOp p) { return state("momentum_buffer", p); });
  Value lr = hyper("lr", 0.01), decay = hyper("weight_decay", 0);
  Value factor = momentum ? hyper("momentum", 0) : Value();
  nextStep();
  if (clash)
    return failure();
  for (auto [p, g, buffer] : llvm::zip_equal(parameters, gradients, buffers)) {
    auto update = dl::SgdOp::create(builder, p.getLoc(), p, g, lr, decay, buffer, factor, /*nesterov=*/false);
    write(p.getVariable(), update.getNewP());
    if (momentum)
      write(stateName("momentum_buffer", p), update.getNewBuffer());
  }
  return success();
}

LogicalResult TrainingStep::addAdamW() {
  auto first = llvm::map_to_vector(parameters, [&](dl::ReadOp p) { return state("exp_avg", p); });
  auto second = llvm::map_to_vector(parameters, [&](dl::ReadOp p) { return state("exp_avg_sq", p); });
  Value lr = hyper("lr", 1e-3), beta1 = hyper("beta1", 0.9), beta2 = hyper("beta2", 0.999);
  Value eps = hyper("eps", 1e-8), decay = hyper("weight_decay", 0.01), step = nextStep();
  if (clash)
    return failure();
  for (auto [p, g, m, v] : llvm::zip_equal(parameters, gradients, first, second)) {
    auto update = dl::AdamWOp::create(builder, p.getLoc(), p, g, m, v, step, lr, beta1, beta2, eps, decay);
    write(p.getVariable(), update.getNewP());
    write(stateName("exp_avg", p), update.getNewM());
    write(stateName("exp_avg_sq", p), update.getNewV());
  }
  return success();
}

LogicalResult TrainingStep::add(passes::Optimizer optimizer, bool momentum) {
  Value loss = entry.getBody().front().getTerminator()->getOperand(0);
  if (failed(collectParameters(loss)))
    return failure();
  SmallVector<Value> wrt = llvm::map_to_vector(parameters, [](dl::ReadOp read) { return Value(read.getValue()); });
  gradients = dl::GradientOp::create(builder, loss.getLoc(), loss, wrt, /*allow_unused=*/false).getResults();
  return optimizer == passes::Optimizer::AdamW ? addAdamW() : addSgd(momentum);
}

// The loss is the first result, a float of rank 0.
static bool computesLoss(func::FuncOp function) {
  if (!function->hasAttr("dl.entry") || function.isExternal() || !function.getNumResults())
    return false;
  auto type = dyn_cast<RankedTensorType>(function.getResultTypes().front());
  return type && type.getRank() == 0 && isa<FloatType>(type.getElementType());
}

namespace {

struct AddTrainingPass : passes::impl::AddTrainingPassBase<AddTrainingPass> {
  using AddTrainingPassBase::AddTrainingPassBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> candidates;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (computesLoss(function) && (entry.empty() || function.getName() == entry))
        candidates.push_back(function);
    if (candidates.size() != 1) {
      InFlightDiagnostic error = getOperation().emitError("expects one entry with a scalar float loss as first result");
      error << (entry.empty() ? "" : " named @" + entry.getValue()) << ", got " << candidates.size();
      if (candidates.size() > 1)
        error << "; name one with the option entry";
      return signalPassFailure();
    }
    if (failed(TrainingStep(candidates.front()).add(optimizer, momentum)))
      signalPassFailure();
  }
};

} // namespace
