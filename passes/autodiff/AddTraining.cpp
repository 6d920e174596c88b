#include "dlc/ir/Constant.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/LossScale.h"
#include "dlc/ir/Optim.h"
#include "dlc/ir/Program.h"
#include "dlc/ir/Reduce.h"
#include "dlc/ir/Shape.h"
#include "dlc/ir/TensorBuilder.h"
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
//          with loss-scale and clip-norm also variables @opt.max_norm, @scaler.scale, @scaler.growth_tracker, and:
//                                 %g = dl.gradient %scaled …     %u, %finite = dl.unscale %g scale %s
//                                 %norm, %factor = dl.clip_factor … max_norm %m     %c = dl.mul %u, …
//                                 dl.write @w, (dl.select %found, %w, %p)     %s1, %n1 = dl.update_scale %s, %n found
//                                 %found …

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
  TrainingStep(func::FuncOp entry, passes::AddTrainingPassOptions options)
      : entry(entry), module(entry->getParentOfType<ModuleOp>()), symbols(module),
        builder(entry.getBody().front().getTerminator()), options(std::move(options)) {}

  LogicalResult add();

private:
  LogicalResult collectParameters(Value loss);
  Value state(StringRef kind, dl::ReadOp parameter);
  Value hyper(StringRef name, double value);
  Value nextStep();
  /// Reads the variable, created if there is none; null after an error if the name means something else.
  Value variable(const Twine &name, RankedTensorType type, dl::Role role, Attribute init);
  Value spread(Value scalar, Type like);
  Value scaled(Value loss);
  void unscale();
  void clip();
  void updateScale();
  LogicalResult addSgd();
  LogicalResult addAdamW();
  void write(StringRef name, Value value) { dl::WriteOp::create(builder, entry.getLoc(), name, value); }
  /// What the step leaves in a variable: `before` where it is skipped.
  void write(StringRef name, Value before, Value value);

  func::FuncOp entry;
  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  passes::AddTrainingPassOptions options;
  SmallVector<dl::ReadOp> parameters;
  SmallVector<Value> gradients;
  Value scale, skipped; // null: the loss has no scale
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
  write("opt.step", step, next);
  return next;
}

Value TrainingStep::spread(Value scalar, Type like) {
  auto type = cast<RankedTensorType>(like).clone(getElementTypeOrSelf(scalar));
  return builder.createOrFold<dl::BroadcastOp>(scalar.getLoc(), type, scalar, ArrayRef<int64_t>{});
}

void TrainingStep::write(StringRef name, Value before, Value value) {
  if (skipped)
    value = dl::SelectOp::create(builder, value.getLoc(), spread(skipped, value.getType()), before, value);
  write(name, value);
}

// The product of a 16-bit loss would overflow.
Value TrainingStep::scaled(Value loss) {
  if (options.lossScale == 0)
    return loss;
  Type f32 = builder.getF32Type();
  scale = variable("scaler.scale", RankedTensorType::get({}, f32), dl::Role::Hyper,
                   dl::ConstantAttr::get(entry.getContext(), FloatAttr::get(f32, options.lossScale)));
  if (!scale)
    return {};
  dl::TensorBuilder t(builder, loss.getLoc());
  Type wider = getElementTypeOrSelf(loss).getIntOrFloatBitWidth() > 32 ? getElementTypeOrSelf(loss) : f32;
  return t.mul(t.cast(loss, wider), t.cast(scale, wider));
}

void TrainingStep::unscale() {
  dl::TensorBuilder t(builder, entry.getLoc());
  Value finite;
  for (auto [parameter, gradient] : llvm::zip_equal(parameters, gradients)) {
    auto op = dl::UnscaleOp::create(builder, parameter.getLoc(), gradient, scale);
    gradient = op.getY();
    finite = finite ? t.logicalAnd(finite, op.getFinite()) : op.getFinite();
  }
  skipped = t.logicalNot(finite);
}

void TrainingStep::clip() {
  dl::TensorBuilder t(builder, entry.getLoc());
  Value limit = hyper("max_norm", options.clipNorm);
  if (!limit)
    return;
  auto isDouble = [](Value gradient) { return getElementTypeOrSelf(gradient).isF64(); };
  Type f32 = builder.getF32Type(), f64 = builder.getF64Type(), common = llvm::any_of(gradients, isDouble) ? f64 : f32;
  SmallVector<Value> norms = llvm::map_to_vector(gradients, [&](Value gradient) {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(gradient.getType()).getRank()));
    Value wide = t.cast(gradient, isDouble(gradient) ? f64 : f32); // 16-bit floats add in f32
    return t.cast(dl::NormOp::create(builder, gradient.getLoc(), wide, dims), common);
  });
  Value factor = dl::ClipFactorOp::create(builder, entry.getLoc(), norms, limit).getFactor();
  for (Value &gradient : gradients) {
    Value own = t.cast(factor, getElementTypeOrSelf(gradient));
    gradient = t.mul(gradient, spread(own, gradient.getType()));
  }
}

// The numbers are those of PyTorch's GradScaler.
void TrainingStep::updateScale() {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  Value count = variable("scaler.growth_tracker", type, dl::Role::Counter, dl::ZerosAttr::get(entry.getContext()));
  if (!count)
    return;
  auto update = dl::UpdateScaleOp::create(builder, entry.getLoc(), scale, count, skipped, builder.getF64FloatAttr(2),
                                          builder.getF64FloatAttr(0.5), builder.getI64IntegerAttr(2000));
  write("scaler.scale", update.getNewScale());
  write("scaler.growth_tracker", update.getNewCount());
}

LogicalResult TrainingStep::addSgd() {
  bool momentum = options.momentum;
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
    write(p.getVariable(), p, update.getNewP());
    if (momentum)
      write(stateName("momentum_buffer", p), buffer, update.getNewBuffer());
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
    write(p.getVariable(), p, update.getNewP());
    write(stateName("exp_avg", p), m, update.getNewM());
    write(stateName("exp_avg_sq", p), v, update.getNewV());
  }
  return success();
}

LogicalResult TrainingStep::add() {
  Value loss = entry.getBody().front().getTerminator()->getOperand(0);
  if (failed(collectParameters(loss)))
    return failure();
  SmallVector<Value> wrt = llvm::map_to_vector(parameters, [](dl::ReadOp read) { return Value(read.getValue()); });
  Value minimized = scaled(loss);
  if (clash)
    return failure();
  llvm::append_range(
      gradients, dl::GradientOp::create(builder, loss.getLoc(), minimized, wrt, /*allow_unused=*/false).getResults());
  if (scale)
    unscale();
  if (options.clipNorm > 0)
    clip();
  if (failed(options.optimizer == passes::Optimizer::AdamW ? addAdamW() : addSgd()))
    return failure();
  if (scale && options.dynamicScale)
    updateScale();
  return failure(clash);
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
    passes::AddTrainingPassOptions options{optimizer, momentum, entry, lossScale, dynamicScale, clipNorm};
    if (failed(TrainingStep(candidates.front(), options).add()))
      signalPassFailure();
  }
};

} // namespace
