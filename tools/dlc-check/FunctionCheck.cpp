#include "FunctionCheck.h"

#include "CompiledCheck.h"
#include "GradientCheck.h"
#include "MeshCheck.h"
#include "TestInputs.h"
#include "dlc/ir/Program.h"
#include "dlc/passes/Passes.h"
#include "dlc/passes/Pipelines.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::check;

static constexpr double kValueTolerance = 1e-6; // constants written or folded as f32 are good to 6e-8

static bool hasGradient(func::FuncOp function) {
  return function.walk([](dl::GradientOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

FailureOr<Program> Program::make(func::FuncOp function, Form form) {
  Program program;
  program.owner = function->getParentOfType<ModuleOp>().clone();
  for (auto other : llvm::make_early_inc_range(program.module().getOps<func::FuncOp>()))
    if (other.getName() != function.getName())
      other.erase();
  PassManager manager(function.getContext());
  if (form == Form::Primitive) {
    passes::buildFrontendPipeline(manager);
    manager.addPass(passes::createDecomposePass({.all = true}));
  } else if (form == Form::Expanded && hasGradient(function)) {
    manager.addPass(passes::createForwardStatePass());
    manager.addPass(passes::createAutodiffPass());
  }
  if (failed(manager.run(program.module())))
    return failure();
  return program;
}

func::FuncOp Program::function() const { return *module().getOps<func::FuncOp>().begin(); }

FailureOr<Outcome> Program::run(ArrayRef<dl::ReferenceTensor> arguments, const dl::ReferenceState &state) const {
  Outcome outcome{{}, state};
  FailureOr<SmallVector<dl::ReferenceTensor>> results = dl::evaluateFunction(function(), arguments, outcome.state);
  if (failed(results))
    return failure();
  outcome.results = std::move(*results);
  return outcome;
}

double dlc::check::toleranceOf(func::FuncOp function, StringRef attribute, double otherwise) {
  auto given = function->getAttrOfType<FloatAttr>(attribute);
  return given ? given.getValueAsDouble() : otherwise;
}

static void compareOutcomes(Report &report, StringRef what, const Outcome &expected, const Outcome &got,
                            double tolerance) {
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(expected.results, got.results)))
    compare(report, what + " result " + Twine(index), std::get<0>(pair), std::get<1>(pair), tolerance);
  for (const auto &[name, value] : expected.state)
    compare(report, what + " variable @" + name, value, got.state.at(name), tolerance);
}

/// What `dl.expect` says; empty without it, or after a fault.
static SmallVector<dl::ReferenceTensor> expectedOf(Report &report, func::FuncOp function) {
  Attribute attribute = function->getAttr("dl.expect");
  if (!attribute)
    return {};
  SmallVector<Attribute> given{attribute};
  if (auto list = dyn_cast<ArrayAttr>(attribute))
    given.assign(list.begin(), list.end());
  SmallVector<dl::ReferenceTensor> expected;
  for (auto [index, item] : llvm::enumerate(given)) {
    auto elements = dyn_cast<ElementsAttr>(item);
    FailureOr<dl::ReferenceTensor> value = failure();
    if (elements)
      value = dl::ReferenceTensor::fromElements(elements);
    if (failed(value)) {
      report.fault("expects elements in dl.expect for result " + Twine(index));
      return {};
    }
    expected.push_back(std::move(*value));
  }
  if (expected.size() == function.getNumResults())
    return expected;
  report.fault("expects one value in dl.expect a result, " + Twine(function.getNumResults()) + ", got " +
               Twine(expected.size()));
  return {};
}

static void compareExpected(Report &report, func::FuncOp function, const Outcome &outcome) {
  double tolerance = toleranceOf(function, "dl.tolerance", kValueTolerance);
  for (auto [index, value] : llvm::enumerate(expectedOf(report, function)))
    compare(report, "result " + Twine(index), value, outcome.results[index], tolerance);
}

bool dlc::check::checkFunction(func::FuncOp function, const CheckOptions &options) {
  Report report(function.getName());
  FailureOr<SmallVector<dl::ReferenceTensor>> arguments = drawArguments(function, options.seed);
  FailureOr<dl::ReferenceState> state = initialState(function->getParentOfType<ModuleOp>(), options.seed);
  if (failed(arguments) || failed(state))
    return false;
  if (function->getParentOfType<ModuleOp>()->hasAttr("dl.local")) {
    checkLocal(report, function, *arguments, *state, expectedOf(report, function),
               toleranceOf(function, "dl.tolerance", kValueTolerance));
    return !report.failed();
  }
  FailureOr<Program> expanded = Program::make(function, Program::Form::Expanded);
  FailureOr<Program> primitive = Program::make(function, Program::Form::Primitive);
  if (failed(expanded) || failed(primitive))
    return false;
  FailureOr<Outcome> value = expanded->run(*arguments, *state);
  FailureOr<Outcome> decomposed = primitive->run(*arguments, *state);
  if (failed(value) || failed(decomposed))
    return false;
  if (!options.isRetyped)
    compareExpected(report, function, *value);
  compareOutcomes(report, "decomposed", *value, *decomposed, toleranceOf(function, "dl.tolerance", kValueTolerance));
  checkTargets(report, "compiled", *expanded, *arguments, *state, *value,
               toleranceOf(function, "dl.compiled_tolerance", -1), options);
  checkMesh(report, function, *arguments, *state, *value, toleranceOf(function, "dl.tolerance", kValueTolerance),
            options);
  if (function->hasAttr("dl.check_gradient"))
    checkGradient(report, function, *expanded, *arguments, *state, options);
  return !report.failed();
}
