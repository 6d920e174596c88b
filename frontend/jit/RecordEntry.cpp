#include "jit/FunctionState.h"
#include "ops/Primitive.h"
#include "record/Variable.h"

#include "dlc/runtime/Manifest.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

namespace dlc::detail {

using record::Recording;
using record::Value;
using record::ValueRef;

namespace {

/// The arguments as the body sees them.
Flat makeArguments(Recording &recording, const Flat &arguments, Where where) {
  Flat inside;
  inside.statics = arguments.statics;
  for (size_t i = 0; i < arguments.size(); ++i) {
    record::Impl &impl = record::implOf(arguments[i], where);
    void *data = impl.chain.empty() ? record::demand(*impl.storage, where)
                                    : record::demand(record::valueOf(arguments[i], where), where);
    record::Place &place = record::placeOf(arguments[i], where);
    LayoutRef layout = impl.storage->value()->layout;
    // A demanded value makes this an ordinary trace over what was passed.
    recording.passed.push_back(
        std::make_shared<record::Buffer>(data, record::bytesHere(impl.type, layout), [keep = arguments[i]] {}, place));
    ValueRef value(new Value);
    value->place = &place;
    value->state = Value::State::Argument;
    value->type = impl.type;
    value->layout = layout;
    value->exact = impl.storage->value()->exact;
    value->argument = static_cast<uint32_t>(i);
    recording.arguments.push_back(value);
    Ref<Storage> storage(new Storage(value));
    storage->birth = recording.number;
    if (arguments[i].requires_grad()) {
      storage->leaf().requiresGrad = true;
      value->requiresGrad = true;
      value->leaf = storage.get();
    }
    inside.push(record::makeTensor(storage));
  }
  return inside;
}

/// Puts everything outside back to where it was; what the body recorded and did not return is gone.
void rollBack(Recording &recording) {
  for (auto touched = recording.touched.rbegin(); touched != recording.touched.rend(); ++touched) {
    Storage &storage = *touched->storage;
    storage.replace(touched->before);
    storage.version = touched->version;
    if (storage.leafData && storage.leafData->requiresGrad && touched->before->requiresGrad) {
      touched->before->leaf = &storage;
      touched->before->obstacle.reset();
    }
  }
  for (auto &[storage, before] : recording.leaves) {
    bool requiresGrad = storage->leaf().requiresGrad;
    storage->leaf() = before;
    storage->leaf().requiresGrad = requiresGrad;
  }
  recording.trace.dirty.clear();
}

/// Of a recording that counts for nothing: also the host's facts.
void discard(Recording &recording) {
  for (auto undo = recording.undo.rbegin(); undo != recording.undo.rend(); ++undo)
    (*undo)();
  rollBack(recording);
}

void expire(Recording &recording) {
  std::string text = "jit: this value was recorded in " + recording.name + " (" + record::brief(recording.site) +
                     ") and not returned; it has no value outside";
  std::vector<Ref<record::Node>> nodes;
  for (record::Node *node = recording.trace.first; node; node = node->after)
    nodes.emplace_back(node);
  auto end = [&](Value &value) {
    value.state = Value::State::Expired;
    value.obstacle =
        std::make_unique<record::Obstacle>(record::Obstacle{record::Obstacle::Used, text, recording.site, {}});
  };
  for (const auto &node : nodes)
    record::unlink(*node);
  for (const auto &node : nodes)
    for (size_t i = 0; i < node->results.size(); ++i)
      if (Value *result = node->results[i]) {
        end(*result);
        record::forgetNode(*result);
      }
  for (const ValueRef &argument : recording.arguments)
    end(*argument);
}

/// Collects what the entry must produce and where it goes.
class Results {
public:
  Results(Recording &recording, Entry &entry) : recording(recording), entry(entry) {}

  void addReturned(const Flat &returned, Where where) {
    entry.outputStatics = returned.statics;
    for (size_t i = 0; i < returned.size(); ++i) {
      Output output;
      const record::Impl &impl = record::implOf(returned[i], where);
      ValueRef value = record::valueOf(returned[i], where);
      bool own = impl.storage->birth == recording.number;
      if (own && value->state == Value::State::Argument) {
        output.kind = Output::Argument;
        output.index = value->argument;
      } else if (!own && (value->state != Value::State::Pending || impl.storage->variable)) {
        output.kind = Output::Handle;
        output.handle = returned[i];
      } else {
        output.index = add(value);
      }
      entry.outputs.push_back(std::move(output));
    }
  }

  /// Anonymous tensors from outside that the body changed.
  void addUpdates() {
    for (const auto &[storage, before, version] : recording.touched)
      if (!storage->variable)
        entry.updates.push_back({storage, add(storage->value())});
  }

  void addLeaves(bool keep, Where where) {
    for (const auto &touched : recording.leaves) {
      record::Leaf &leaf = touched.storage->leaf();
      LeafExit exit{touched.storage, LeafExit::None, {}, {}, {}, {}, false, false};
      if (leaf.used && !keep) {
        exit.kind = LeafExit::Spent;
        exit.site = *leaf.used;
      } else if (leaf.gradient.defined()) {
        exit.kind = LeafExit::Kept;
        exit.gradient = leaf.gradient;
        exit.scaled = leaf.scaled;
        exit.stale = leaf.scaled && leaf.scaled->isStale();
        exit.zero = leaf.zero;
        if (record::implOf(leaf.gradient, where).storage->birth == recording.number) {
          exit.result = add(record::valueOf(leaf.gradient, where));
          exit.gradient = Tensor();
        }
      } else if (leaf.spent) {
        exit.kind = LeafExit::Spent;
        exit.site = *leaf.spent;
      }
      entry.leaves.push_back(std::move(exit));
    }
  }

  std::vector<ValueRef> values;

private:
  size_t add(const ValueRef &value) {
    values.push_back(value);
    return values.size() - 1;
  }
  Recording &recording;
  Entry &entry;
};

void bindInputs(Entry &entry, const Recording &recording) {
  for (size_t i = 0; i < entry.graph.inputs.size(); ++i) {
    const ValueRef &input = entry.graph.inputs[i];
    entry.inputs.push_back({nullptr, record::bytesHere(input->type, input->layout)});
    if (i < recording.arguments.size())
      continue;
    auto found = std::find_if(recording.captured.begin(), recording.captured.end(),
                              [&](const Recording::Captured &captured) { return captured.value == input; });
    if (found != recording.captured.end()) {
      entry.captured.push_back({i, found->storage, input->layout, input->exact});
    } else if (input->state == Value::State::Variable) {
      entry.hostReads.push_back({i, input->variable});
    } else {
      entry.inputs.back().data = input->buffer->data;
      entry.constants.push_back(input);
    }
  }
}

void compileEntry(FunctionState &function, Entry &entry) {
  std::shared_ptr<const record::Compiled> compiled =
      record::compiledFor(entry.graph, function.options.name, function.where);
  entry.runnable = compiled->runnable;
  if (const Manifest *manifest = entry.runnable->manifest()) {
    entry.report.peak_bytes = manifest->entries.front().peak;
    for (const MemoryClass &memory : manifest->memory)
      if (memory.name == "activation")
        entry.report.activation_bytes = memory.bytes;
  }
  entry.program =
      record::toProgram(entry.graph, std::vector<bool>(entry.graph.numbers.size(), false), function.options.name);
  record::Bound bound;
  record::bindNumbers(entry.graph, *compiled, bound);
  entry.numbers = std::move(bound.numbers); // moving keeps the addresses
  entry.inputs.insert(entry.inputs.end(), bound.arguments.begin(), bound.arguments.end());
  if (auto fromHost = record::hostArguments(entry.graph, entry.inputs.size()); !fromHost.empty())
    entry.fromHost = std::make_unique<record::HostInputs>(*entry.graph.place, std::move(fromHost));
  std::span<const LayoutRef> layouts = entry.runnable->resultLayouts();
  for (size_t i = 0; i < entry.graph.outputs.size(); ++i) {
    TypeRef type = entry.graph.outputs[i]->type;
    entry.resultTypes.push_back(type);
    entry.resultLayouts.push_back(layouts.empty() ? nullptr : layouts[i]);
    entry.results.push_back({nullptr, record::bytesHere(type, entry.resultLayouts[i])});
  }
  for (size_t i = 0; i < entry.graph.variables.size(); ++i)
    if (entry.graph.written[i])
      entry.written.push_back(entry.graph.variables[i]);
}

/// The graph's nodes end with the recording.
void dropNodes(record::Extracted &graph) {
  graph.nodes.clear();
  graph.numbers.clear();
  graph.outputs.clear();
  graph.written.clear();
  graph.inputs.clear();
}

/// Into the program, and into its key where they are not the usual ones.
void setMakers(Entry &entry, const JitOptions &options, const Where &where) {
  constexpr uint64_t kTag = uint64_t('m') << 56;
  static constexpr std::array<std::string_view, 4> kChoices = {"", "auto", "library", "generated"};
  auto numberOf = [&](const char *name, const std::string &text) {
    auto found = std::find(kChoices.begin(), kChoices.end(), text);
    if (found == kChoices.end())
      record::fail(ErrorKind::Value,
                   std::string("jit: expected ") + name + " to be library, generated or auto, got '" + text + "'",
                   where);
    return static_cast<uint64_t>(found - kChoices.begin());
  };
  uint64_t code = numberOf("matmul", options.matmul) * kChoices.size() + numberOf("conv", options.conv);
  entry.graph.makers = {options.matmul, options.conv};
  if (code)
    entry.graph.key.push_back(kTag | code);
}

/// What the entry has to do, from what the body recorded and returned. False where that is the work of several places:
/// then it has run.
bool extractEntry(const FunctionState &function, Entry &entry, Recording &recording, const Flat &returned) {
  Results wanted(recording, entry);
  {
    record::EnableGradScope off(false); // reading results records no fences
    wanted.addReturned(returned, function.where);
    wanted.addUpdates();
    wanted.addLeaves(function.options.keep_grads, function.where);
  }
  std::vector<record::Place *> places = record::placesOf(recording.trace, wanted.values);
  if (places.size() > 1) {
    record::retrace(recording, function.where, "tensors of several devices are computed");
    return false;
  }
  entry.graph = record::extract(recording.trace, recording.arguments, std::move(wanted.values), *places.front());
  const JitOptions &options = function.options;
  for (int64_t limit : {options.memory_limit, options.activation_budget})
    if (limit < 0)
      record::fail(ErrorKind::Value, "jit: expected limits of 0 bytes or more, got " + std::to_string(limit),
                   function.where);
  if (options.memory_limit || options.activation_budget) {
    entry.graph.limits = {options.memory_limit, options.activation_budget};
    for (int64_t limit : {options.memory_limit, options.activation_budget})
      entry.graph.key.push_back(static_cast<uint64_t>(limit));
  }
  setMakers(entry, options, function.where);
  for (const record::Node *number : entry.graph.numbers)
    entry.hostNumbers.push_back({*number->number, number->site});
  bindInputs(entry, recording);
  if (const auto &random = recording.random)
    entry.random = {random->seed->buffer, random->base->buffer, record::randomState().second - random->start};
  return true;
}

Flat begin(Recording &recording, const FunctionState &function, const Flat &arguments) {
  recording.name = function.options.name;
  recording.site = {function.where, nullptr};
  recording.fullgraph = function.options.fullgraph;
  return makeArguments(recording, arguments, function.where);
}

/// Ends the recording of this thread on every way out.
struct RecordingScope {
  explicit RecordingScope(Recording &recording) { record::threadState().recording = &recording; }
  ~RecordingScope() { record::threadState().recording = nullptr; }
};

} // namespace

std::unique_ptr<Entry> recordEntry(FunctionState &function, const Flat &arguments, Flat &results, Body body,
                                   Signature signature) {
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  auto entry = std::make_unique<Entry>();
  Recording recording;
  Flat inside = begin(recording, function, arguments);
  RecordingScope scope(recording);
  Flat returned;
  try {
    body.run(body.self, inside, returned);
    if (recording.retraced || !extractEntry(function, *entry, recording, returned)) {
      entry = std::make_unique<Entry>();
      entry->signature = std::move(signature);
      entry->retraced = true;
      entry->demanded = recording.demanded;
      entry->cause = recording.cause;
      results = std::move(returned);
      return entry;
    }
    auto traced = Clock::now();
    compileEntry(function, *entry);
    dropNodes(entry->graph);
    entry->report.trace_seconds = std::chrono::duration<double>(traced - start).count();
    entry->report.compile_seconds = std::chrono::duration<double>(Clock::now() - traced).count();
  } catch (...) {
    if (!recording.retraced) {
      discard(recording);
      expire(recording);
    }
    throw;
  }
  rollBack(recording);
  expire(recording);
  if (recording.random) // each call, the first too, moves the generator on
    record::setRandomState({record::randomState().first, recording.random->start});
  entry->signature = std::move(signature);
  entry->guards = std::move(recording.guards);
  for (const auto &[owner, facts] : recording.facts) {
    entry->leaveFacts.push_back(facts.leave());
    facts.undo(); // the call does it
  }
  entry->structure = record::structureEpoch();
  entry->rebinds = record::rebindEpoch();
  return entry;
}

std::unique_ptr<Entry> recordAgain(FunctionState &function, const Flat &arguments, Body body) {
  auto entry = std::make_unique<Entry>();
  Recording recording;
  Flat inside = begin(recording, function, arguments);
  recording.checking = true;
  RecordingScope scope(recording);
  Flat returned;
  auto end = [&] {
    discard(recording);
    expire(recording);
    dropNodes(entry->graph);
    entry->retraced = recording.retraced;
  };
  try {
    body.run(body.self, inside, returned);
    if (!recording.retraced)
      extractEntry(function, *entry, recording, returned);
  } catch (...) {
    end();
    if (!recording.retraced)
      throw;
    return entry;
  }
  end();
  return entry;
}

} // namespace dlc::detail
