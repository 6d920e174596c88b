#pragma once

#include "record/Fault.h"
#include "record/Storage.h"

#include <mutex>

namespace dlc::record {

class Body;
struct Recording;

/// Nodes recorded and not yet run, in order.
struct Trace {
  Node *first = nullptr, *last = nullptr;
  size_t nodes = 0;
  int64_t inputBytes = 0;
  /// State with a new value that is not yet in its arena.
  std::vector<Ref<Storage>> dirty;
  /// A leaf was overwritten: graphs that read its old value are stale.
  bool leafWritten = false;
  /// Set while a jitted function is being recorded.
  Recording *recording = nullptr;

  bool empty() const { return nodes == 0 && dirty.empty(); }
};

/// The trace that operations of this thread go to.
Trace &currentTrace();
/// Traces of this thread, the innermost recording last.
struct ThreadState {
  Trace outside;
  Recording *recording = nullptr;
  bool gradEnabled = true;
  /// While positive, recording alone cuts nothing: a graph is being recorded that must run as a whole.
  int whole = 0;
  /// What is recorded as a region of an operation, innermost; null: nothing.
  Body *body = nullptr;
  const trace::Scope *scope = nullptr;
  /// Where numbers and scalars of the host go that are computed with; null: they stay.
  Place *place = nullptr;
  /// Where new tensors go; null: the host.
  Place *makers = nullptr;
};
ThreadState &threadState();

/// While it lives, what this thread computes from numbers and scalars of the host alone is computed at the place; null
/// changes nothing.
struct PlaceScope {
  explicit PlaceScope(Place *place) : before(threadState().place) {
    if (place)
      threadState().place = place;
  }
  ~PlaceScope() { threadState().place = before; }
  PlaceScope(const PlaceScope &) = delete;
  PlaceScope &operator=(const PlaceScope &) = delete;
  Place *before;
};

/// The place where new tensors of this thread go.
inline Place &makersPlace() { return threadState().makers ? *threadState().makers : Place::host(); }

/// Where an operation on the values runs; an Error when they are in two places. Scalars of the host go with any
/// other: pending ones that no other place can compute run now.
Place *placeOf(OpRef op, std::span<const ValueRef> operands, const std::source_location &line);
/// Whether any program can have the value as it is.
bool isAnywhere(const Value &value);

inline bool gradEnabled() { return threadState().gradEnabled; }

/// `line` with the module calls around it; a line in dlc's own files is replaced by the innermost caller's.
Site locate(const std::source_location &line);
/// "model.cpp:12".
std::string brief(const Site &site);

/// Records an operation; `result` is the type for ops that do not infer it. An Error carries the op's diagnostic.
ValueRef record(OpRef op, AttributesRef attributes, std::span<const ValueRef> operands,
                const std::source_location &line, TypeRef result = nullptr);
std::vector<ValueRef> recordAll(OpRef op, AttributesRef attributes, std::span<const ValueRef> operands,
                                const std::source_location &line, TypeRef result = nullptr);
/// Records an operation with regions, whose results have the types.
std::vector<ValueRef> recordRegions(OpRef op, AttributesRef attributes, std::vector<trace::RegionRef> regions,
                                    std::span<const ValueRef> operands, std::vector<TypeRef> types,
                                    const std::source_location &line);
/// A rank-0 constant that stands for a C++ number.
ValueRef recordNumber(double number, DType dtype, const std::source_location &line);

const trace::Scope *enterScope(const std::source_location &where, const trace::Scope *outer);
/// Takes a node out of its trace.
void unlink(Node &node);
/// Puts a node that is in no trace behind `before`; null: first.
void insertAfter(Trace &trace, Node *before, Node &node);
void noteNode(int change);
/// Values whose graph is kept for a later backward(), so that it can be dropped once it is stale.
void listKept(Value &value);
void unlistKept(Value &value);

/// A value is demanded inside a recording: the function is traced at every call from now on. `cause` says why.
void retrace(Recording &recording, const std::source_location &line, const char *cause = "item() needs a value");

ValueRef concrete(TypeRef type, std::shared_ptr<Buffer> buffer, LayoutRef layout = nullptr);

/// Runs what is pending on this thread.
void cut(const std::source_location &line);
/// A training step is recorded. Under DataParallel it runs now, the same on all ranks whatever they keep or read later.
void endStep(const std::source_location &line);
/// Graphs that read what has been overwritten can never be differentiated: forgets them.
void dropStaleGraphs();
/// The value's memory in its place, running what is needed; for variables that of the arena.
void *demand(const ValueRef &value, const std::source_location &line);
void *demand(Storage &storage, const std::source_location &line);
/// Nodes alive in the process, for tests of growth.
int64_t liveNodes();

} // namespace dlc::record
