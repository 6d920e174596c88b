#include "record/Variable.h"

#include "record/Body.h"
#include "record/Extract.h"
#include "record/Recording.h"

#include <map>
#include <mutex>
#include <utility>

namespace dlc {

namespace {
struct Generator {
  std::mutex mutex;
  uint64_t seed = 0, next = 0;
};
Generator &generator() {
  static Generator instance;
  return instance;
}

void noteGenerator(uint64_t seed, uint64_t next) {
  if (record::Recording *now = record::recording())
    now->undo.emplace_back([seed, next] {
      std::lock_guard lock(generator().mutex);
      generator().seed = seed;
      generator().next = next;
    });
}
} // namespace

void manual_seed(uint64_t seed) {
  std::lock_guard lock(generator().mutex);
  noteGenerator(generator().seed, generator().next);
  generator().seed = seed;
  generator().next = 0;
}

namespace record {

uint64_t nextRandomOffset(uint64_t &seed) {
  if (threadState().body)
    threadState().body->refuse(
        "random numbers would be the same in every step: draw them before the call; they are drawn",
        std::source_location::current());
  return takeRandomOffsets(1, seed);
}

uint64_t takeRandomOffsets(uint64_t count, uint64_t &seed) {
  std::lock_guard lock(generator().mutex);
  noteGenerator(generator().seed, generator().next);
  seed = generator().seed;
  return std::exchange(generator().next, generator().next + count);
}

std::pair<uint64_t, uint64_t> randomState() {
  std::lock_guard lock(generator().mutex);
  return {generator().seed, generator().next};
}

void setRandomState(std::pair<uint64_t, uint64_t> state) {
  std::lock_guard lock(generator().mutex);
  noteGenerator(generator().seed, generator().next);
  generator().seed = state.first;
  generator().next = state.second;
}

std::shared_ptr<const Segment> makeSegment(const std::string &name, int64_t bytes, Place &place,
                                           const std::source_location &where) {
  static std::mutex mutex;
  static std::map<std::string, int> taken;
  std::lock_guard lock(mutex);
  auto segment = std::make_shared<Segment>();
  int before = taken[name]++;
  segment->name = before ? name + "." + std::to_string(before) : name;
  segment->bytes = aligned(std::max<int64_t>(bytes, 1));
  segment->base = place.makeArena(segment->name, segment->bytes, where);
  segment->place = &place;
  return segment;
}

Segment::~Segment() {
  if (place)
    place->dropArena(name, bytes);
}

void placeAt(Variable &variable, std::shared_ptr<const Segment> segment, int64_t offset) {
  variable.segment = std::move(segment);
  variable.offset = offset;
  const trace::TensorType &type = *variable.type;
  char *memory = variable.segment->base + offset;
  if (variable.place->isHost()) {
    check(fill(memory, type.dtype, type.elements, variable.init, variable.seed), variable.where);
  } else {
    auto values = Buffer::allocate(type.bytes);
    check(fill(values->data, type.dtype, type.elements, variable.init, variable.seed), variable.where);
    copyBytes(*variable.place, memory, Place::host(), values->data, type.bytes, variable.where);
  }
  variable.place->copyToMembers(variable.segment->name, offset, type.bytes, variable.where);
}

void placeAlone(Variable &variable) {
  constexpr int64_t poolBytes = 4096;
  if (variable.type->bytes > poolBytes / 8) {
    placeAt(variable,
            makeSegment(variable.role + "." + std::string(name(variable.type->dtype)), variable.type->bytes,
                        *variable.place, variable.where),
            0);
    return;
  }
  struct Pool {
    std::shared_ptr<const Segment> segment;
    int64_t used = 0;
  };
  static std::mutex mutex;
  static auto &pools = *new std::map<std::pair<std::string, Place *>, Pool>; // states of static tensors outlive it
  std::lock_guard lock(mutex);
  std::string kind = "small." + variable.role + "." + std::string(name(variable.type->dtype));
  Pool &pool = pools[{kind, variable.place}];
  int64_t bytes = aligned(variable.type->bytes);
  if (!pool.segment || pool.used + bytes > pool.segment->bytes)
    pool = {makeSegment(kind, poolBytes, *variable.place, variable.where), 0};
  placeAt(variable, pool.segment, pool.used);
  pool.used += bytes;
}

void *Variable::data() {
  if (!segment)
    arrange ? arrange(*this) : placeAlone(*this);
  return segment->base + offset;
}

ValueRef stateValue(const std::shared_ptr<Variable> &variable) {
  ValueRef value(new Value);
  value->state = Value::State::Variable;
  value->type = variable->type;
  value->place = variable->place;
  value->variable = variable;
  return value;
}

void adoptState(Storage &storage) {
  ValueRef value = stateValue(storage.variable);
  storage.variable->state = value;
  storage.replace(value);
  if (storage.leafData && storage.leafData->requiresGrad) {
    value->requiresGrad = true;
    value->leaf = &storage;
  }
}

Ref<Storage> makeVariable(std::shared_ptr<Variable> variable) {
  ValueRef state = stateValue(variable);
  Ref<Storage> storage(new Storage(state));
  variable->state = std::move(state);
  variable->storage = storage.get();
  storage->birth = 0; // also when a recorded function makes it: state outlives the recording
  storage->variable = std::move(variable);
  return storage;
}

std::shared_ptr<Buffer> copyOf(Variable &variable) {
  auto buffer = Buffer::allocate(variable.type->bytes, *variable.place);
  copyBytes(*variable.place, buffer->data, *variable.place, variable.data(), variable.type->bytes, variable.where);
  return buffer;
}

bool keepOldValue(Variable &variable, const ValueRef &before) {
  if (!before->external(3)) // the variable, its storage, the caller
    return false;
  before->buffer = copyOf(variable);
  before->state = Value::State::Concrete;
  return true;
}

void hostWrite(Variable &variable, const void *data, const std::source_location &where) {
  if (threadState().recording)
    retrace(*threadState().recording, where);
  cut(where);
  void *memory = variable.data();
  ValueRef before = variable.state;
  if (!keepOldValue(variable, before))
    before->state = Value::State::Expired;
  before->obstacle = std::make_unique<Obstacle>(Obstacle{Obstacle::Overwritten, variable.name(), locate(where), {}});
  copyBytes(*variable.place, memory, Place::host(), data, variable.type->bytes, where);
  variable.place->copyToMembers(variable.segment->name, variable.offset, variable.type->bytes, where);
  variable.pristine = false;
  if (variable.storage) {
    ++variable.storage->version;
    adoptState(*variable.storage);
  }
  dropStaleGraphs();
}

Tensor makeNumber(double value, DType dtype, const std::string &role, std::function<std::string()> name,
                  const std::source_location &where, Place &place) {
  auto variable = std::make_shared<Variable>();
  variable->type = trace::internType(dtype, {});
  variable->place = &place;
  variable->role = role;
  variable->init = {.kind = InitialValue::Kind::Constant, .a = value};
  variable->name = std::move(name);
  variable->where = where;
  return makeTensor(makeVariable(std::move(variable)));
}

} // namespace record
} // namespace dlc
