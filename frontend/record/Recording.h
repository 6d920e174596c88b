#pragma once

#include "record/Storage.h"
#include "record/Trace.h"

#include <functional>
#include <set>

namespace dlc::record {

/// While it lives, this thread's gradient mode is `on`.
struct EnableGradScope {
  explicit EnableGradScope(bool on) : before(threadState().gradEnabled) { threadState().gradEnabled = on; }
  ~EnableGradScope() { threadState().gradEnabled = before; }
  EnableGradScope(const EnableGradScope &) = delete;
  EnableGradScope &operator=(const EnableGradScope &) = delete;
  bool before;
};

/// While it lives, what this thread records stays one graph.
struct WholeScope {
  WholeScope() { ++threadState().whole; }
  ~WholeScope() { --threadState().whole; }
  WholeScope(const WholeScope &) = delete;
  WholeScope &operator=(const WholeScope &) = delete;
};

/// A fact of the host that the body of a recorded function has read: true while it still holds.
using Guard = std::function<bool()>;

/// What a body reads and changes of an object of the host, apart from tensors.
struct HostFacts {
  /// They are as they were.
  Guard same;
  /// Makes them so again.
  std::function<void()> undo;
  /// Called at the body's end: what each call does to leave them as the body did.
  std::function<std::function<void()>()> leave;
};

/// One recording of a jitted function. Everything it changes outside its trace has an undo.
struct Recording {
  Recording();
  Trace trace;
  /// Counts recordings, from 1.
  uint64_t number;
  std::string name;
  Site site;
  /// Arguments inside the body, and what the caller passed.
  std::vector<ValueRef> arguments;
  std::vector<std::shared_ptr<Buffer>> passed;
  std::vector<Guard> guards;
  /// Leaves whose `requires_grad` has a guard.
  std::set<const Storage *> guardedLeaves;
  /// Storages from outside that the body changed, with their value before.
  struct Touched {
    Ref<Storage> storage;
    ValueRef before;
    uint64_t version;
  };
  std::vector<Touched> touched;
  /// Leaves whose gradient the body changed.
  struct TouchedLeaf {
    Ref<Storage> storage;
    Leaf before;
  };
  std::vector<TouchedLeaf> leaves;
  /// By owner.
  std::vector<std::pair<const void *, HostFacts>> facts;
  /// Puts back host facts that the body changed and a completed recording keeps; called last to first.
  std::vector<std::function<void()>> undo;
  /// Anonymous tensors from outside that the body read, with their value then.
  struct Captured {
    Ref<Storage> storage;
    ValueRef value;
  };
  std::vector<Captured> captured;
  /// Set when the body draws random numbers: the generator's next ordinal then, and seed and ordinal as inputs.
  struct Random {
    uint64_t start;
    ValueRef seed, base;
  };
  std::optional<Random> random;
  /// A value was demanded: the recording became an ordinary trace.
  bool retraced = false;
  Site demanded;
  /// What demanded it: "item() needs a value".
  const char *cause = "";
  bool fullgraph = false;
  /// Nothing may run: demanding a value ends the body.
  bool checking = false;
  bool keepGradients = false;
};

/// The innermost recording of this thread, or null.
inline Recording *recording() { return threadState().recording; }

/// The storage's value is read; a recording notes captured storages.
void noteRead(Storage &storage, const std::source_location &where);
/// The storage's value is about to change; a recording saves it.
void noteTouched(Storage &storage);
/// The leaf's gradient is about to be read or changed; a recording saves it and guards what it found.
void noteGradient(Storage &storage, bool reads);
/// The object's facts are about to be read or changed; a recording saves and guards them.
void noteFacts(const void *owner, const std::function<HostFacts()> &now);
/// A handle was rebound from this tensor: recorded functions that captured it must look again.
void noteRebound(Impl &impl);
/// A fact of the host that guards may depend on has changed.
void noteStructureChange();
uint64_t structureEpoch();
uint64_t rebindEpoch();
/// "fc1.weight", or "a tensor".
std::string nameOf(const Storage &storage);

} // namespace dlc::record
