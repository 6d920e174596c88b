#include "jit/FunctionState.h"
#include "ops/Primitive.h"
#include "record/AutocastMode.h"
#include "record/Job.h"
#include "record/Variable.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

namespace dlc::detail {

void writeText(const std::string &text, Flat &flat) {
  flat.statics.push_back(static_cast<int64_t>(text.size()));
  for (size_t i = 0; i < text.size(); i += 8) {
    int64_t word = 0;
    std::memcpy(&word, text.data() + i, std::min<size_t>(8, text.size() - i));
    flat.statics.push_back(word);
  }
}

std::string readText(FlatReader &reader) {
  std::string text(static_cast<size_t>(reader.flat.statics[reader.fixed++]), '\0');
  for (size_t i = 0; i < text.size(); i += 8) {
    int64_t word = reader.flat.statics[reader.fixed++];
    std::memcpy(text.data() + i, &word, std::min<size_t>(8, text.size() - i));
  }
  return text;
}

namespace {
/// Entries read and write state that functions share, and run on the threads of one session: one at a time.
std::mutex &stateLock() {
  static std::mutex mutex;
  return mutex;
}

} // namespace

bool isRecording() { return record::recording() != nullptr || record::threadState().body; }

Function::Function(JitOptions options, Where where) : state(std::make_shared<FunctionState>()) {
  state->options = std::move(options);
  if (const char *check = std::getenv("DLC_JIT_CHECK"); check && std::string_view(check) == "0")
    state->options.check = false;
  state->where = where;
}

size_t Function::entries() const { return state->compiled; }

JitReport Function::report(size_t entry, Where where) const {
  std::lock_guard lock(stateLock());
  for (const std::unique_ptr<Entry> &one : state->entries)
    if (!one->retraced && entry-- == 0)
      return one->report;
  throw Error(ErrorKind::Jit, "report: " + state->options.name + " has no such compiled entry; call it first", where);
}

namespace {

bool fits(const Signature &signature, const Flat &arguments) {
  const record::ThreadState &thread = record::threadState();
  if (signature.types.size() != arguments.size() || signature.gradEnabled != thread.gradEnabled ||
      signature.autocast != record::autocastMode() || signature.makers != thread.makers ||
      signature.statics != arguments.statics)
    return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const record::Impl *impl = arguments[i].get();
    if (!impl || impl->type != signature.types[i])
      return false;
    const record::Value &value = *impl->storage->value();
    if (&value.at() != signature.places[i] || value.layout != signature.layouts[i] || value.exact != signature.exact[i])
      return false;
    bool needsGradient =
        !impl->detached && (value.requiresGrad || (impl->storage->leafData && impl->storage->leafData->requiresGrad));
    if (needsGradient != signature.requiresGrad[i])
      return false;
  }
  return true;
}

/// State that the entry knows by its place is elsewhere now.
bool hasMoved(const Entry &entry) {
  return std::any_of(entry.graph.variables.begin(), entry.graph.variables.end(),
                     [](const auto &variable) { return variable->moved; }) ||
         std::any_of(entry.hostReads.begin(), entry.hostReads.end(),
                     [](const auto &read) { return read.variable->moved; });
}

/// A captured tensor lies on the job's members, and was rounded, as it was when the entry was recorded.
bool liesAsBefore(const Entry &entry) {
  return std::all_of(entry.captured.begin(), entry.captured.end(), [](const Entry::Capture &captured) {
    const record::Value &value = *captured.storage->value();
    return value.layout == captured.layout && value.exact == captured.exact;
  });
}

/// Host facts that the body read are as they were, and no captured tensor's handle was rebound.
bool isCurrent(Entry &entry) {
  if (!entry.captured.empty() && (entry.rebinds != record::rebindEpoch() || !liesAsBefore(entry)))
    return false;
  if (entry.structure == record::structureEpoch())
    return true;
  if (hasMoved(entry))
    return false;
  for (const record::Guard &guard : entry.guards)
    if (!guard())
      return false;
  entry.structure = record::structureEpoch();
  return true;
}

Signature signatureOf(const Flat &arguments, Where where) {
  Signature signature;
  for (size_t i = 0; i < arguments.size(); ++i) {
    signature.types.push_back(record::implOf(arguments[i], where).type);
    signature.layouts.push_back(arguments[i].get()->storage->value()->layout);
    signature.exact.push_back(arguments[i].get()->storage->value()->exact);
    signature.places.push_back(&record::placeOf(arguments[i], where));
    signature.requiresGrad.push_back(arguments[i].requires_grad());
  }
  signature.statics = arguments.statics;
  signature.gradEnabled = record::gradEnabled();
  signature.autocast = record::autocastMode();
  signature.makers = record::threadState().makers;
  return signature;
}

/// Many variants usually mean a shape that changes from call to call.
void remarkVariants(const FunctionState &function) {
  if (function.compiled != 9)
    return;
  std::string changes;
  const Signature &last = function.entries.back()->signature;
  for (size_t i = 0; i < last.types.size() && changes.empty(); ++i) {
    std::string shapes;
    int distinct = 0;
    TypeRef before = nullptr;
    for (const auto &entry : function.entries)
      if (i < entry->signature.types.size() && entry->signature.types[i] != before) {
        before = entry->signature.types[i];
        if (++distinct <= 2)
          shapes += trace::str(before->shape) + ", ";
      }
    if (distinct > 1)
      changes = "; argument " + std::to_string(i) + " changes shape: " + shapes + "…";
  }
  record::remark("jit: " + function.options.name + " compiled for the 9th signature" + changes,
                 {function.where, nullptr});
}

/// In a job: views of split tensors as tensors of their own, so that how each argument lies is known.
const Flat *settled(const Flat *arguments, std::optional<Flat> &own, Where where) {
  auto isSplitView = [&](size_t i) {
    const record::Impl *impl = (*arguments)[i].get();
    return impl && !impl->chain.empty() && impl->storage->value()->layout;
  };
  bool any = false;
  for (size_t i = 0; record::job() && i < arguments->size(); ++i)
    any |= isSplitView(i);
  if (!any)
    return arguments;
  own.emplace().statics = arguments->statics;
  for (size_t i = 0; i < arguments->size(); ++i) {
    if (!isSplitView(i)) {
      own->push((*arguments)[i]);
      continue;
    }
    record::ValueRef value = record::valueOf((*arguments)[i], where);
    record::demand(value, where);
    own->push(record::makeTensor(value));
  }
  return &*own;
}

} // namespace

void Function::call(const Flat &given, Flat &results, Body body) {
  FunctionState &self = *state;
  if (!record::threadState().outside.empty())
    record::cut(self.where); // rule (d)
  std::optional<Flat> own;
  const Flat &arguments = *settled(&given, own, self.where);
  std::unique_lock lock(stateLock());
  for (size_t i = self.entries.size(); i-- > 0;) {
    Entry &entry = *self.entries[i];
    if (!fits(entry.signature, arguments))
      continue;
    if (entry.retraced) {
      lock.unlock();
      body.run(body.self, arguments, results);
      return;
    }
    if (!isCurrent(entry))
      continue;
    if (self.options.check && std::has_single_bit(entry.calls + 1) && !checkEntry(self, entry, arguments, body)) {
      lock.unlock();
      body.run(body.self, arguments, results);
      return;
    }
    ++entry.calls;
    runEntry(entry, arguments, results, self.where);
    return;
  }
  auto start = std::chrono::steady_clock::now();
  std::unique_ptr<Entry> entry = recordEntry(self, arguments, results, body, signatureOf(arguments, self.where));
  // A recording that replaces one whose captured tensors were rebound takes its place; moved state never comes back.
  std::erase_if(self.entries, [&](const std::unique_ptr<Entry> &old) {
    if (hasMoved(*old))
      return true;
    return fits(old->signature, arguments) && !old->captured.empty() && old->rebinds != record::rebindEpoch();
  });
  self.entries.push_back(std::move(entry));
  Entry &made = *self.entries.back();
  if (made.retraced) {
    auto spent = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
    record::remark(std::string("jit: ") + made.cause + " while recording; " + self.options.name +
                       " is traced again at every call (about " + std::to_string(spent.count()) +
                       " us). Return the tensor, use where, or copy before the call",
                   made.demanded);
    return;
  }
  ++self.compiled;
  remarkVariants(self);
  runEntry(made, arguments, results, self.where);
}

} // namespace dlc::detail
