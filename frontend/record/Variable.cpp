#include "record/Variable.h"

#include "record/Extract.h"
#include "record/Recording.h"

#include <cstring>
#include <map>
#include <mutex>

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
  std::lock_guard lock(generator().mutex);
  noteGenerator(generator().seed, generator().next);
  seed = generator().seed;
  return generator().next++;
}

Session &session() {
  static Session *instance = [] {
    auto created = Session::create();
    check(created.status(), std::source_location::current());
    return created.take().release(); // lives as long as any static tensor
  }();
  return *instance;
}

std::shared_ptr<const Segment> makeSegment(const std::string &name, int64_t bytes, const std::source_location &where) {
  static std::mutex mutex;
  static std::map<std::string, int> taken;
  std::lock_guard lock(mutex);
  auto segment = std::make_shared<Segment>();
  int before = taken[name]++;
  segment->name = before ? name + "." + std::to_string(before) : name;
  segment->bytes = aligned(std::max<int64_t>(bytes, 1));
  check(session().reserve(segment->name, segment->bytes), where);
  segment->base = session().arena(segment->name);
  return segment;
}

void placeAt(Variable &variable, std::shared_ptr<const Segment> segment, int64_t offset) {
  variable.segment = std::move(segment);
  variable.offset = offset;
  check(fill(variable.segment->base + offset, variable.type->dtype, variable.type->elements, variable.init,
             variable.seed),
        variable.where);
}

void placeAlone(Variable &variable) {
  constexpr int64_t poolBytes = 4096;
  if (variable.type->bytes > poolBytes / 8) {
    placeAt(variable,
            makeSegment(variable.role + "." + std::string(name(variable.type->dtype)), variable.type->bytes,
                        variable.where),
            0);
    return;
  }
  struct Pool {
    std::shared_ptr<const Segment> segment;
    int64_t used = 0;
  };
  static std::mutex mutex;
  static std::map<std::string, Pool> pools;
  std::lock_guard lock(mutex);
  std::string kind = "small." + variable.role + "." + std::string(name(variable.type->dtype));
  Pool &pool = pools[kind];
  int64_t bytes = aligned(variable.type->bytes);
  if (!pool.segment || pool.used + bytes > pool.segment->bytes)
    pool = {makeSegment(kind, poolBytes, variable.where), 0};
  placeAt(variable, pool.segment, pool.used);
  pool.used += bytes;
}

void *Variable::data() {
  if (!segment)
    place ? place(*this) : placeAlone(*this);
  return segment->base + offset;
}

ValueRef stateValue(const std::shared_ptr<Variable> &variable) {
  ValueRef value(new Value);
  value->state = Value::State::Variable;
  value->type = variable->type;
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

bool keepOldValue(Variable &variable, const ValueRef &before) {
  if (!before->external(3)) // the variable, its storage, the caller
    return false;
  before->buffer = Buffer::allocate(variable.type->bytes);
  std::memcpy(before->buffer->data, variable.data(), static_cast<size_t>(variable.type->bytes));
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
  std::memcpy(memory, data, static_cast<size_t>(variable.type->bytes));
  variable.pristine = false;
  if (variable.storage) {
    ++variable.storage->version;
    adoptState(*variable.storage);
  }
  dropStaleGraphs();
}

Tensor makeNumber(double value, DType dtype, const std::string &role, std::function<std::string()> name,
                  const std::source_location &where) {
  auto variable = std::make_shared<Variable>();
  variable->type = trace::internType(dtype, {});
  variable->role = role;
  variable->init = {.kind = InitialValue::Kind::Constant, .a = value};
  variable->name = std::move(name);
  variable->where = where;
  return makeTensor(makeVariable(std::move(variable)));
}

} // namespace record
} // namespace dlc
