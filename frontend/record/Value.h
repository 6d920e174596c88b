#pragma once

#include "dlc/runtime/Status.h"
#include "record/Counted.h"
#include "record/Place.h"
#include "trace/Program.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlc::record {

using trace::AttributesRef;
using trace::LayoutRef;
using trace::OpRef;
using trace::Site;
using trace::TypeRef;

/// Memory of a concrete value, 64-byte aligned if it is our own. Only the host's may be read through `data`.
struct Buffer {
  void *data = nullptr;
  int64_t bytes = 0;
  std::function<void()> release;
  Place *place;

  Buffer(void *data, int64_t bytes, std::function<void()> release, Place &place = Place::host())
      : data(data), bytes(bytes), release(std::move(release)), place(&place) {}
  Buffer(const Buffer &) = delete;
  ~Buffer();
  static std::shared_ptr<Buffer> allocate(int64_t bytes, Place &place = Place::host(),
                                          const std::source_location &where = std::source_location::current());
};

struct Node;
struct Storage;
struct Trace;
struct Variable;

/// Why a graph can no longer be differentiated.
struct Obstacle {
  enum Kind { Used, Overwritten, Copied } kind;
  std::string name;
  Site site;
  Site read;
};

/// One value in single-assignment form.
struct Value : Counted {
  enum class State : uint8_t {
    Pending,  // result of a node that has not run
    Concrete, // in `buffer`
    Variable, // in the variable's place of its arena
    Argument, // of a function being recorded
    Dropped,  // its node has run, nobody kept the value: it can be computed again from `node`
    Expired   // gone for good
  };
  State state = State::Pending;
  bool requiresGrad = false;
  /// A value that needs a gradient went in, and no derivative may come out.
  bool severed = false;
  /// Pending, and computed from nothing but numbers and scalars of the host: a program of any place can compute it.
  bool floating = false;
  uint16_t result = 0;
  uint32_t argument = 0;
  /// Counts that recorded nodes hold; any further one is somebody who may ask for the value.
  uint32_t uses = 0;
  TypeRef type = nullptr;
  /// How a concrete value lies on the members of the job; the buffer holds the parts of this process's members, one
  /// after another. Null: each has all of it.
  LayoutRef layout = nullptr;
  /// A concrete f32 value that `Autocast` has rounded: to values of this dtype.
  std::optional<DType> exact;
  /// Where it lives; null: computed from nothing but numbers of the program text, so in any program that wants it.
  Place *place = nullptr;
  Ref<Node> node;
  std::shared_ptr<Buffer> buffer;
  /// All of a split value on the host, once somebody has asked for it.
  std::shared_ptr<Buffer> whole;
  std::shared_ptr<Variable> variable;
  /// The leaf whose gradient backward() gives for this value, while it is the leaf's current value.
  Storage *leaf = nullptr;
  std::unique_ptr<Obstacle> obstacle;
  /// Number in the program being extracted.
  uint32_t number = 0;
  uint64_t visit = 0;
  /// Listed among the values whose graph is kept for a later backward().
  bool kept = false;

  /// The place that users see.
  Place &at() const { return place ? *place : Place::host(); }
  /// One number of the host, which goes with tensors of any place.
  bool isHostScalar() const { return place && place->isHost() && type->shape.empty(); }
  bool external(uint32_t known = 0) const { return count.load(std::memory_order_relaxed) > uses + known; }
};
using ValueRef = Ref<Value>;
/// Bytes that this process has of a tensor: of all its members, or once where each has all of it.
int64_t bytesHere(TypeRef type, LayoutRef layout);
void destroy(Value *value);
/// The value forgets how it came to be.
void forgetNode(Value &value);

/// What a GradScaler multiplies losses by, as their gradients know it.
struct LossScale {
  std::string name;
  /// How often it may have changed.
  uint64_t updates = 0;
};

/// The scale of a loss, and so of its gradients.
struct Scaled {
  std::shared_ptr<LossScale> by;
  /// `by->updates` when the loss was scaled.
  uint64_t updates;
  Site site;

  /// The scale may be another one now.
  bool isStale() const { return updates != by->updates; }
  /// "scaler.scale, train.cpp:25".
  std::string text() const;
};

/// A recorded operation.
struct Node : Counted {
  OpRef op = nullptr;
  AttributesRef attributes = nullptr;
  /// The number of a `dl.constant` that stands for a C++ number, which may become an argument.
  std::optional<double> number;
  std::vector<ValueRef> operands;
  std::vector<Value *> results; // null: nobody refers to it
  std::vector<TypeRef> types;
  std::vector<trace::RegionRef> regions;
  /// Set where the operation scales a loss, and so all gradients that come through it.
  std::shared_ptr<const Scaled> scale;
  Site site;
  Trace *trace = nullptr; // null once run
  Node *before = nullptr, *after = nullptr;
  /// The next of those that nobody holds any more and that are about to go.
  Node *nextDying = nullptr;
  uint64_t visit = 0;
};
void destroy(Node *node);

} // namespace dlc::record
