#include "record/Extract.h"
#include "record/Recording.h"
#include "record/Transfer.h"
#include "record/Variable.h"

namespace dlc::record {

namespace {

/// A variable like the other, at the place, without memory yet.
std::shared_ptr<Variable> twin(const Variable &from, Place &place) {
  auto made = std::make_shared<Variable>();
  made->type = from.type;
  made->place = &place;
  made->role = from.role;
  made->init = from.init;
  made->seed = from.seed;
  made->name = from.name;
  made->arrange = from.arrange;
  made->where = from.where;
  made->pristine = from.pristine;
  return made;
}

/// A storage and its variables in both places; `gradient` is the one it had, null without.
struct Move {
  Ref<Storage> storage;
  std::shared_ptr<Variable> from, to;
  Tensor gradient;
};

void hold(Storage &storage, const std::shared_ptr<Variable> &variable) {
  storage.variable = variable;
  variable->storage = &storage;
  ++storage.version;
  adoptState(storage);
}

/// The storage's variable becomes the other; what reads the old one keeps its values, or can no longer be
/// differentiated.
void carryOut(const Move &move, const std::source_location &where) {
  Variable &from = *move.from;
  ValueRef before = from.state;
  bool held = from.segment && keepOldValue(from, before);
  if (!held)
    before->state = Value::State::Expired;
  before->obstacle = std::make_unique<Obstacle>(Obstacle{Obstacle::Overwritten, from.name(), locate(where), {}});
  from.moved = true;
  from.storage = nullptr;
  from.state = {}; // it refers back to the variable
  hold(*move.storage, move.to);
}

void undo(const Move &move) {
  move.to->storage = nullptr;
  move.to->state = {};
  move.from->moved = false;
  hold(*move.storage, move.from);
  if (move.gradient.defined())
    move.storage->leafData->gradient = move.gradient;
}

/// What may find no memory left.
void copyState(const Move &move, Place &place, const std::source_location &where) {
  if (move.from->segment) // else it takes its first values when it is used
    copyBytes(place, move.to->data(), *move.from->place, move.from->data(), move.from->type->bytes, where);
  if (move.to->segment)
    place.copyToMembers(move.to->segment->name, move.to->offset, move.to->type->bytes, where);
  if (move.gradient.defined())
    move.storage->leafData->gradient = makeTensor(transfer(valueOf(move.gradient, where), place, where));
}

} // namespace

void moveState(std::span<const Ref<Storage>> storages, Place &place, const std::source_location &where) {
  if (!recording())
    cut(where);
  std::vector<Move> moves;
  try {
    for (const Ref<Storage> &storage : storages) {
      if (storage->variable->place == &place)
        continue;
      Move move{storage, storage->variable, twin(*storage->variable, place), {}};
      if (storage->leafData)
        move.gradient = storage->leafData->gradient;
      carryOut(move, where);
      moves.push_back(std::move(move));
    }
    // Places are given once all are there, so that a module's state lies together.
    for (const Move &move : moves)
      copyState(move, place, where);
  } catch (...) { // all of it stays where it was
    for (const Move &move : moves)
      undo(move);
    throw;
  }
  if (moves.empty())
    return;
  for (const Move &move : moves)
    move.from->segment = nullptr;
  noteStructureChange();
  dropStaleGraphs();
  forgetUnreachable();
}

} // namespace dlc::record
