#pragma once

#include "dlc/frontend/Jit.h"
#include "record/Extract.h"
#include "record/HostInputs.h"
#include "record/Recording.h"

namespace dlc::detail {

using record::Ref;
using record::Storage;
using trace::LayoutRef;
using trace::TypeRef;

/// What decides which entry a call takes: types and flags of the tensors, what steers C++, the thread's modes.
struct Signature {
  std::vector<TypeRef> types;
  std::vector<LayoutRef> layouts;
  std::vector<std::optional<DType>> exact;
  std::vector<record::Place *> places;
  std::vector<bool> requiresGrad;
  std::vector<int64_t> statics;
  bool gradEnabled = true;
  std::optional<DType> autocast;
  /// Where tensors go that the body makes.
  record::Place *makers = nullptr;
};

/// Where a result of the function comes from.
struct Output {
  enum Kind : uint8_t { Computed, Argument, Handle } kind = Computed;
  size_t index = 0; // result of the entry, or argument
  Tensor handle;
  /// Tensors over result memory; one is taken again when nobody else holds it.
  std::vector<Tensor> ring;
  size_t next = 0;
};

/// A storage from outside that a call gives a new value.
struct Update {
  Ref<Storage> storage;
  size_t result;
};

/// What a call leaves in a leaf.
struct LeafExit {
  Ref<Storage> storage;
  enum Kind : uint8_t { None, Spent, Kept } kind = None;
  record::Site site;                    // Spent
  Tensor gradient;                      // Kept: the tensor that has it, updated like any storage or made anew
  std::optional<size_t> result;         // Kept, made anew
  std::optional<record::Scaled> scaled; // Kept
  bool stale;                           // Kept: what it was scaled by may have changed
  bool zero;                            // Kept
};

struct Entry {
  Signature signature;
  uint64_t structure = 0, rebinds = 0;
  std::vector<record::Guard> guards;
  bool retraced = false;
  JitReport report;

  record::Extracted graph; // without nodes; inputs and variables stay alive
  trace::Program program;  // for export
  std::shared_ptr<trace::Runnable> runnable;
  /// Arguments, then captured tensors and constants, then run-time numbers.
  std::vector<DlcBuffer> inputs;
  std::vector<DlcBuffer> results;
  std::vector<TypeRef> resultTypes;
  std::vector<LayoutRef> resultLayouts;
  struct Capture {
    size_t input;
    Ref<Storage> storage;
    LayoutRef layout;
    std::optional<DType> exact;
  };
  std::vector<Capture> captured;
  std::vector<record::ValueRef> constants;
  std::vector<std::array<char, 8>> numbers;

  /// Memory of the generator's seed and next ordinal, which each call fills, and how far it moves on; null: it stays.
  struct Random {
    std::shared_ptr<record::Buffer> seed, base;
    uint64_t draws = 0;
    bool owns(const record::Value &value) const { return base && (value.buffer == base || value.buffer == seed); }
  };
  Random random;

  /// Calls so far, the recorded one included.
  uint64_t calls = 1;
  /// Numbers of the program text as they were recorded, in the order of the graph.
  struct HostNumber {
    double value;
    record::Site site;
  };
  std::vector<HostNumber> hostNumbers;

  std::vector<std::shared_ptr<record::Variable>> written;
  std::vector<Output> outputs;
  std::vector<int64_t> outputStatics;
  std::vector<Update> updates;
  std::vector<LeafExit> leaves;
  std::vector<std::function<void()>> leaveFacts;

  /// Numbers of the host's state that a program elsewhere reads.
  struct HostNumberRead {
    size_t input;
    std::shared_ptr<record::Variable> variable;
  };
  std::vector<HostNumberRead> hostReads;
  /// Set where the program runs elsewhere than on the host and wants arguments from there.
  std::unique_ptr<record::HostInputs> fromHost;
  /// Where it was found that the function is traced at every call, and why.
  record::Site demanded;
  const char *cause = "";
};

struct FunctionState {
  JitOptions options;
  Where where;
  std::vector<std::unique_ptr<Entry>> entries;
  size_t compiled = 0;
};

/// Runs the body in a recording and compiles what it recorded. If the body needed a value, the results are in
/// `results`, the call is done, and the entry only says so.
std::unique_ptr<Entry> recordEntry(FunctionState &function, const Flat &arguments, Flat &results, Body body,
                                   Signature signature);

/// The same without compiling or running anything; everything is left as it was. `retraced` if the body needed a value.
std::unique_ptr<Entry> recordAgain(FunctionState &function, const Flat &arguments, Body body);

/// Whether the body still records what the entry was compiled from. If it does not from the start, a remark, and the
/// entry is traced at every call; later, an Error, since calls in between may have used what was.
bool checkEntry(FunctionState &function, Entry &entry, const Flat &arguments, Body body);

/// One call of compiled code.
void runEntry(Entry &entry, const Flat &arguments, Flat &results, const std::source_location &where);

} // namespace dlc::detail
