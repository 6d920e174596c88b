#include "dlc/frontend/Amp.h"

#include "nn/ModuleNode.h"
#include "ops/Primitive.h"
#include "optim/Rule.h"
#include "record/Recording.h"

#include <algorithm>
#include <cmath>

namespace dlc {

using ops::ValueRef;
using optim::detail::OptimizerState;
using record::fail;

namespace detail {

/// What one cycle, from update() to update(), has done with an optimizer.
enum class Stage : uint8_t { Ready, Unscaled, Stepped };

struct ScalerState {
  GradScalerOptions options;
  Where where;
  std::shared_ptr<record::LossScale> loss = std::make_shared<record::LossScale>();
  Tensor scale;   // f32, as PyTorch's
  Tensor tracker; // i64
  struct Known {
    std::shared_ptr<OptimizerState> optimizer;
    Stage stage = Stage::Ready;
    /// Bool variable: a gradient was not finite.
    Tensor found;
  };
  std::vector<Known> known;

  bool isDynamic() const { return options.dynamic && options.growth_interval > 0; }
  Known &of(const std::shared_ptr<OptimizerState> &optimizer);
  std::vector<Stage> stages() const {
    std::vector<Stage> list;
    list.reserve(known.size());
    for (const Known &one : known)
      list.push_back(one.stage);
    return list;
  }
  void setStages(const std::vector<Stage> &stages) {
    for (size_t i = 0; i < known.size(); ++i)
      known[i].stage = i < stages.size() ? stages[i] : Stage::Ready;
  }
};

namespace {

bool sameStages(const std::vector<Stage> &a, const std::vector<Stage> &b) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    if ((i < a.size() ? a[i] : Stage::Ready) != (i < b.size() ? b[i] : Stage::Ready))
      return false;
  return true;
}

record::HostFacts factsNow(const std::shared_ptr<ScalerState> &state) {
  std::vector<Stage> before = state->stages();
  uint64_t updates = state->loss->updates;
  record::HostFacts facts;
  facts.same = [state, before] { return sameStages(state->stages(), before); };
  facts.undo = [state, before, updates] {
    state->setStages(before);
    state->loss->updates = updates;
  };
  facts.leave = [state, updates]() -> std::function<void()> {
    return [state, after = state->stages(), updated = state->loss->updates != updates] {
      if (!sameStages(state->stages(), after))
        record::noteStructureChange();
      state->setStages(after);
      if (updated)
        ++state->loss->updates;
    };
  };
  return facts;
}

/// Before stages or scales are read or changed.
void note(const std::shared_ptr<ScalerState> &state) {
  record::noteFacts(state.get(), [&] { return factsNow(state); });
}

/// Outside of a recording, whose facts are guarded otherwise.
void noteChange() {
  if (!record::recording())
    record::noteStructureChange();
}

record::Storage &storageOf(const Tensor &tensor) { return *record::implOf(tensor, Where::current()).storage; }

void moveTo(std::initializer_list<const Tensor *> tensors, record::Place &place, Where where) {
  std::vector<record::Ref<record::Storage>> moved;
  for (const Tensor *tensor : tensors)
    if (storageOf(*tensor).variable->place != &place)
      moved.emplace_back(&storageOf(*tensor));
  if (!moved.empty())
    record::moveState(moved, place, where);
}

std::vector<Parameter> parametersWithGradients(const OptimizerState &optimizer, Where where) {
  std::vector<Parameter> list;
  for (const optim::detail::Group &group : optimizer.groups)
    for (const Parameter &parameter : group.parameters)
      if (parameter.requires_grad() && parameter.grad(where).defined())
        list.push_back(parameter);
  return list;
}

void checkScaled(const ScalerState &state, const OptimizerState &optimizer, const Parameter &parameter, Where where) {
  const record::Leaf &leaf = storageOf(parameter).leaf();
  if (leaf.zero)
    return;
  std::string name = "unscale_: gradient of " + parameter.name();
  if (!leaf.scaled || leaf.scaled->by != state.loss)
    fail(ErrorKind::State,
         name + " is not scaled by " + state.loss->name + "; compute it by scaler.scale(loss).backward()", where);
  if (leaf.scaled->isStale())
    fail(ErrorKind::State,
         name + " was scaled (" + leaf.scaled->text() + ") before the last update(); unscale " + optimizer.name +
             " or call zero_grad() before update()",
         where);
}

/// Divides one gradient; returns whether all of it is finite.
ValueRef unscaleOne(const Parameter &parameter, const ValueRef &scale, Where where) {
  static const record::OpRef op = trace::internOp("dl.unscale");
  record::Leaf &leaf = storageOf(parameter).leaf();
  ValueRef operands[] = {record::valueOf(leaf.gradient, where), scale};
  std::vector<ValueRef> results = record::recordAll(op, trace::Attributes().intern(), operands, where);
  record::write(leaf.gradient, results[0], "unscale_", where);
  leaf.scaled.reset();
  return results[1];
}

void unscale(const std::shared_ptr<ScalerState> &state, ScalerState::Known &known, const char *function, Where where) {
  std::vector<Parameter> parameters = parametersWithGradients(*known.optimizer, where);
  if (parameters.empty())
    fail(ErrorKind::State,
         std::string(function) + ": no parameter of " + known.optimizer->name +
             " has a gradient; call scaler.scale(loss).backward() first",
         where);
  for (const Parameter &parameter : parameters)
    checkScaled(*state, *known.optimizer, parameter, where);
  record::EnableGradScope off(false);
  record::Place &place = record::placeOf(parameters.front(), where);
  moveTo({&known.found}, place, where);
  ValueRef scale = record::valueOf(state->scale, where), finite;
  for (const Parameter &parameter : parameters) {
    ValueRef one = unscaleOne(parameter, scale, where);
    finite = finite ? ops::binary("and", finite, one, where) : one;
  }
  record::write(known.found, ops::unary("not", finite, where), "unscale_", where);
  known.stage = Stage::Unscaled;
  noteChange();
}

} // namespace

ScalerState::Known &ScalerState::of(const std::shared_ptr<OptimizerState> &optimizer) {
  auto found = std::find_if(known.begin(), known.end(), [&](const Known &one) { return one.optimizer == optimizer; });
  if (found != known.end())
    return *found;
  Tensor variable = record::makeNumber(
      0, DType::I1, "buffer", [name = options.name, optimizer] { return name + ".found_inf." + optimizer->name; },
      where);
  known.push_back({optimizer, Stage::Ready, variable});
  return known.back();
}

} // namespace detail

using detail::ScalerState;
using detail::Stage;

GradScaler::GradScaler(GradScalerOptions options, Where where) : state(std::make_shared<ScalerState>()) {
  auto largest = static_cast<double>(std::numeric_limits<float>::max());
  if (!(options.init_scale > 0 && options.init_scale <= largest))
    fail(ErrorKind::Value, "GradScaler: expected an init_scale above 0 and finite in f32", where);
  if (!(options.growth_factor > 1) || !(options.backoff_factor > 0 && options.backoff_factor < 1) ||
      options.growth_interval < 0)
    fail(ErrorKind::Value,
         "GradScaler: expected a growth_factor above 1, a backoff_factor in (0, 1) and a growth_interval of 0 or more",
         where);
  state->options = options;
  state->where = where;
  state->loss->name = options.name + ".scale";
  state->scale = record::makeNumber(
      options.init_scale, DType::F32, "hyper", [name = options.name + ".scale"] { return name; }, where);
  state->tracker =
      record::makeNumber(0, DType::I64, "counter", [name = options.name + ".growth_tracker"] { return name; }, where);
}

bool GradScaler::is_enabled() const { return state->options.enabled; }

Tensor GradScaler::scale(const Tensor &loss, Where where) const {
  if (!state->options.enabled)
    return loss;
  ValueRef value = record::valueOf(loss, where);
  if (!ops::isFloat(value->type->dtype))
    fail(ErrorKind::Type, "scale: expected a loss of floats, got " + trace::str(value->type), where);
  detail::note(state);
  detail::moveTo({&state->scale, &state->tracker}, record::placeOf(loss, where), where);
  // The product of a 16-bit loss would overflow.
  DType dtype = ops::promote(value->type->dtype, DType::F32);
  ValueRef factor = ops::cast(record::valueOf(state->scale, where), dtype, where);
  ValueRef scaled =
      ops::binary("mul", ops::cast(value, dtype, where), ops::broadcastTo(factor, value->type->shape, where), where);
  if (scaled->node)
    scaled->node->scale =
        std::make_shared<record::Scaled>(record::Scaled{state->loss, state->loss->updates, record::locate(where)});
  return ops::wrap(scaled);
}

void GradScaler::unscale_(const optim::Optimizer &optimizer, Where where) {
  if (!state->options.enabled)
    return;
  detail::note(state);
  ScalerState::Known &known = state->of(optimizer.state);
  if (known.stage != Stage::Ready)
    fail(ErrorKind::State,
         std::string("unscale_: ") + (known.stage == Stage::Unscaled ? "already called" : "called behind step()") +
             " for " + optimizer.state->name + " since the last update(); call scaler.update() at the end of each step",
         where);
  detail::unscale(state, known, "unscale_", where);
}

void GradScaler::step(optim::Optimizer &optimizer, Where where) {
  if (!state->options.enabled)
    return optimizer.step(where);
  detail::note(state);
  ScalerState::Known &known = state->of(optimizer.state);
  if (known.stage == Stage::Stepped)
    fail(ErrorKind::State,
         "step: already called for " + optimizer.state->name +
             " since the last update(); call scaler.update() at the end of each step",
         where);
  if (known.stage == Stage::Ready)
    detail::unscale(state, known, "step", where);
  known.stage = Stage::Stepped;
  detail::noteChange();
  optimizer.stepUnless(known.found, where);
}

void GradScaler::update(Where where) {
  if (!state->options.enabled)
    return;
  detail::note(state);
  record::EnableGradScope off(false);
  ValueRef found;
  for (ScalerState::Known &known : state->known) {
    if (known.stage == Stage::Ready)
      continue;
    ValueRef one = record::valueOf(known.found, where);
    found = found ? ops::binary("or", found, one, where) : one;
  }
  if (!found)
    fail(ErrorKind::State,
         "update: no gradients were checked since the last update(); call scaler.step(optimizer) first", where);
  for (ScalerState::Known &known : state->known)
    known.stage = Stage::Ready;
  ++state->loss->updates;
  detail::noteChange();
  if (!state->isDynamic())
    return;
  static const record::OpRef op = trace::internOp("dl.update_scale");
  const GradScalerOptions &options = state->options;
  trace::Attributes attributes;
  attributes.real("growth", options.growth_factor)
      .real("backoff", options.backoff_factor)
      .integer("interval", options.growth_interval);
  ValueRef operands[] = {record::valueOf(state->scale, where), record::valueOf(state->tracker, where), found};
  std::vector<ValueRef> results = record::recordAll(op, attributes.intern(), operands, where);
  record::write(state->scale, results[0], "update", where);
  record::write(state->tracker, results[1], "update", where);
}

double GradScaler::get_scale(Where where) const {
  return state->options.enabled ? state->scale.item<double>(where) : 1.0;
}

StateDict GradScaler::state_dict() const {
  StateDict result;
  for (const Tensor *tensor : {&state->scale, &state->tracker})
    result.add(nn::detail::variableOf(*tensor).name(), *tensor);
  return result;
}

void GradScaler::load_state_dict(const StateDict &given, LoadOptions options, Where where) {
  record::loadState(state_dict(), given, options.strict, where);
}

} // namespace dlc
