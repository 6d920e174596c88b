#pragma once

#include "dlc/runtime/Fill.h"
#include "record/Storage.h"

namespace dlc::record {

struct Variable;

/// A piece of memory that holds variables of one kind; never moves. Compiled code knows it by its name.
struct Segment {
  std::string name;
  Place *place = nullptr;
  char *base = nullptr; // in the place's memory
  int64_t bytes = 0;

  Segment() = default;
  Segment(const Segment &) = delete;
  /// Gives the memory back: no program that knows it is left.
  ~Segment();
};

/// Decides the places of a variable and of those that belong with it, on first use.
using Placement = std::function<void(Variable &)>;

/// State that lives across runs. Its identity is its storage.
struct Variable {
  TypeRef type = nullptr;
  std::string role; // MLIR spelling: parameter, buffer, optimizer_state, hyper, counter
  InitialValue init;
  uint64_t seed = 0;
  /// Name in checkpoints and messages, decided when asked for.
  std::function<std::string()> name;
  Placement arrange;
  std::shared_ptr<const Segment> segment;
  int64_t offset = 0;
  Storage *storage = nullptr;
  /// What the arena holds; the storage's value differs while a write is pending.
  ValueRef state;
  std::source_location where;
  Place *place = &Place::host();
  /// Neither a step nor the host has written since it was filled with `init`.
  bool pristine = true;
  /// All ranks of the job have been seen to have the same values.
  bool agreed = false;
  /// Its tensor lives in another place now, in a variable of its own.
  bool moved = false;
  /// Number of its read in the program being extracted.
  uint32_t number = 0;

  /// Its memory in its place, which it gets and fills on first use.
  void *data();
};

/// A storage for the variable, whose value is the variable's.
Ref<Storage> makeVariable(std::shared_ptr<Variable> variable);
/// Zeroed; a number is put behind the name if it is taken.
std::shared_ptr<const Segment> makeSegment(const std::string &name, int64_t bytes, Place &place,
                                           const std::source_location &where);
/// Next multiple of 64.
inline int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }
/// Puts a variable into a segment of its place and fills it.
void placeAt(Variable &variable, std::shared_ptr<const Segment> segment, int64_t offset);
/// Small variables that belong to no module share segments, by role and type.
void placeAlone(Variable &variable);

ValueRef stateValue(const std::shared_ptr<Variable> &variable);
/// The storage's value is again what the arena holds.
void adoptState(Storage &storage);
/// Before the state goes on under another value: an old one that somebody still holds gets memory of its own. False
/// when nobody does.
bool keepOldValue(Variable &variable, const ValueRef &before);
/// What the variable holds now, in memory of its own at its place.
std::shared_ptr<Buffer> copyOf(Variable &variable);
/// Moves state to the place: the storages and all handles stay, compiled programs that knew them do not. A function
/// that is being recorded must not have used it yet.
void moveState(std::span<const Ref<Storage>> storages, Place &place, const std::source_location &where);
/// Writes the variable's memory from the host's: what reads it runs first, old values that somebody holds are copied.
void hostWrite(Variable &variable, const void *data, const std::source_location &where);

/// A 0-d variable of one number.
Tensor makeNumber(double value, DType dtype, const std::string &role, std::function<std::string()> name,
                  const std::source_location &where, Place &place = Place::host());
/// The next ordinal of the generator; an Error while a body is recorded.
uint64_t nextRandomOffset(uint64_t &seed);
/// The first of the next ordinals.
uint64_t takeRandomOffsets(uint64_t count, uint64_t &seed);
/// The generator's seed and next ordinal.
std::pair<uint64_t, uint64_t> randomState();
void setRandomState(std::pair<uint64_t, uint64_t> state);

} // namespace dlc::record
