#include "record/Extract.h"

#include "dlc/runtime/Float16.h"
#include "record/AgreeOnState.h"
#include "record/Job.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace dlc::record {

namespace {

uint64_t nextVisit() {
  static std::atomic<uint64_t> visit{0};
  return ++visit;
}

/// Collects in two sweeps: backwards what is needed, forwards the numbers.
class Extractor {
public:
  Extractor(Trace &trace, Extracted &graph) : trace(trace), graph(graph), visit(nextVisit()) {
    graph.visit = visit;
    for (const Ref<Storage> &storage : trace.dirty)
      if (storage->variable->place == graph.place)
        dirty.push_back(storage);
  }

  void run(std::span<const ValueRef> arguments) {
    for (const Ref<Storage> &storage : dirty)
      need(*storage->value());
    for (const ValueRef &output : graph.outputs)
      need(*output);
    for (Node *node = trace.last; node; node = node->before)
      if (node->visit == visit)
        for (const ValueRef &operand : node->operands)
          need(*operand);
    // Inputs and variables in the order of first use.
    for (const ValueRef &argument : arguments)
      read(*argument);
    for (Node *node = trace.first; node; node = node->after) {
      if (node->visit != visit)
        continue;
      graph.nodes.push_back(node);
      for (const ValueRef &operand : node->operands)
        read(*operand);
    }
    for (const Ref<Storage> &storage : dirty) {
      size_t index = variable(storage->variable);
      graph.written[index] = storage->value();
      read(*storage->value());
    }
    for (const ValueRef &output : graph.outputs)
      read(*output);
    number();
    makeKey();
  }

private:
  size_t variable(const std::shared_ptr<Variable> &variable) {
    auto [found, isNew] = indices.try_emplace(variable.get(), graph.variables.size());
    if (isNew) {
      variable->data();
      graph.variables.push_back(variable);
      graph.written.emplace_back();
    }
    return found->second;
  }

  void need(Value &value) {
    if (value.state == Value::State::Pending)
      value.node->visit = visit;
  }

  void read(Value &value) {
    if (graph.readsAsVariable(value)) {
      variable(value.variable);
    } else if (value.state != Value::State::Pending && value.visit != visit) {
      value.visit = visit;
      graph.inputs.emplace_back(&value);
    }
  }

  void number() {
    uint32_t next = 0;
    for (const ValueRef &input : graph.inputs)
      input->number = next++;
    for (const auto &variable : graph.variables)
      variable->number = next++;
    for (Node *node : graph.nodes) {
      if (node->number)
        graph.numbers.push_back(node);
      for (Value *result : node->results) {
        if (result)
          result->number = next;
        ++next;
      }
    }
  }

  void word(uint64_t value) { graph.key.push_back(value); }
  void word(const void *pointer) { graph.key.push_back(reinterpret_cast<uintptr_t>(pointer)); }

  void makeKey() {
    word(graph.place);
    word(graph.inputs.size());
    for (const ValueRef &input : graph.inputs) {
      word(input->type);
      word(input->layout);
      word(input->exact ? uint64_t(*input->exact) + 1 : 0);
    }
    word(graph.variables.size());
    for (size_t i = 0; i < graph.variables.size(); ++i) {
      word(graph.variables[i].get());
      word(graph.written[i] ? numberOf(*graph.written[i]) + 1 : 0);
    }
    for (Node *node : graph.nodes) {
      word(node->op);
      word(node->number ? nullptr : node->attributes);
      word(node->operands.size());
      for (const ValueRef &operand : node->operands)
        word(numberOf(*operand));
      for (TypeRef type : node->types)
        word(type);
      for (trace::RegionRef region : node->regions)
        word(region);
    }
    word(graph.outputs.size());
    for (const ValueRef &output : graph.outputs)
      word(numberOf(*output));
  }

  uint64_t numberOf(const Value &value) const { return graph.numberOf(value); }

  Trace &trace;
  Extracted &graph;
  uint64_t visit;
  std::vector<Ref<Storage>> dirty;
  std::unordered_map<Variable *, size_t> indices;
};

struct KeyHash {
  size_t operator()(const std::vector<uint64_t> &key) const {
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint64_t word : key)
      hash = (hash ^ word) * 0x9E3779B97F4A7C15u, hash ^= hash >> 31;
    return hash;
  }
};

/// All programs compiled for one structure; the variables are kept so that their addresses stay theirs.
struct CacheEntry {
  std::vector<std::shared_ptr<Variable>> variables;
  std::vector<std::shared_ptr<const Compiled>> variants;
};

std::vector<double> numbersOf(const Extracted &graph) {
  std::vector<double> numbers;
  numbers.reserve(graph.numbers.size());
  for (Node *node : graph.numbers)
    numbers.push_back(*node->number);
  return numbers;
}

bool sameBits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

} // namespace

Extracted extract(Trace &trace, std::span<const ValueRef> arguments, std::vector<ValueRef> outputs, Place &place) {
  Extracted graph;
  graph.place = &place;
  graph.outputs = std::move(outputs);
  Extractor(trace, graph).run(arguments);
  return graph;
}

std::vector<Place *> placesOf(const Trace &trace, std::span<const ValueRef> outputs) {
  std::vector<Place *> places;
  bool host = false;
  auto add = [&](Place *place) {
    if (place->isHost())
      host = true;
    else if (std::find(places.begin(), places.end(), place) == places.end())
      places.push_back(place);
  };
  for (const ValueRef &output : outputs)
    add(&output->at());
  for (const Ref<Storage> &storage : trace.dirty)
    add(storage->variable->place);
  if (host || places.empty())
    places.push_back(&Place::host());
  return places;
}

std::string initText(const Variable &variable) {
  const InitialValue &init = variable.init;
  auto real = [](double value) { return trace::exactText(value) + " : f64"; };
  std::string offset = init.offset ? ", offset = " + std::to_string(init.offset) : "";
  switch (init.kind) {
  case InitialValue::Kind::Constant:
    return "#dl.constant<" + real(init.a) + ">";
  case InitialValue::Kind::Uniform:
    return "#dl.uniform<" + real(init.a) + ", " + real(init.b) + offset + ">";
  case InitialValue::Kind::Normal:
    return "#dl.normal<" + real(init.a) + ", " + real(init.b) + offset + ">";
  default:
    return "#dl.zeros";
  }
}

/// A program that reads split values is one of the whole job; any other is this process's own.
static void spread(trace::Program &program, const Extracted &graph) {
  if (const Job *now = job(); now && now->localMembers > 1 && graph.place->isOfJob())
    program.job = now->runtime;
  if (std::none_of(graph.inputs.begin(), graph.inputs.end(), [](const ValueRef &input) { return input->layout; }))
    return;
  program.members = job()->dealt();
  program.layouts.resize(program.inputs.size());
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    program.layouts[i] = graph.inputs[i]->layout;
}

trace::Program toProgram(const Extracted &graph, const std::vector<bool> &asRuntime, const std::string &name) {
  trace::Program program;
  program.name = name;
  program.limits = graph.limits;
  program.makers = graph.makers;
  for (const ValueRef &input : graph.inputs)
    program.inputs.push_back(input->type);
  for (size_t i = 0; i < graph.numbers.size(); ++i)
    if (asRuntime[i])
      program.inputs.push_back(graph.numbers[i]->types.front());
  spread(program, graph);
  if (std::any_of(graph.inputs.begin(), graph.inputs.end(), [](const ValueRef &input) { return bool(input->exact); })) {
    program.exact.resize(program.inputs.size());
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      program.exact[i] = graph.inputs[i]->exact;
  }

  // Numbers of the extraction, moved up by the added inputs, down by the nodes that are inputs now.
  std::vector<uint32_t> renumbered;
  renumbered.reserve(graph.inputs.size());
  uint32_t next = 0, runtimeInput = static_cast<uint32_t>(graph.inputs.size());
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    renumbered.push_back(next++);
  next = static_cast<uint32_t>(program.inputs.size());
  for (size_t i = 0; i < graph.variables.size(); ++i)
    renumbered.push_back(next++);
  size_t numberIndex = 0;
  for (Node *node : graph.nodes) {
    if (node->number && asRuntime[numberIndex++]) {
      renumbered.push_back(runtimeInput++);
      continue;
    }
    trace::ProgramStep step{node->op, node->attributes, {}, node->types, node->site, node->regions};
    for (const ValueRef &operand : node->operands)
      step.operands.push_back(renumbered[graph.numberOf(*operand)]);
    for (size_t i = 0; i < node->types.size(); ++i)
      renumbered.push_back(next++);
    program.steps.push_back(std::move(step));
  }
  for (size_t i = 0; i < graph.variables.size(); ++i) {
    const Variable &variable = *graph.variables[i];
    // Inside the process a variable is known by its place; users' names come in at export.
    trace::VariableUse use{variable.segment->name + "@" + std::to_string(variable.offset),
                           variable.type,
                           variable.role,
                           initText(variable),
                           variable.segment->name,
                           variable.offset,
                           {}};
    if (graph.written[i])
      use.written = renumbered[graph.numberOf(*graph.written[i])];
    program.variables.push_back(std::move(use));
  }
  for (const ValueRef &output : graph.outputs)
    program.outputs.push_back(renumbered[graph.numberOf(*output)]);
  return program;
}

namespace {
struct Cache {
  std::mutex mutex;
  std::unordered_map<std::vector<uint64_t>, CacheEntry, KeyHash> entries;
};
Cache &cache() {
  static Cache &instance = *new Cache; // state of static tensors is in it
  return instance;
}
} // namespace

void forgetUnreachable() {
  std::vector<CacheEntry> gone; // dies after the lock is free
  std::lock_guard lock(cache().mutex);
  std::erase_if(cache().entries, [&](auto &item) {
    for (const auto &variable : item.second.variables)
      if (!variable->storage) {
        gone.push_back(std::move(item.second));
        return true;
      }
    return false;
  });
}

std::shared_ptr<const Compiled> compiledFor(const Extracted &graph, const std::string &name,
                                            const std::source_location &line) {
  std::lock_guard lock(cache().mutex);
  CacheEntry &entry = cache().entries[graph.key];
  std::vector<double> numbers = numbersOf(graph);
  std::vector<bool> asRuntime(numbers.size(), false);
  for (const auto &variant : entry.variants) {
    bool fits = true;
    for (size_t i = 0; i < numbers.size(); ++i)
      if (!variant->asRuntime[i] && !sameBits(numbers[i], variant->numbers[i])) {
        fits = false;
        asRuntime[i] = true;
      }
    if (fits)
      return variant;
    for (size_t i = 0; i < numbers.size(); ++i)
      asRuntime[i] = asRuntime[i] || variant->asRuntime[i];
  }
  trace::Program program = toProgram(graph, asRuntime, name);
  auto runnable = trace::compile(program, graph.place->session());
  check(runnable.status(), line);
  if (program.members.count > 1)
    agreeOnState(graph.variables, line);
  entry.variables = graph.variables;
  entry.variants.push_back(
      std::make_shared<const Compiled>(Compiled{std::move(numbers), std::move(asRuntime), runnable.take()}));
  return entry.variants.back();
}

void storeNumber(double number, DType dtype, void *to) {
  auto store = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  switch (dtype) {
  case DType::F64:
    return store(number);
  case DType::F32:
    return store(static_cast<float>(number));
  case DType::F16:
    return store(Float16(number));
  case DType::BF16:
    return store(BFloat16(number));
  case DType::I64:
    return store(static_cast<int64_t>(number));
  case DType::I32:
    return store(static_cast<int32_t>(number));
  case DType::I8:
    return store(static_cast<int8_t>(number));
  case DType::I1:
    return store(static_cast<char>(number != 0));
  }
}

void bindNumbers(const Extracted &graph, const Compiled &compiled, Bound &bound) {
  bound.numbers.reserve(graph.numbers.size());
  for (size_t i = 0; i < graph.numbers.size(); ++i) {
    if (!compiled.asRuntime[i])
      continue;
    TypeRef type = graph.numbers[i]->types.front();
    storeNumber(*graph.numbers[i]->number, type->dtype, bound.numbers.emplace_back().data());
    bound.arguments.push_back({bound.numbers.back().data(), type->bytes});
  }
}

std::vector<size_t> hostArguments(const Extracted &graph, size_t arguments) {
  std::vector<size_t> list;
  if (graph.place->isHost())
    return list;
  for (size_t i = 0; i < arguments; ++i)
    if (i >= graph.inputs.size() || graph.inputs[i]->place->isHost())
      list.push_back(i);
  return list;
}

} // namespace dlc::record
