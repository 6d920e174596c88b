#include "jit/FunctionState.h"
#include "ops/Primitive.h"
#include "record/Variable.h"

#include <cstring>

namespace dlc::detail {

using record::Value;
using record::ValueRef;

namespace {

void *argumentAddress(const Tensor &tensor, std::vector<std::shared_ptr<record::Buffer>> &copies,
                      const std::source_location &where) {
  record::Impl &impl = *tensor.get();
  if (impl.chain.empty()) {
    const Value &value = *impl.storage->value();
    if (value.state == Value::State::Concrete)
      return value.buffer->data;
    void *data = record::demand(*impl.storage, where);
    if (impl.storage->value()->state != Value::State::Variable)
      return data;
    // The entry may write this state; arguments never change under it.
    copies.push_back(record::copyOf(*impl.storage->variable));
    return copies.back()->data;
  }
  return record::demand(record::valueOf(tensor, where), where);
}

/// Nobody but the ring refers to the tensor, and it is as it was made.
bool isFree(const Tensor &tensor) {
  const record::Impl &impl = *tensor.get();
  if (impl.count.load(std::memory_order_acquire) != 1 || impl.detached || !impl.chain.empty() ||
      impl.storage->count.load(std::memory_order_acquire) != 1 || impl.storage->leafData || impl.storage->captured)
    return false;
  const Value &value = *impl.storage->value();
  return value.count.load(std::memory_order_acquire) == 1 && value.state == Value::State::Concrete &&
         value.buffer.use_count() == 1 && impl.storage->version == 0;
}

std::optional<DType> exactOf(const Entry &entry, size_t result) {
  const auto &exact = entry.runnable->exactResults;
  return exact.empty() ? std::nullopt : exact[result];
}

Tensor freshTensor(const Entry &entry, size_t result) {
  LayoutRef layout = entry.resultLayouts[result];
  TypeRef type = entry.resultTypes[result];
  auto buffer = record::Buffer::allocate(record::bytesHere(type, layout), *entry.graph.place);
  ValueRef value = record::concrete(type, std::move(buffer), layout);
  value->exact = exactOf(entry, result);
  return record::makeTensor(value);
}

Tensor &nextOutput(const Entry &entry, Output &output) {
  for (size_t tried = 0; tried < output.ring.size() && tried < 4; ++tried) {
    output.next = output.next + 1 < output.ring.size() ? output.next + 1 : 0;
    if (!isFree(output.ring[output.next]))
      continue;
    if (entry.resultLayouts[output.index])
      output.ring[output.next].get()->storage->value()->whole = nullptr;
    return output.ring[output.next];
  }
  if (output.ring.size() >= 64) { // the user keeps them: a ring would only grow
    output.next = output.next + 1 < output.ring.size() ? output.next + 1 : 0;
    return output.ring[output.next] = freshTensor(entry, output.index);
  }
  output.ring.push_back(freshTensor(entry, output.index));
  output.next = output.ring.size() - 1;
  return output.ring.back();
}

/// Values of state that somebody else holds keep what they had.
void saveHeldState(const Entry &entry) {
  for (const auto &variable : entry.written) {
    Value &state = *variable->state;
    if (state.count.load(std::memory_order_relaxed) <= 2 || !state.external(2))
      continue;
    state.buffer = record::copyOf(*variable);
    state.state = Value::State::Concrete;
  }
}

void renewState(const Entry &entry, const std::source_location &where) {
  bool seen = false;
  for (const auto &variable : entry.written) {
    variable->pristine = false;
    if (!variable->storage)
      continue;
    ++variable->storage->version;
    ValueRef before = variable->state;
    if (before->count.load(std::memory_order_relaxed) <= 3) // the variable, its storage, here
      continue;
    seen = true;
    before->leaf = nullptr;
    if (before->state == Value::State::Variable)
      before->state = Value::State::Expired;
    before->obstacle = std::make_unique<record::Obstacle>(
        record::Obstacle{record::Obstacle::Overwritten, variable->name(), record::locate(where), {}});
    record::adoptState(*variable->storage);
  }
  if (seen)
    record::dropStaleGraphs();
}

ValueRef resultValue(const Entry &entry, size_t result, std::span<const std::shared_ptr<record::Buffer>> buffers) {
  ValueRef value = record::concrete(entry.resultTypes[result], buffers[result], entry.resultLayouts[result]);
  value->exact = exactOf(entry, result);
  return value;
}

void leaveGradients(Entry &entry, std::span<const std::shared_ptr<record::Buffer>> buffers) {
  bool changed = false;
  for (const LeafExit &exit : entry.leaves) {
    record::Leaf &leaf = exit.storage->leaf();
    record::LeafFacts before = factsOf(leaf);
    leaf.used.reset();
    leaf.spent.reset();
    leaf.scaled = exit.scaled;
    if (leaf.scaled)
      leaf.scaled->updates = leaf.scaled->by->updates - (exit.stale ? 1 : 0);
    leaf.zero = exit.zero;
    if (exit.kind == LeafExit::Spent)
      leaf.spent = exit.site;
    if (exit.kind != LeafExit::Kept)
      leaf.gradient = Tensor();
    else if (exit.result)
      leaf.gradient = record::makeTensor(resultValue(entry, *exit.result, buffers));
    changed |= before != factsOf(leaf);
  }
  if (changed)
    record::noteStructureChange();
}

void giveRandom(const Entry::Random &random) {
  if (!random.base)
    return;
  auto [seed, next] = record::randomState();
  std::memcpy(random.seed->data, &seed, sizeof seed);
  std::memcpy(random.base->data, &next, sizeof next);
  record::setRandomState({seed, next + random.draws});
}

} // namespace

void runEntry(Entry &entry, const Flat &arguments, Flat &results, const std::source_location &where) {
  std::vector<std::shared_ptr<record::Buffer>> copies;
  for (size_t i = 0; i < arguments.size(); ++i)
    entry.inputs[i].data = argumentAddress(arguments[i], copies, where);
  for (const Entry::Capture &captured : entry.captured)
    entry.inputs[captured.input].data = record::demand(*captured.storage, where);
  for (const Entry::HostNumberRead &read : entry.hostReads)
    entry.inputs[read.input].data = read.variable->data();
  record::Place &place = *entry.graph.place;
  // Memory for results that go elsewhere than into a returned tensor.
  std::vector<std::shared_ptr<record::Buffer>> buffers;
  bool hidden = !entry.updates.empty();
  for (const LeafExit &exit : entry.leaves)
    hidden |= exit.result.has_value();
  if (hidden) {
    buffers.resize(entry.results.size());
    for (size_t i = 0; i < buffers.size(); ++i) {
      buffers[i] = record::Buffer::allocate(entry.results[i].bytes, place, where);
      entry.results[i].data = buffers[i]->data;
    }
  }
  for (Output &output : entry.outputs) {
    if (output.kind == Output::Argument) {
      results.push(arguments[output.index]);
    } else if (output.kind == Output::Handle) {
      results.push(output.handle);
    } else {
      Tensor &tensor = nextOutput(entry, output);
      entry.results[output.index].data = tensor.get()->storage->value()->buffer->data;
      results.push(tensor);
    }
  }
  results.statics = entry.outputStatics;
  saveHeldState(entry);
  giveRandom(entry.random);
  std::span<const DlcBuffer> inputs = entry.inputs;
  if (entry.fromHost)
    inputs = entry.fromHost->give(inputs, where);
  record::check(entry.runnable->run(inputs, entry.results), where);
  renewState(entry, where);
  for (const Update &update : entry.updates) {
    ++update.storage->version;
    ValueRef value = resultValue(entry, update.result, buffers);
    if (update.storage->leafData && update.storage->leafData->requiresGrad) {
      value->requiresGrad = true;
      value->leaf = update.storage.get();
    }
    update.storage->replace(std::move(value));
  }
  for (const auto &leave : entry.leaveFacts)
    leave();
  if (!entry.leaves.empty())
    leaveGradients(entry, buffers);
}

} // namespace dlc::detail
