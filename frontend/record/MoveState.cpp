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

/// The storage's variable becomes the other; what reads the old one keeps its values, or can no longer be
/// differentiated.
void exchange(Storage &storage, const std::shared_ptr<Variable> &to, const std::source_location &where) {
  Variable &from = *storage.variable;
  ValueRef before = from.state;
  bool held = from.segment && keepOldValue(from, before);
  if (!held)
    before->state = Value::State::Expired;
  before->obstacle = std::make_unique<Obstacle>(Obstacle{Obstacle::Overwritten, from.name(), locate(where), {}});
  from.moved = true;
  from.storage = nullptr;
  from.state = {}; // it refers back to the variable
  storage.variable = to;
  to->storage = &storage;
  ++storage.version;
  adoptState(storage);
}

} // namespace

void moveState(std::span<const Ref<Storage>> storages, Place &place, const std::source_location &where) {
  if (!recording())
    cut(where);
  struct Move {
    std::shared_ptr<Variable> from, to;
  };
  std::vector<Move> moves;
  for (const Ref<Storage> &storage : storages) {
    if (storage->variable->place == &place)
      continue;
    Move move{storage->variable, twin(*storage->variable, place)};
    exchange(*storage, move.to, where);
    if (storage->leafData && storage->leafData->gradient.defined())
      storage->leafData->gradient = makeTensor(transfer(valueOf(storage->leafData->gradient, where), place, where));
    moves.push_back(std::move(move));
  }
  if (moves.empty())
    return;
  // Places are given once all are there, so that a module's state lies together.
  for (const Move &move : moves)
    if (move.from->segment) { // else it takes its first values when it is used
      copyBytes(place, move.to->data(), *move.from->place, move.from->data(), move.from->type->bytes, where);
      move.from->segment = nullptr;
    }
  noteStructureChange();
  dropStaleGraphs();
  forgetUnreachable();
}

} // namespace dlc::record
