#include "GradientCheck.h"

#include "CompiledCheck.h"
#include "MeshCheck.h"
#include "TestInputs.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Program.h"
#include "dlc/ir/Reduce.h"
#include "dlc/passes/Passes.h"
#include "mlir/Pass/PassManager.h"

#include <cmath>

using namespace mlir;
using namespace dlc;
using namespace dlc::check;

// With step h the differences are off by h^2/6 times the third derivative, and by rounding, about 1e-16/h: both far
// below the tolerance for tests whose values and derivatives are near 1.
static constexpr double kStep = 1e-5, kGradientTolerance = 1e-6;
static constexpr int64_t kElementsChecked = 64;

namespace {

/// What the loss is differentiated by.
struct Input {
  std::string name;
  int argument;         // -1 for a variable
  std::string variable; // empty for an argument
  Value value;          // in the gradient program
};

/// The loss, a sum of the float results times fixed weights, and its derivatives by the inputs.
class GradientCheck {
public:
  GradientCheck(Report &report, func::FuncOp function, const Program &value, ArrayRef<dl::ReferenceTensor> arguments,
                const dl::ReferenceState &state, const CheckOptions &options)
      : report(report), function(function), value(value), arguments(arguments), state(state), options(options),
        generator(function.getName(), options.seed + 1) {
    drawWeights();
  }

  LogicalResult run();

private:
  void drawWeights();
  FailureOr<Program> derivativeProgram(bool decomposeFirst);
  FailureOr<Outcome> derivatives(const Program &program) { return program.run(allArguments(), state); }
  SmallVector<dl::ReferenceTensor> allArguments() const;
  LogicalResult buildLoss(func::FuncOp clone);
  SmallVector<Input> collectInputs(func::FuncOp clone);
  FailureOr<double> loss(ArrayRef<dl::ReferenceTensor> at, const dl::ReferenceState &in);
  FailureOr<double> difference(const Input &input, int64_t element);
  SmallVector<int64_t> sample(int64_t size);

  Report &report;
  func::FuncOp function;
  const Program &value;
  ArrayRef<dl::ReferenceTensor> arguments;
  const dl::ReferenceState &state;
  const CheckOptions &options;
  TestGenerator generator;
  SmallVector<dl::ReferenceTensor> weights; // one a float result, in order
  SmallVector<Input> inputs;
};

} // namespace

void GradientCheck::drawWeights() {
  for (Type type : function.getResultTypes()) {
    if (!dl::hasFloatElements(type))
      continue;
    dl::ReferenceTensor &weight = weights.emplace_back(cast<RankedTensorType>(type));
    for (double &element : weight.floats)
      element = generator.uniform(0.5, 1.5);
    weight.roundFloats();
  }
}

SmallVector<Input> GradientCheck::collectInputs(func::FuncOp clone) {
  SmallVector<Input> found;
  auto chosen = function->getAttrOfType<ArrayAttr>("dl.check_gradient");
  for (BlockArgument argument : clone.getArguments().take_front(function.getNumArguments())) {
    int index = int(argument.getArgNumber());
    bool wanted = !chosen || llvm::any_of(chosen, [&](Attribute attribute) {
      auto integer = dyn_cast<IntegerAttr>(attribute);
      return integer && integer.getInt() == index;
    });
    if (wanted && dl::hasFloatElements(argument.getType()))
      found.push_back({"argument " + std::to_string(index), index, "", argument});
  }
  auto module = clone->getParentOfType<ModuleOp>();
  for (auto read : clone.getOps<dl::ReadOp>()) {
    auto variable = module.lookupSymbol<dl::VariableOp>(read.getVariable());
    if (variable.getRole() == dl::Role::Parameter && dl::hasFloatElements(read.getType()))
      found.push_back({"@" + read.getVariable().str(), -1, read.getVariable().str(), read.getValue()});
  }
  return found;
}

LogicalResult GradientCheck::buildLoss(func::FuncOp clone) {
  Block &block = clone.getBody().front();
  Operation *exit = block.getTerminator();
  OpBuilder b(exit);
  Location location = clone.getLoc();
  Value loss;
  for (Value result : exit->getOperands()) {
    if (!dl::hasFloatElements(result.getType()))
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    Value term = dl::MulOp::create(b, location, result, block.addArgument(type, location));
    if (type.getRank())
      term = dl::ReduceSumOp::create(b, location, term, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
    if (loss && loss.getType() != term.getType())
      return function.emitError("expects float results of one type to check gradients, got ")
             << loss.getType() << " and " << term.getType();
    loss = loss ? Value(dl::AddOp::create(b, location, loss, term)) : term;
  }
  inputs = collectInputs(clone);
  if (!loss || inputs.empty())
    return function.emitError("expects a float result and a float argument to check gradients");
  SmallVector<Value> wrt = llvm::map_to_vector(inputs, [](const Input &input) { return input.value; });
  auto gradient = dl::GradientOp::create(b, location, loss, wrt, /*allow_unused=*/true);
  for (auto write : llvm::make_early_inc_range(clone.getOps<dl::WriteOp>()))
    write.erase();
  exit->setOperands(gradient.getResults());
  clone.setType(b.getFunctionType(block.getArgumentTypes(), gradient.getResultTypes()));
  clone.removeArgAttrsAttr();
  clone.removeResAttrsAttr();
  return success();
}

FailureOr<Program> GradientCheck::derivativeProgram(bool decomposeFirst) {
  FailureOr<Program> program = Program::make(function, Program::Form::AsWritten);
  PassManager state(function.getContext()), expand(function.getContext());
  state.addPass(passes::createForwardStatePass());
  expand.addPass(passes::createAutodiffPass({decomposeFirst}));
  expand.addPass(passes::createDecomposePass());
  if (failed(program) || failed(state.run(program->module())) || failed(buildLoss(program->function())) ||
      failed(expand.run(program->module())))
    return failure();
  return program;
}

SmallVector<dl::ReferenceTensor> GradientCheck::allArguments() const {
  SmallVector<dl::ReferenceTensor> all(arguments);
  all.append(weights.begin(), weights.end());
  return all;
}

FailureOr<double> GradientCheck::loss(ArrayRef<dl::ReferenceTensor> at, const dl::ReferenceState &in) {
  FailureOr<Outcome> outcome = value.run(at, in);
  if (failed(outcome))
    return failure();
  double sum = 0;
  auto weight = weights.begin();
  for (const dl::ReferenceTensor &result : outcome->results) {
    if (!result.isFloat())
      continue;
    for (auto [x, w] : llvm::zip_equal(result.floats, weight->floats))
      sum += x * w;
    ++weight;
  }
  return sum;
}

FailureOr<double> GradientCheck::difference(const Input &input, int64_t element) {
  SmallVector<dl::ReferenceTensor> at(arguments);
  dl::ReferenceState in = state;
  double &x = (input.argument < 0 ? in.at(input.variable) : at[input.argument]).floats[element];
  double center = x, step = kStep * std::max(1.0, std::abs(center));
  x = center + step;
  FailureOr<double> above = loss(at, in);
  x = center - step;
  FailureOr<double> below = loss(at, in);
  if (failed(above) || failed(below))
    return failure();
  return (*above - *below) / ((center + step) - (center - step));
}

SmallVector<int64_t> GradientCheck::sample(int64_t size) {
  SmallVector<int64_t> elements;
  for (int64_t i = 0; i < std::min(size, kElementsChecked); ++i)
    elements.push_back(size <= kElementsChecked ? i : generator.below(size));
  return elements;
}

LogicalResult GradientCheck::run() {
  FailureOr<Program> decomposing = derivativeProgram(true), ruling = derivativeProgram(false);
  if (failed(decomposing) || failed(ruling))
    return failure();
  FailureOr<Outcome> byDecomposition = derivatives(*decomposing), byRule = derivatives(*ruling);
  if (failed(byDecomposition) || failed(byRule))
    return failure();
  checkTargets(report, "compiled gradient", *ruling, allArguments(), state, *byRule,
               toleranceOf(function, "dl.compiled_tolerance", -1), options);
  if (options.isRetyped)
    return success();
  double tolerance = toleranceOf(function, "dl.tolerance", kGradientTolerance);
  checkMesh(report, ruling->function(), allArguments(), state, *byRule, tolerance, options);
  for (auto [index, input] : llvm::enumerate(inputs)) {
    const dl::ReferenceTensor &rule = byRule->results[index], &decomposed = byDecomposition->results[index];
    SmallVector<int64_t> elements = sample(rule.size());
    int shown = 0;
    for (int64_t element : elements) {
      FailureOr<double> expected = difference(input, element);
      if (failed(expected))
        return failure();
      for (auto [how, got] :
           {std::pair("by rule", rule.floats[element]), std::pair("by decomposition", decomposed.floats[element])})
        if (!agrees(*expected, got, tolerance) && shown++ < 5)
          report.fault("gradient of " + input.name + " " + how + " at " + indexOf(rule.shape(), element) +
                       ": expected " + std::to_string(*expected) + ", got " + std::to_string(got));
    }
  }
  return success();
}

void dlc::check::checkGradient(Report &report, func::FuncOp function, const Program &value,
                               ArrayRef<dl::ReferenceTensor> arguments, const dl::ReferenceState &state,
                               const CheckOptions &options) {
  if (failed(GradientCheck(report, function, value, arguments, state, options).run()))
    report.fault("the gradient cannot be checked");
}
