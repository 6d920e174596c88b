#include "dlc/frontend/Grad.h"

#include "grad/LeafGradients.h"
#include "record/AutocastMode.h"
#include "record/Recording.h"
#include "record/Transfer.h"
#include "record/Variable.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace dlc {

using ops::ValueRef;
using record::fail;
using record::Leaf;
using record::LeafGradients;
using record::Node;
using record::Obstacle;
using record::Ref;
using record::Scaled;
using record::Storage;
using record::Value;

NoGrad::NoGrad() : before(record::gradEnabled()) { record::threadState().gradEnabled = false; }
NoGrad::~NoGrad() { record::threadState().gradEnabled = before; }
EnableGrad::EnableGrad() : before(record::gradEnabled()) { record::threadState().gradEnabled = true; }
EnableGrad::~EnableGrad() { record::threadState().gradEnabled = before; }

namespace {

/// The part of the graph between a value and the leaves.
class Graph {
public:
  Graph(const char *function, Where where) : function(function), where(where) {}

  /// Collects what the value depends on; an Error if that can no longer be differentiated.
  void collect(Value &root) {
    struct Visit {
      Value *value;
      bool afterOperands;
    };
    std::vector<Visit> open{{&root, false}};
    while (!open.empty()) {
      auto [value, afterOperands] = open.back();
      open.pop_back();
      if (afterOperands) {
        add(*value);
        continue;
      }
      if (!value->requiresGrad || !seen.insert(value).second)
        continue;
      if (value->leaf) {
        leaves.emplace_back(value);
        continue;
      }
      if (value->obstacle)
        refuse(*value, nullptr);
      if (!value->node) {
        if (value->state != Value::State::Argument)
          fail(ErrorKind::Internal, std::string(function) + ": a value has lost its graph", where);
        continue;
      }
      open.push_back({value, true});
      for (const ValueRef &operand : value->node->operands) {
        if (operand->requiresGrad && !operand->leaf && operand->obstacle)
          refuse(*operand, value->node.get());
        open.push_back({operand.get(), false});
      }
    }
  }

  /// The value in the current trace, with its graph: what has run already is recorded again.
  ValueRef present(const ValueRef &value) {
    bool asIs =
        value->leaf || !value->node ||
        (value->requiresGrad ? !past.contains(value.get())
                             : value->node->trace == &record::currentTrace() || value->state != Value::State::Dropped);
    if (asIs)
      return value;
    if (auto found = again.find(value.get()); found != again.end())
      return found->second;
    const Node &node = *value->node;
    std::vector<ValueRef> operands;
    operands.reserve(node.operands.size());
    for (const ValueRef &operand : node.operands)
      operands.push_back(present(operand));
    record::EnableGradScope mode(value->requiresGrad);
    record::AutocastScope asMarked(std::nullopt);
    record::PlaceScope scope(value->place);
    std::vector<ValueRef> results =
        node.regions.empty()
            ? record::recordAll(node.op, node.attributes, operands, node.site.line,
                                node.types.size() == 1 ? node.types[0] : nullptr)
            : record::recordRegions(node.op, node.attributes, node.regions, operands, node.types, node.site.line);
    results[0]->node->number = node.number;
    results[0]->node->scale = node.scale;
    for (size_t i = 0; i < results.size(); ++i)
      if (Value *before = node.results[i])
        again.emplace(before, results[i]);
    return again.at(value.get());
  }

  bool recordedAgain() const { return !again.empty(); }

  /// The graph serves no further backward().
  void release() {
    record::Site site = record::locate(where);
    for (const ValueRef &value : inner) {
      value->obstacle = std::make_unique<Obstacle>(Obstacle{Obstacle::Used, {}, site, {}});
      if (value->kept)
        record::unlistKept(*value);
      if (!value->node->trace)
        record::forgetNode(*value);
    }
  }

  bool contains(Value *value) const { return seen.contains(value); }

  /// For each leaf what the root is scaled by on the ways to it.
  std::vector<std::optional<Scaled>> scales(Value &root) const {
    std::vector<std::optional<Scaled>> list(leaves.size());
    if (std::none_of(inner.begin(), inner.end(), [](const ValueRef &value) { return value->node->scale; }))
      return list;
    std::unordered_map<const Value *, std::vector<const Node *>> ways; // the first scaling on each; null: none
    ways[&root] = {nullptr};
    for (auto value = inner.rbegin(); value != inner.rend(); ++value)
      for (const Node *way : std::vector<const Node *>(ways[value->get()])) {
        const Node *node = (*value)->node.get();
        const Node *first = way || !node->scale ? way : node;
        for (const ValueRef &operand : node->operands)
          if (std::vector<const Node *> &known = ways[operand.get()];
              std::find(known.begin(), known.end(), first) == known.end())
            known.push_back(first);
      }
    for (size_t i = 0; i < leaves.size(); ++i)
      list[i] = scaleOf(ways[leaves[i].get()]);
    return list;
  }

  std::vector<ValueRef> leaves;

private:
  /// A value after all it depends on. It is past when it has run, or reads a value that has: the way on to the leaves
  /// is then not in the current trace.
  void add(Value &value) {
    inner.emplace_back(&value);
    const Node &node = *value.node;
    bool isPast = node.trace != &record::currentTrace();
    for (const ValueRef &operand : node.operands)
      isPast |= past.contains(operand.get());
    if (isPast)
      past.insert(&value);
  }

  std::optional<Scaled> scaleOf(const std::vector<const Node *> &ways) const {
    const Node *scaling = nullptr;
    for (const Node *way : ways)
      scaling = way ? way : scaling;
    if (!scaling)
      return {};
    const Scaled &scaled = *scaling->scale;
    if (scaled.isStale())
      fail(ErrorKind::Gradient,
           std::string(function) + ": the loss was scaled (" + scaled.text() +
               ") before the last update(); scale it again",
           where);
    for (const Node *way : ways)
      if (!way || way->scale->by != scaled.by || way->scale->updates != scaled.updates)
        fail(ErrorKind::Gradient,
             std::string(function) + ": a part of the loss is scaled (" + scaled.text() +
                 "), another is not; scale their sum",
             where);
    return scaled;
  }

  [[noreturn]] void refuse(const Value &value, const Node *reader) const {
    const Obstacle &obstacle = *value.obstacle;
    if (obstacle.kind == Obstacle::Copied)
      fail(ErrorKind::Gradient,
           std::string(function) + ": no gradient comes back through the copy to another device at " +
               record::brief(obstacle.site) + "; copy before requires_grad_(), or move the model with Module::to",
           where);
    if (obstacle.kind == Obstacle::Used)
      fail(ErrorKind::Gradient,
           std::string(function) + ": graph already used at " + record::brief(obstacle.site) +
               "; pass {.retain_graph = true}",
           where);
    record::Site read = obstacle.read.line.line() || !reader ? obstacle.read : reader->site;
    fail(ErrorKind::Gradient,
         std::string(function) + ": " + obstacle.name + " was updated at " + record::brief(obstacle.site) +
             " after this graph read it (" + record::brief(read) + ")",
         where);
  }

  const char *function;
  Where where;
  std::unordered_set<Value *> seen, past;
  std::vector<ValueRef> inner; // operands first
  std::unordered_map<Value *, ValueRef> again;
};

std::vector<ValueRef> recordGradient(ValueRef loss, std::vector<ValueRef> wrt, bool createGraph, Where where) {
  static const trace::OpRef gradient = trace::internOp("dl.gradient");
  if (!loss->type->shape.empty()) {
    record::EnableGradScope mode(true);
    loss = ops::reshape(loss, {}, where);
  }
  record::EnableGradScope mode(createGraph);
  wrt.insert(wrt.begin(), std::move(loss));
  return record::recordAll(gradient, trace::Attributes().intern(), wrt, where);
}

ValueRef scalarOf(const char *function, const Tensor &tensor, Where where) {
  ValueRef value = record::valueOf(tensor, where);
  if (value->type->elements != 1)
    fail(ErrorKind::Gradient,
         std::string(function) + ": expected one element, got shape " + trace::str(value->type->shape) +
             "; reduce it first",
         where);
  return value;
}

[[noreturn]] void failSpent(const Storage &storage, const record::Site &spent, Where where) {
  fail(ErrorKind::Gradient,
       "grad: gradient of " + record::nameOf(storage) + " was used by optimizer.step() (" + record::brief(spent) +
           ") and not kept; return it, or set .keep_grads",
       where);
}

/// Gradients of one scale only can be added.
void checkScales(const Storage &storage, const Leaf &leaf, const std::optional<Scaled> &added, Where where) {
  std::string name = "backward: gradient of " + record::nameOf(storage);
  if (leaf.scaled && leaf.scaled->isStale())
    fail(ErrorKind::Gradient,
         name + " was scaled (" + leaf.scaled->text() + ") before the last update(); call zero_grad() in each step",
         where);
  if (leaf.scaled && (!added || added->by != leaf.scaled->by))
    fail(ErrorKind::Gradient,
         name + " is scaled (" + leaf.scaled->text() + ") and this loss is not; scale it too, or call zero_grad()",
         where);
  if (!leaf.scaled && added)
    fail(ErrorKind::Gradient,
         name + " is not scaled and this loss is (" + added->text() + "); call zero_grad() in each step", where);
}

void accumulate(Storage &storage, const ValueRef &given, const std::optional<Scaled> &scaled, Where where) {
  // A scalar of the cpu may have gone into a program elsewhere.
  ValueRef gradient = record::transfer(given, storage.value()->at(), where);
  record::noteGradient(storage, true);
  Leaf &leaf = storage.leaf();
  if (leaf.spent)
    failSpent(storage, *leaf.spent, where);
  leaf.used.reset();
  if (leaf.gradient.defined() && !leaf.zero)
    checkScales(storage, leaf, scaled, where);
  bool changes = leaf.zero || leaf.scaled.has_value() != scaled.has_value();
  leaf.scaled = scaled;
  leaf.zero = false;
  if (changes && !record::recording())
    record::noteStructureChange();
  if (!leaf.gradient.defined()) {
    leaf.gradient = record::makeTensor(gradient);
    if (!record::recording())
      record::noteStructureChange();
    return;
  }
  ValueRef sum = ops::binary("add", record::valueOf(leaf.gradient, where), gradient, where);
  record::write(leaf.gradient, sum, "backward", where);
}

} // namespace

void Tensor::backward(Where where) const { backward(BackwardOptions(), where); }

LeafGradients record::gradientsOfLeaves(const char *function, const ValueRef &loss, Tensor::BackwardOptions options,
                                        const Where &where) {
  if (!loss->requiresGrad)
    fail(ErrorKind::Gradient, std::string(function) + ": loss does not depend on any tensor that requires a gradient",
         where);
  record::WholeScope whole;
  Graph graph(function, where);
  graph.collect(*loss);
  LeafGradients found;
  found.owners.reserve(graph.leaves.size());
  for (const ValueRef &leaf : graph.leaves)
    found.owners.emplace_back(leaf->leaf);
  found.scaled = graph.scales(*loss);
  ValueRef present = graph.present(loss);
  if (graph.recordedAgain() && !options.retain_graph) {
    static std::atomic<bool> told{false};
    if (!told.exchange(true))
      record::remark("backward: the loss has been computed already; its graph is run a second time. Call backward() "
                     "before reading the loss",
                     record::locate(where));
  }
  found.gradients = recordGradient(present, graph.leaves, options.create_graph, where);
  if (!options.retain_graph && !options.create_graph)
    graph.release();
  return found;
}

void record::addToLeaf(Storage &leaf, const ValueRef &gradient, const std::optional<Scaled> &scaled,
                       const Where &where) {
  accumulate(leaf, gradient, scaled, where);
}

void Tensor::backward(BackwardOptions options, Where where) const {
  LeafGradients found = record::gradientsOfLeaves("backward", scalarOf("backward", *this, where), options, where);
  record::EnableGradScope mode(options.create_graph);
  for (size_t i = 0; i < found.gradients.size(); ++i)
    accumulate(*found.owners[i], found.gradients[i], found.scaled[i], where);
}

std::vector<Tensor> grad(Arg output, std::vector<Tensor> inputs, GradOptions options) {
  Where where = output.where;
  if (!output.tensor)
    fail(ErrorKind::Gradient, "grad: a number has no gradient", where);
  ValueRef loss = scalarOf("grad", *output.tensor, where);
  record::WholeScope whole;
  Graph graph("grad", where);
  if (loss->requiresGrad)
    graph.collect(*loss);
  std::vector<ValueRef> wrt;
  std::vector<int64_t> position;
  ValueRef present = loss->requiresGrad ? graph.present(loss) : loss;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ValueRef input = record::valueOf(inputs[i], where);
    position.push_back(graph.contains(input.get()) ? static_cast<int64_t>(wrt.size()) : -1);
    if (position.back() >= 0)
      wrt.push_back(graph.present(input));
    else if (!options.allow_unused)
      fail(ErrorKind::Gradient,
           "grad: output does not depend on input " + std::to_string(i) + "; pass {.allow_unused = true} for zeros",
           where);
  }
  std::vector<ValueRef> gradients;
  if (!wrt.empty())
    gradients = recordGradient(present, wrt, options.create_graph, where);
  if (!options.create_graph && !options.retain_graph)
    graph.release();
  std::vector<Tensor> results;
  results.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    results.push_back(position[i] < 0 ? zeros_like(inputs[i])
                                      : record::makeTensor(gradients[static_cast<size_t>(position[i])]));
  return results;
}

Tensor Tensor::grad(Where where) const {
  Storage &storage = *record::implOf(*this, where).storage;
  if (!storage.leafData)
    return Tensor();
  record::noteGradient(storage, true);
  if (storage.leafData->spent)
    failSpent(storage, *storage.leafData->spent, where);
  return storage.leafData->gradient;
}

void Tensor::zero_grad(bool set_to_none) const {
  Where where = Where::current();
  Storage &storage = *record::implOf(*this, where).storage;
  if (!storage.leafData)
    return;
  record::noteGradient(storage, !set_to_none);
  Leaf &leaf = *storage.leafData;
  record::LeafFacts before = factsOf(leaf);
  if (set_to_none) {
    leaf.gradient = Tensor();
  } else if (before.hasGradient || before.spent) {
    record::EnableGradScope off(false);
    record::PlaceScope scope(&storage.value()->at());
    ValueRef zeros = ops::splat(0, storage.value()->type->dtype, storage.value()->type->shape, where);
    if (before.hasGradient)
      record::write(leaf.gradient, zeros, "zero_grad", where);
    else
      leaf.gradient = record::makeTensor(zeros);
  }
  leaf.zero = leaf.gradient.defined();
  leaf.used.reset();
  leaf.spent.reset();
  leaf.scaled.reset();
  if (before != factsOf(leaf) && !record::recording())
    record::noteStructureChange();
}

Tensor &Tensor::requires_grad_(bool value, Where where) {
  record::Impl &self = record::implOf(*this, where);
  if (value && !ops::isFloat(self.type->dtype))
    fail(ErrorKind::Gradient, "requires_grad_: expected floats, got " + trace::str(self.type), where);
  if (self.detached || (value && !self.chain.empty())) { // a leaf of its own
    record::EnableGradScope mode(false);
    self.storage = Ref<Storage>(new Storage(record::valueOf(*this, where)));
    self.chain.clear();
    self.detached = false;
  }
  Storage &storage = *self.storage;
  Leaf &leaf = storage.leaf();
  if (leaf.requiresGrad == value)
    return *this;
  if (!storage.variable && value && storage.value()->requiresGrad)
    return *this; // computed from leaves already
  leaf.requiresGrad = value;
  record::noteStructureChange();
  ValueRef before = storage.value();
  if (storage.variable && before == storage.variable->state) {
    if (!record::recording())
      record::keepOldValue(*storage.variable, before);
    record::adoptState(storage);
  } else if (before->state == Value::State::Concrete) {
    ValueRef now = record::concrete(before->type, before->buffer, before->layout);
    now->exact = before->exact;
    now->requiresGrad = value;
    now->leaf = value ? &storage : nullptr;
    storage.replace(now);
  } else if (value) {
    record::EnableGradScope mode(true);
    record::valueOf(*this, where); // a pending value becomes a leaf
  }
  return *this;
}

} // namespace dlc
