#include "TestInputs.h"

#include "dlc/ir/Program.h"
#include "mlir/IR/BuiltinOps.h"

#include <cmath>

using namespace mlir;
using namespace dlc;
using namespace dlc::check;
using dlc::dl::ReferenceState;
using dlc::dl::ReferenceTensor;

TestGenerator::TestGenerator(StringRef name, uint64_t seed) : state(seed ^ 0xcbf29ce484222325) {
  for (char c : name)
    state = (state ^ uint8_t(c)) * 0x100000001b3;
}

uint64_t TestGenerator::next() {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Ties and kinks lie further apart than the step of the central differences.
static void drawDistinct(TestGenerator &generator, ReferenceTensor &tensor) {
  int64_t count = tensor.size(), middle = count / 2;
  for (int64_t i = 0; i < count; ++i)
    tensor.floats[i] = double(i - middle) * 0.25 + 0.1;
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(tensor.floats[i], tensor.floats[generator.below(i + 1)]);
}

static double drawNonzero(TestGenerator &generator) {
  double magnitude = generator.uniform(0.25, 2.25);
  return generator.below(2) ? magnitude : -magnitude;
}

static LogicalResult drawFloats(TestGenerator &generator, StringRef kind, ReferenceTensor &tensor) {
  auto fill = [&](auto draw) {
    for (double &value : tensor.floats)
      value = draw();
    return success();
  };
  if (kind == "any")
    return fill([&] { return generator.uniform(-2, 2); });
  if (kind == "unit")
    return fill([&] { return generator.uniform(-0.98, 0.98); });
  if (kind == "positive")
    return fill([&] { return generator.uniform(0.25, 2.25); });
  if (kind == "nonzero")
    return fill([&] { return drawNonzero(generator); });
  if (kind == "distinct")
    return drawDistinct(generator, tensor), success();
  auto [lower, upper] = kind.drop_front(std::min<size_t>(kind.size(), 6)).split(':');
  double a, b;
  if (kind.starts_with("range:") && !lower.getAsDouble(a) && !upper.getAsDouble(b) && a < b)
    return fill([&, a = a, b = b] { return generator.uniform(a, b); });
  return failure();
}

static LogicalResult drawIntegers(TestGenerator &generator, StringRef kind, ReferenceTensor &tensor) {
  bool boolean = tensor.type.getElementType().isInteger(1);
  int64_t lower = boolean ? 0 : -8, count = boolean ? 2 : 17;
  if (kind.consume_front("index:")) {
    lower = 0;
    if (kind.getAsInteger(10, count) || count < 1)
      return failure();
  } else if (kind != "any") {
    return failure();
  }
  for (int64_t &value : tensor.integers)
    value = lower + generator.below(count);
  return success();
}

static FailureOr<ReferenceTensor> drawArgument(func::FuncOp function, unsigned index, TestGenerator &generator) {
  auto type = dyn_cast<RankedTensorType>(function.getArgument(index).getType());
  if (auto whole = function.getArgAttrOfType<TypeAttr>(index, "dl.global")) // a local program: members take their parts
    type = dyn_cast<RankedTensorType>(whole.getValue());
  if (!type || !type.hasStaticShape())
    return function.emitError("expects arguments with static shapes, got ") << function.getArgument(index).getType();
  if (auto given = function.getArgAttrOfType<ElementsAttr>(index, "dl.value")) {
    if (given.getShapedType() != type)
      return function.emitError("expects dl.value of type ") << type << ", got " << given.getShapedType();
    return ReferenceTensor::fromElements(given);
  }
  auto attribute = function.getArgAttrOfType<StringAttr>(index, "dl.test");
  StringRef kind = attribute ? attribute.getValue() : "any";
  ReferenceTensor tensor(type);
  if (failed(tensor.isFloat() ? drawFloats(generator, kind, tensor) : drawIntegers(generator, kind, tensor)))
    return function.emitError("expects a kind of test values for ")
           << type << " (see test/ops/README.md), got " << kind;
  tensor.roundFloats();
  return tensor;
}

FailureOr<SmallVector<ReferenceTensor>> dlc::check::drawArguments(func::FuncOp function, uint64_t seed) {
  TestGenerator generator(function.getName(), seed);
  SmallVector<ReferenceTensor> arguments;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    FailureOr<ReferenceTensor> argument = drawArgument(function, index, generator);
    if (failed(argument))
      return failure();
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}

// Random initial values need not be the runtime's own draws, only be in their range and the same on each run.
static FailureOr<ReferenceTensor> initialValue(dl::VariableOp variable, uint64_t seed) {
  if (auto elements = dyn_cast<ElementsAttr>(variable.getInit()))
    return ReferenceTensor::fromElements(elements);
  ReferenceTensor tensor(cast<RankedTensorType>(variable.getType()));
  TestGenerator generator(variable.getSymName(), seed);
  auto fill = [&](auto draw) {
    for (double &value : tensor.floats)
      value = draw();
    for (int64_t &value : tensor.integers)
      value = int64_t(draw());
  };
  if (auto constant = dyn_cast<dl::ConstantAttr>(variable.getInit()))
    fill([&] { return constant.getValue().getValueAsDouble(); });
  if (auto uniform = dyn_cast<dl::UniformAttr>(variable.getInit()))
    fill([&] {
      return generator.uniform(uniform.getLower().getValueAsDouble(), uniform.getUpper().getValueAsDouble());
    });
  if (auto normal = dyn_cast<dl::NormalAttr>(variable.getInit()))
    fill([&] {
      double radius = std::sqrt(-2 * std::log(1 - generator.uniform(0, 1)));
      return normal.getMean().getValueAsDouble() +
             normal.getDeviation().getValueAsDouble() * radius * std::cos(generator.uniform(0, 6.283185307179586));
    });
  tensor.roundFloats();
  return tensor;
}

FailureOr<ReferenceState> dlc::check::initialState(ModuleOp module, uint64_t seed) {
  ReferenceState state;
  for (auto variable : module.getOps<dl::VariableOp>()) {
    FailureOr<ReferenceTensor> value = initialValue(variable, seed);
    if (failed(value))
      return variable.emitError("expects initial data, got none");
    state.insert_or_assign(variable.getSymName().str(), std::move(*value));
  }
  return state;
}
