#include "nn/ModuleNode.h"
#include "ops/Primitive.h"
#include "optim/Rule.h"
#include "record/Recording.h"

#include <algorithm>
#include <set>

namespace dlc::optim {

using detail::Group;
using detail::OptimizerState;
using nn::detail::variableOf;
using record::fail;
using record::Storage;
using record::ValueRef;
using record::Variable;

namespace {

Storage &storageOf(const Tensor &tensor) { return *record::implOf(tensor, Where::current()).storage; }

std::string hyperName(const OptimizerState &state, size_t group, const std::string &name) {
  return state.name + "." + (group ? "groups." + std::to_string(group) + "." : "") + name;
}

/// State like the parameter, at the parameter's offset in a segment of its kind.
Tensor makeState(OptimizerState &state, const std::string &kind, const Parameter &parameter) {
  std::shared_ptr<Variable> of = storageOf(parameter).variable;
  auto variable = std::make_shared<Variable>();
  variable->type = of->type;
  variable->place = of->place;
  variable->role = "optimizer_state";
  variable->where = state.where;
  variable->name = [of, prefix = state.name + "." + kind + "."] { return prefix + of->name(); };
  of->data();
  auto &mirror = state.mirrors[{kind, of->segment.get()}];
  if (!mirror)
    mirror = record::makeSegment("optimizer_state." + kind + "." + of->segment->name, of->segment->bytes, *of->place,
                                 state.where);
  record::placeAt(*variable, mirror, of->offset);
  return record::makeTensor(record::makeVariable(variable));
}

Tensor makeCounter(const OptimizerState &state, int64_t value, record::Place &place) {
  // PyTorch keeps a count a parameter; one that all share is enough until a subset steps alone.
  size_t ordinal = state.counters.size();
  std::string name = state.name + (ordinal ? ".step." + std::to_string(ordinal) : ".step");
  return record::makeNumber(
      static_cast<double>(value), DType::I64, "counter", [name] { return name; }, state.where, place);
}

int64_t countOf(const Tensor &counter, Where where) {
  Storage &storage = storageOf(counter);
  if (storage.value()->state != record::Value::State::Variable)
    return counter.item<int64_t>(where);
  int64_t count = 0;
  record::copyBytes(record::Place::host(), &count, *storage.variable->place, storage.variable->data(), sizeof count,
                    where);
  return count;
}

/// A count goes where its parameters are, if those are in one place.
void moveCounters(OptimizerState &state, Where where) {
  for (size_t i = 0; i < state.counters.size(); ++i) {
    std::set<record::Place *> places;
    for (const auto &[storage, slot] : state.slots)
      if (slot.counter == i)
        places.insert(storage->variable->place);
    record::Ref<Storage> counter(&storageOf(state.counters[i]));
    if (places.size() == 1 && *places.begin() != counter->variable->place)
      record::moveState({&counter, 1}, **places.begin(), where);
  }
}

/// The count of steps, if the rule wants one: parameters that step without their companions get a copy of their own.
void splitCounters(OptimizerState &state, const std::set<Storage *> &stepping, Where where) {
  std::set<size_t> mixed;
  for (const auto &[storage, slot] : state.slots)
    if (!stepping.contains(storage))
      mixed.insert(slot.counter);
  std::map<std::pair<size_t, record::Place *>, size_t> copies;
  for (Storage *storage : stepping) {
    size_t &counter = state.slots.at(storage).counter;
    record::Place *place = storage->variable->place;
    // A count is where the parameters are that it belongs to.
    if (!mixed.contains(counter) && storageOf(state.counters[counter]).variable->place == place)
      continue;
    auto [copy, isNew] = copies.try_emplace({counter, place}, state.counters.size());
    if (isNew)
      state.counters.push_back(makeCounter(state, countOf(state.counters[counter], where), *place));
    counter = copy->second;
  }
}

/// State tensors follow a parameter that was moved.
void followParameter(const OptimizerState::Slot &slot, const Storage &parameter, Where where) {
  std::vector<record::Ref<Storage>> moved;
  for (const Tensor &tensor : slot.states)
    if (storageOf(tensor).variable->place != parameter.variable->place)
      moved.emplace_back(&storageOf(tensor));
  if (!moved.empty())
    record::moveState(moved, *parameter.variable->place, where);
}

struct Stepping {
  const Parameter *parameter;
  const Group *group;
  Tensor gradient;
};

std::vector<Stepping> withGradients(const OptimizerState &state, Where where) {
  std::vector<Stepping> list;
  for (const Group &group : state.groups)
    for (const Parameter &parameter : group.parameters) {
      Tensor gradient = parameter.requires_grad() ? parameter.grad(where) : Tensor();
      if (gradient.defined())
        list.push_back({&parameter, &group, gradient});
      if (const auto &scaled = storageOf(parameter).leaf().scaled; gradient.defined() && scaled)
        fail(ErrorKind::State,
             "step: gradients of " + state.name + " are still scaled (" + scaled->text() +
                 "); call scaler.step(optimizer), and unscale_() only behind the last backward()",
             where);
    }
  return list;
}

} // namespace

Optimizer::Optimizer(const detail::Rule &rule, std::string name, Where where)
    : state(std::make_shared<OptimizerState>()) {
  state->rule = rule;
  state->name = std::move(name);
  state->where = where;
}

void Optimizer::addGroup(std::vector<Parameter> parameters, const std::vector<double> &hyper, Where where) {
  for (const Group &group : state->groups)
    for (const Parameter &known : group.parameters)
      for (const Parameter &added : parameters)
        if (added.shares_storage_with(known))
          fail(ErrorKind::Value, "add_param_group: " + added.name() + " is in another group", where);
  size_t index = state->groups.size();
  Group group;
  group.parameters = std::move(parameters);
  for (size_t i = 0; i < hyper.size(); ++i) {
    std::string name = hyperName(*state, index, state->rule.hyper[i]);
    group.hyper.push_back(record::makeNumber(hyper[i], DType::F64, "hyper", [name] { return name; }, where));
  }
  state->groups.push_back(std::move(group));
  record::noteStructureChange();
}

size_t Optimizer::groups() const { return state->groups.size(); }

void Optimizer::step(Where where) { stepUnless(Tensor(), where); }

void Optimizer::stepUnless(const Tensor &skip, Where where) {
  record::EnableGradScope off(false);
  std::vector<Stepping> list = withGradients(*state, where);
  if (list.empty())
    return;
  std::set<Storage *> stepping;
  for (const Stepping &entry : list) {
    Storage &storage = storageOf(*entry.parameter);
    stepping.insert(&storage);
    auto [slot, isNew] = state->slots.try_emplace(&storage);
    if (!isNew) {
      followParameter(slot->second, storage, where);
      continue;
    }
    for (const std::string &kind : state->rule.states)
      slot->second.states.push_back(makeState(*state, kind, *entry.parameter));
  }
  // Of an old and a new value the one that counts.
  ValueRef skipped = skip.defined() ? record::valueOf(skip, where) : ValueRef();
  auto chosen = [&](const Tensor &old, const ValueRef &updated) {
    if (!skipped)
      return updated;
    ValueRef before = record::valueOf(old, where);
    return ops::select(ops::broadcastTo(skipped, before->type->shape, where), before, updated, where);
  };
  std::map<size_t, ValueRef> counts;
  if (state->rule.counts) {
    if (state->counters.empty())
      state->counters.push_back(makeCounter(*state, 0, *(*stepping.begin())->variable->place));
    else
      moveCounters(*state, where);
    splitCounters(*state, stepping, where);
  }
  std::map<const Group *, std::vector<ValueRef>> hyper;
  for (const Stepping &entry : list) {
    Storage &storage = storageOf(*entry.parameter);
    OptimizerState::Slot &slot = state->slots.at(&storage);
    ValueRef step;
    if (state->rule.counts) {
      ValueRef &count = counts[slot.counter];
      if (!count) {
        Tensor &counter = state->counters[slot.counter];
        count = ops::binary("add", record::valueOf(counter, where), ops::number(1, DType::I64, where), where);
        record::write(counter, chosen(counter, count), "step", where);
      }
      step = count;
    }
    std::vector<ValueRef> &values = hyper[entry.group];
    if (values.empty())
      for (const Tensor &number : entry.group->hyper)
        values.push_back(record::valueOf(number, where));
    std::vector<ValueRef> states;
    states.reserve(slot.states.size());
    for (const Tensor &tensor : slot.states)
      states.push_back(record::valueOf(tensor, where));
    std::vector<ValueRef> results = state->rule.record(
        record::valueOf(*entry.parameter, where), record::valueOf(entry.gradient, where), states, values, step, where);
    record::write(*entry.parameter, chosen(*entry.parameter, results[0]), "step", where);
    for (size_t i = 0; i < slot.states.size(); ++i)
      record::write(slot.states[i], chosen(slot.states[i], results[i + 1]), "step", where);
    storage.leaf().used = record::locate(where);
  }
  record::endStep(where);
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const Group &group : state->groups)
    for (const Parameter &parameter : group.parameters)
      parameter.zero_grad(set_to_none);
}

void Optimizer::set_lr(double lr, std::optional<size_t> group) {
  for (size_t i = 0; i < state->groups.size(); ++i)
    if (!group || *group == i)
      record::hostWrite(variableOf(state->groups[i].hyper[0]), &lr, Where::current());
}

double Optimizer::lr(size_t group) const {
  if (group >= state->groups.size())
    fail(ErrorKind::Value, "lr: there is no group " + std::to_string(group), Where::current());
  return state->groups[group].hyper[0].item<double>();
}

StateDict Optimizer::state_dict() const {
  StateDict result;
  for (size_t i = 0; i < state->rule.states.size(); ++i)
    for (const Group &group : state->groups)
      for (const Parameter &parameter : group.parameters) {
        auto [slot, isNew] = state->slots.try_emplace(&storageOf(parameter));
        if (isNew)
          for (const std::string &kind : state->rule.states)
            slot->second.states.push_back(makeState(*state, kind, parameter));
        const Tensor &tensor = slot->second.states[i];
        result.add(variableOf(tensor).name(), tensor);
      }
  if (state->rule.counts && state->counters.empty()) {
    bool any = !state->groups.empty() && !state->groups.front().parameters.empty();
    record::Place &place =
        any ? *storageOf(state->groups.front().parameters.front()).variable->place : record::Place::host();
    state->counters.push_back(makeCounter(*state, 0, place));
  }
  for (const Tensor &counter : state->counters)
    result.add(variableOf(counter).name(), counter);
  for (const Group &group : state->groups)
    for (const Tensor &number : group.hyper)
      result.add(variableOf(number).name(), number);
  return result;
}

void Optimizer::load_state_dict(const StateDict &given, LoadOptions options, Where where) {
  record::loadState(state_dict(), given, options.strict, where);
}

} // namespace dlc::optim
