#include "record/Recording.h"

#include "record/Body.h"
#include "record/Variable.h"

#include <algorithm>

namespace dlc::record {

namespace {
std::atomic<uint64_t> structure{1}, rebinds{1};

template <typename List>
bool contains(const List &list, const Storage &storage) {
  return std::any_of(list.begin(), list.end(), [&](const auto &entry) { return entry.storage.get() == &storage; });
}
} // namespace

uint64_t structureEpoch() { return structure.load(std::memory_order_relaxed); }
uint64_t rebindEpoch() { return rebinds.load(std::memory_order_relaxed); }
void noteStructureChange() { structure.fetch_add(1, std::memory_order_relaxed); }

std::string nameOf(const Storage &storage) { return storage.variable ? storage.variable->name() : "a tensor"; }

Recording::Recording() {
  static std::atomic<uint64_t> count{0};
  number = ++count;
  trace.recording = this;
}

/// Whether gradients flow into the tensor is a fact that steered the recording.
static void guardRequiresGrad(Recording &now, Storage &storage) {
  if (!storage.leafData || !now.guardedLeaves.insert(&storage).second)
    return;
  now.guards.push_back([owner = Ref<Storage>(&storage), flows = storage.leafData->requiresGrad] {
    return owner->leaf().requiresGrad == flows;
  });
}

void noteRead(Storage &storage, const std::source_location &) {
  Recording *now = recording();
  if (now && storage.birth != now->number)
    guardRequiresGrad(*now, storage);
  if (!now || storage.variable || storage.birth == now->number || contains(now->captured, storage))
    return;
  if (storage.value()->state != Value::State::Concrete)
    return;
  storage.captured = true;
  now->captured.push_back({Ref<Storage>(&storage), storage.value()});
}

void noteTouched(Storage &storage) {
  if (Body *body = threadState().body)
    body->noteTouched(storage);
  Recording *now = recording();
  if (now && storage.birth != now->number && !contains(now->touched, storage))
    now->touched.push_back({Ref<Storage>(&storage), storage.value(), storage.version});
}

LeafFacts factsOf(const Leaf &leaf) {
  return {leaf.gradient.defined(), leaf.spent.has_value(), leaf.zero, leaf.scaled ? leaf.scaled->by.get() : nullptr,
          leaf.scaled && leaf.scaled->isStale()};
}

void noteGradient(Storage &storage, bool reads) {
  Recording *now = recording();
  if (!now || contains(now->leaves, storage))
    return;
  Leaf &leaf = storage.leaf();
  if (reads) {
    Ref<Storage> owner(&storage);
    now->guards.push_back([owner, was = factsOf(leaf)] { return factsOf(owner->leaf()) == was; });
  }
  now->leaves.push_back({Ref<Storage>(&storage), leaf});
}

void noteFacts(const void *owner, const std::function<HostFacts()> &now) {
  Recording *recorded = recording();
  if (!recorded || std::any_of(recorded->facts.begin(), recorded->facts.end(),
                               [&](const auto &known) { return known.first == owner; }))
    return;
  HostFacts facts = now();
  recorded->guards.push_back(facts.same);
  recorded->undo.push_back(facts.undo);
  recorded->facts.emplace_back(owner, std::move(facts));
}

void noteRebound(Impl &impl) {
  if (impl.storage->captured)
    rebinds.fetch_add(1, std::memory_order_relaxed);
}

void retrace(Recording &now, const std::source_location &line, const char *cause) {
  if (now.fullgraph)
    fail(ErrorKind::Jit,
         "jit: a value is needed while recording " + now.name +
             ", which asks for one graph; return the tensor, use where, or copy before the call",
         line);
  now.demanded = locate(line);
  now.cause = cause;
  now.retraced = true;
  if (now.checking)
    fail(ErrorKind::Jit, "jit: a value is needed while checking " + now.name, line);
  for (size_t i = 0; i < now.arguments.size(); ++i) {
    now.arguments[i]->state = Value::State::Concrete;
    now.arguments[i]->buffer = now.passed[i];
  }
  // From here on this is an ordinary trace: its nodes run as a cut, and later ones follow the usual rules.
  Trace &outside = threadState().outside;
  outside = now.trace;
  outside.recording = nullptr;
  now.trace = {};
  for (Node *node = outside.first; node; node = node->after)
    node->trace = &outside;
  now.touched.clear();
  now.leaves.clear();
  threadState().recording = nullptr;
  cut(line);
}

} // namespace dlc::record
