#include "record/Body.h"
#include "record/Extract.h"
#include "record/HostInputs.h"
#include "record/Job.h"
#include "record/Recording.h"

#include <algorithm>

namespace dlc::record {

std::vector<Value *> keptList();

namespace {

/// Whether backward() can still go through the value: every leaf it read is at its current version.
bool isLiveGraph(const Value &value) { return value.leaf || (value.node && !value.obstacle); }

const Value *staleOperand(const Node &node) {
  for (const ValueRef &operand : node.operands)
    if (operand->requiresGrad && !isLiveGraph(*operand))
      return operand.get();
  return nullptr;
}

void markStale(Value &value, const Value &operand) {
  if (value.obstacle)
    return;
  Obstacle obstacle = operand.obstacle ? *operand.obstacle : Obstacle{Obstacle::Used, {}, {}, {}};
  if (obstacle.kind == Obstacle::Overwritten && !obstacle.read.line.line())
    obstacle.read = value.node->site;
  value.obstacle = std::make_unique<Obstacle>(std::move(obstacle));
}

/// Keeps the graph of live values that a later backward() can go through; forgets all others.
void settle(std::span<const Ref<Node>> nodes) {
  for (const Ref<Node> &node : nodes) {
    const Value *stale = staleOperand(*node);
    for (Value *result : node->results) {
      if (!result)
        continue;
      if (result->requiresGrad && stale)
        markStale(*result, *stale);
      if (result->state == Value::State::Pending)
        result->state = Value::State::Dropped;
    }
  }
  for (const Ref<Node> &node : nodes)
    for (size_t i = 0; i < node->results.size(); ++i) {
      Value *result = node->results[i];
      if (!result)
        continue;
      if (!result->requiresGrad && result->state == Value::State::Dropped)
        continue; // lives only as long as a kept graph needs it
      if (result->requiresGrad && !result->leaf && !result->obstacle)
        listKept(*result);
      else
        forgetNode(*result);
    }
}

/// What somebody may still ask for: results with a holder, and old values of variables that are written.
std::vector<ValueRef> liveOutputs(Trace &trace) {
  std::vector<ValueRef> outputs;
  for (Node *node = trace.first; node; node = node->after)
    for (Value *result : node->results)
      if (result && result->external())
        outputs.emplace_back(result);
  // A variable's new value goes to its arena; it is an output too only if somebody else has it.
  for (const Ref<Storage> &storage : trace.dirty) {
    Value *value = storage->value().get();
    auto found = std::find(outputs.begin(), outputs.end(), ValueRef(value));
    if (found != outputs.end() && !value->external(2)) // the storage, this list
      outputs.erase(found);
    if (Variable &variable = *storage->variable; variable.state->external(1)) // the variable
      outputs.push_back(variable.state);
  }
  return outputs;
}

void *readAddress(const Value &value) {
  return value.state == Value::State::Variable ? value.variable->data() : value.buffer->data;
}

} // namespace

void dropStaleGraphs() {
  std::vector<ValueRef> values;
  for (Value *value : keptList())
    values.emplace_back(value);
  for (bool changed = true; changed;) {
    changed = false;
    for (const ValueRef &value : values) {
      const Value *stale = value->kept && value->node ? staleOperand(*value->node) : nullptr;
      if (!stale)
        continue;
      markStale(*value, *stale);
      unlistKept(*value);
      forgetNode(*value);
      changed = true;
    }
  }
}

namespace {

/// Runs what is pending at one place.
void runAt(Place &place, Trace &trace, std::vector<ValueRef> outputs, const std::source_location &line) {
  Extracted graph = extract(trace, {}, std::move(outputs), place);
  std::shared_ptr<const Compiled> compiled = compiledFor(graph, "main", line);

  Bound bound;
  for (const ValueRef &input : graph.inputs)
    bound.arguments.push_back({readAddress(*input), bytesHere(input->type, input->layout)});
  bindNumbers(graph, *compiled, bound);
  HostInputs fromHost(place, hostArguments(graph, bound.arguments.size()));
  std::vector<DlcBuffer> results;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::span<const LayoutRef> layouts = compiled->runnable->resultLayouts();
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    int64_t bytes = bytesHere(graph.outputs[i]->type, layouts.empty() ? nullptr : layouts[i]);
    buffers.push_back(Buffer::allocate(bytes, place, line));
    results.push_back({buffers.back()->data, bytes});
  }
  check(compiled->runnable->run(fromHost.give(bound.arguments, line), results), line);

  // Old values of written variables first: their state is about to be another value's.
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    graph.outputs[i]->state = Value::State::Concrete;
    graph.outputs[i]->place = &place;
    graph.outputs[i]->variable = nullptr;
    graph.outputs[i]->buffer = buffers[i];
    graph.outputs[i]->layout = layouts.empty() ? nullptr : layouts[i];
    if (!compiled->runnable->exactResults.empty())
      graph.outputs[i]->exact = compiled->runnable->exactResults[i];
  }
  graph.outputs.clear();
  std::erase_if(trace.dirty, [&](const Ref<Storage> &storage) {
    if (storage->variable->place != &place)
      return false;
    ValueRef before = storage->variable->state;
    if (before->state == Value::State::Variable)
      before->state = Value::State::Expired;
    storage->variable->pristine = false;
    adoptState(*storage);
    return true;
  });
}

} // namespace

void cut(const std::source_location &line) {
  if (threadState().body)
    threadState().body->refuse("a value is needed", line);
  Trace &trace = threadState().outside;
  if (trace.empty()) {
    if (std::exchange(trace.leafWritten, false))
      dropStaleGraphs();
    return;
  }
  std::vector<ValueRef> outputs = liveOutputs(trace);
  bool stale = !trace.dirty.empty();
  // The host last: it may write numbers that other places read.
  std::vector<Place *> places = placesOf(trace, outputs);
  for (Place *place : places) {
    std::vector<ValueRef> own;
    for (ValueRef &output : outputs)
      if (output && &output->at() == place)
        own.push_back(std::move(output));
    runAt(*place, trace, std::move(own), line);
  }
  stale |= std::exchange(trace.leafWritten, false);
  std::vector<Ref<Node>> nodes;
  for (Node *node = trace.first, *after; node; node = after) {
    after = node->after;
    nodes.emplace_back(node);
    unlink(*node);
  }
  settle(nodes);
  if (stale)
    dropStaleGraphs();
}

void endStep(const std::source_location &line) {
  const ThreadState &state = threadState();
  if (const Job *now = job(); now && now->splitsBatches && !state.recording && !state.whole)
    cut(line);
}

void *demand(const ValueRef &value, const std::source_location &line) {
  if (threadState().body && (value->state == Value::State::Pending || value->state == Value::State::Argument))
    threadState().body->refuse("a value is needed", line);
  if (threadState().recording && (value->state == Value::State::Pending || value->state == Value::State::Argument))
    retrace(*threadState().recording, line);
  if (value->state == Value::State::Pending)
    cut(line);
  if (value->state == Value::State::Concrete || value->state == Value::State::Variable)
    return readAddress(*value);
  if (value->obstacle && value->state == Value::State::Expired)
    fail(ErrorKind::Jit, value->obstacle->name, line);
  fail(ErrorKind::Internal, "a value is asked for that no longer exists", line);
}

void *demand(Storage &storage, const std::source_location &line) {
  if (storage.variable && storage.value()->state != Value::State::Variable) {
    demand(storage.value(), line);
    cut(line); // the pending write
  }
  return demand(storage.value(), line);
}

} // namespace dlc::record
