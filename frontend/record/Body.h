#pragma once

#include "record/Recording.h"

#include <optional>
#include <unordered_map>

namespace dlc::record {

/// What a function does while it lives, recorded as a region of one operation instead of as operations of the trace.
/// Values the function computes have no meaning outside; those it returns are yielded.
class Body {
public:
  /// `function` is the user's ("scan"), for messages. One that repeats is a loop's step.
  Body(const char *function, const std::source_location &line, bool repeats = false);
  /// Puts changed storages back, unless `keepChanges` has been called.
  ~Body();
  Body(const Body &) = delete;
  Body &operator=(const Body &) = delete;

  /// Before the first body of an operation: a step's pending writes run, so that parameters start anew.
  static void prepare(const std::source_location &line);

  /// An argument of the region.
  ValueRef addArgument(TypeRef type, Place *place, bool requiresGrad);
  bool repeats() const { return isStep; }
  Body *around() const { return outer; }
  /// Of a step that draws random numbers: the generator's seed, the ordinal that each step starts from, an argument,
  /// and how many it has drawn.
  struct Draws {
    ValueRef seed, base;
    uint64_t count = 0;
  };
  std::optional<Draws> draws;
  /// A value from outside that the function reads is the argument.
  void readAs(const ValueRef &outside, const ValueRef &argument) { known[outside.get()] = argument; }

  /// A storage from outside that the function changed, with its value before.
  struct Touched {
    Ref<Storage> storage;
    ValueRef before;
    uint64_t version;
  };
  const std::vector<Touched> &touched() const { return changes; }
  void noteTouched(Storage &storage);
  /// The function has returned: what is recorded from here on is no part of the region.
  void end();
  /// After `end`: values from outside that the results need, in the order of their first use.
  std::vector<ValueRef> captured(std::span<const ValueRef> results) const;
  /// After `end`: the region, whose arguments are these, `addArgument`'s and values from outside.
  trace::RegionRef region(std::span<const ValueRef> inputs, std::span<const ValueRef> results) const;
  /// Changed storages get values of the trace.
  void keepChanges() { changes.clear(); }
  void restoreChanges();

  /// An Error: `cause` cannot be while a body is recorded.
  [[noreturn]] void refuse(const char *cause, const std::source_location &line) const;

  /// While it lives, what is recorded about the storage's value goes before the bodies that began after the value was
  /// there.
  class Before {
  public:
    explicit Before(const Storage &storage);
    ~Before();
    Before(const Before &) = delete;
    Before &operator=(const Before &) = delete;

  private:
    Body *innermost;
    Body *holder = nullptr; // the outermost of those bodies
    Node *end = nullptr;    // of the trace, when this began
  };

private:
  bool isOlder(const Storage &storage) const;
  const Value &resolved(const Value &value) const;
  bool isInside(const Value &value) const { return value.node && inside.contains(value.node.get()); }
  std::vector<Node *> neededBy(std::span<const ValueRef> results) const;

  const char *function;
  std::source_location line;
  Body *outer;
  WholeScope whole;
  Ref<Node> last; // of the trace when the body began; null: none
  uint64_t firstSerial;
  bool isStep;
  bool ended = false;
  std::vector<Ref<Node>> nodes;
  std::unordered_map<const Node *, size_t> inside;
  std::vector<ValueRef> arguments;
  std::unordered_map<const Value *, ValueRef> known;
  std::vector<Touched> changes;
};

} // namespace dlc::record
