#include "dlc/frontend/Data.h"

#include "data/MemberRows.h"
#include "dlc/runtime/Data.h"
#include "dlc/runtime/Digits.h"
#include "dlc/runtime/Prefetch.h"
#include "record/Trace.h"
#include "record/Transfer.h"

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace dlc {

using record::check;
using record::fail;

namespace {

/// Memory of batches, taken again after its last release.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
public:
  std::shared_ptr<record::Buffer> take(int64_t bytes) {
    std::shared_ptr<record::Buffer> memory;
    {
      std::lock_guard lock(mutex);
      auto &list = free[bytes];
      if (!list.empty()) {
        memory = std::move(list.back());
        list.pop_back();
      }
    }
    if (!memory)
      memory = record::Buffer::allocate(bytes);
    void *data = memory->data;
    return std::make_shared<record::Buffer>(data, bytes, [pool = weak_from_this(), memory, bytes] {
      if (std::shared_ptr<BufferPool> alive = pool.lock()) {
        std::lock_guard lock(alive->mutex);
        alive->free[bytes].push_back(memory);
      }
    });
  }

private:
  std::mutex mutex;
  std::map<int64_t, std::vector<std::shared_ptr<record::Buffer>>> free;
};

TensorView viewOf(const Tensor &tensor, const record::HostBytes &bytes) {
  const trace::TensorType &type = *record::implOf(tensor, Where::current()).type;
  return {"", type.dtype, type.shape, bytes.data};
}

/// Of a data set whose batches are on a device.
class DeviceBatches : public detail::BatchesAhead {
public:
  DeviceBatches(record::Place &place, std::array<record::HostBytes, 2> sources, std::vector<TensorView> views)
      : place(place), sources(std::move(sources)), views(views) {
    auto made = Prefetch::create(place.session(), std::move(views));
    check(made.status(), Where::current());
    prefetch = made.take();
  }
  void begin(std::vector<int64_t> rows) override {
    counts.push_back(std::ssize(rows));
    prefetch->begin(std::move(rows));
  }
  std::pair<Tensor, Tensor> take() override {
    int64_t rows = counts.front();
    counts.pop_front();
    auto batch = prefetch->take();
    if (!batch.ok())
      fail(batch.status().code() == StatusCode::InvalidInput ? ErrorKind::Type : ErrorKind::Device,
           "DataLoader: " + batch.status().message(), Where::current());
    return {tensorOf(*batch, 0, rows), tensorOf(*batch, 1, rows)};
  }

private:
  Tensor tensorOf(const Prefetch::Batch &batch, size_t i, int64_t rows) {
    std::vector<int64_t> shape = views[i].shape;
    shape[0] = rows;
    trace::TypeRef type = trace::internType(views[i].dtype, shape);
    auto buffer = std::make_shared<record::Buffer>(batch.data(i), type->bytes, [batch] {}, place);
    return record::makeTensor(record::concrete(type, std::move(buffer)));
  }

  record::Place &place;
  std::array<record::HostBytes, 2> sources; ///< what the views show
  std::vector<TensorView> views;
  std::unique_ptr<Prefetch> prefetch;
  std::deque<int64_t> counts; ///< rows of what was begun and not taken
};

} // namespace

struct TensorDataset::Shared : detail::DataSource {
  int64_t size() const override { return inputs.size(0); }
  std::pair<Tensor, Tensor> gather(std::span<const int64_t> rows) const override {
    return {gathered(hostInputs, rows).to(inputs.device()), gathered(hostTargets, rows).to(targets.device())};
  }
  uint64_t fingerprint() const override {
    std::lock_guard lock(mutex);
    if (known == 0) {
      record::HostBytes first = record::readOnHost(hostInputs, Where::current());
      record::HostBytes second = record::readOnHost(hostTargets, Where::current());
      std::array<TensorView, 2> views = {viewOf(hostInputs, first), viewOf(hostTargets, second)};
      known = fingerprintOf(views);
    }
    return known;
  }
  std::unique_ptr<detail::BatchesAhead> ahead(const std::optional<Device> &device) const override {
    if (!device && !(inputs.device() == targets.device()))
      return nullptr;
    record::Place &place = device.value_or(inputs.device()).place();
    if (place.isHost())
      return nullptr;
    std::array<record::HostBytes, 2> sources = {record::readOnHost(hostInputs, Where::current()),
                                                record::readOnHost(hostTargets, Where::current())};
    std::vector<TensorView> views = {viewOf(hostInputs, sources[0]), viewOf(hostTargets, sources[1])};
    return std::make_unique<DeviceBatches>(place, std::move(sources), std::move(views));
  }
  Tensor gathered(const Tensor &from, std::span<const int64_t> rows) const {
    record::HostBytes bytes = record::readOnHost(from, Where::current());
    TensorView source = viewOf(from, bytes);
    std::vector<int64_t> shape = source.shape;
    shape[0] = static_cast<int64_t>(rows.size());
    trace::TypeRef type = trace::internType(source.dtype, shape);
    auto buffer = pool->take(type->bytes);
    check(gatherRows(source, rows, buffer->data), Where::current());
    return record::makeTensor(record::concrete(type, std::move(buffer)));
  }
  /// Batches are on the devices of these.
  Tensor inputs, targets;
  Tensor hostInputs, hostTargets;
  std::shared_ptr<BufferPool> pool = std::make_shared<BufferPool>();

private:
  mutable std::mutex mutex;
  mutable uint64_t known = 0;
};

TensorDataset::TensorDataset(Tensor inputs, Tensor targets, Where where) : shared(std::make_shared<Shared>()) {
  if (inputs.dim() == 0 || targets.dim() == 0 || inputs.size(0) != targets.size(0))
    fail(ErrorKind::Type,
         "TensorDataset: inputs are " + inputs.shape().str() + ", targets " + targets.shape().str() +
             "; expected equal first dims",
         where);
  shared->inputs = inputs.contiguous();
  shared->targets = targets.contiguous();
  shared->hostInputs = shared->inputs.to(Device());
  shared->hostTargets = shared->targets.to(Device());
}
int64_t TensorDataset::size() const { return shared->size(); }
std::pair<Tensor, Tensor> TensorDataset::gather(std::span<const int64_t> rows) const { return shared->gather(rows); }
const Tensor &TensorDataset::inputs() const { return shared->inputs; }
const Tensor &TensorDataset::targets() const { return shared->targets; }

DigitsData load_digits(const std::string &path, DigitsSplit split, Where where) {
  auto read = readDigits(path);
  check(read.status(), where);
  const Digits &digits = *read;
  DataSplit parts = split == DigitsSplit::EveryFifth ? everyFifthSplit(digits.size()) : lastFifthSplit(digits.size());
  TensorDataset all(tensor(digits.images, {digits.size(), 1, Digits::side, Digits::side}),
                    tensor(digits.labels, {digits.size()}));
  auto part = [&](const std::vector<int64_t> &rows) {
    auto [inputs, targets] = all.gather(rows);
    return TensorDataset(inputs, targets);
  };
  return {part(parts.train), part(parts.test)};
}

namespace detail {
std::pair<Tensor, Tensor> stackSamples(std::span<const std::pair<Tensor, Tensor>> samples) {
  auto stacked = [&](auto member) {
    const Tensor &first = samples.front().*member;
    std::vector<int64_t> shape = first.shape().vec();
    shape.insert(shape.begin(), static_cast<int64_t>(samples.size()));
    trace::TypeRef type = trace::internType(first.dtype(), shape);
    auto buffer = record::Buffer::allocate(type->bytes);
    char *to = static_cast<char *>(buffer->data);
    int64_t bytes = type->bytes / static_cast<int64_t>(samples.size());
    for (const auto &sample : samples) {
      const Tensor &row = sample.*member;
      if (row.shape() != first.shape() || row.dtype() != first.dtype())
        fail(ErrorKind::Type, "DataLoader: samples differ: " + first.shape().str() + " and " + row.shape().str(),
             Where::current());
      std::memcpy(to, record::readOnHost(row, Where::current()).data, static_cast<size_t>(bytes));
      to += bytes;
    }
    return record::makeTensor(record::concrete(type, std::move(buffer))).to(first.device());
  };
  using Sample = std::pair<Tensor, Tensor>;
  return {stacked(&Sample::first), stacked(&Sample::second)};
}
} // namespace detail

struct DataLoader::Position {
  uint64_t seed = 0;
  /// Of the last pass, once there is one.
  std::optional<BatchState> last;
  /// The next pass goes on from `last`.
  bool resumes = false;
  /// Of the pass before, for the next one.
  std::unique_ptr<detail::BatchesAhead> ahead = nullptr;
};

struct DataLoader::Iterator::State {
  Batches batches;
  std::shared_ptr<detail::DataSource> source;
  DataLoaderOptions options;
  std::shared_ptr<Position> position;
  std::unique_ptr<detail::BatchesAhead> ahead = nullptr;
  detail::RowsHere rows = {}; ///< of the next batch; none at the end
  BatchState after = {};      ///< where the pass stands once that is given out

  std::pair<Tensor, Tensor> gather(std::span<const int64_t> rows) const {
    auto [inputs, targets] = source->gather(rows);
    return options.device ? std::pair{inputs.to(*options.device), targets.to(*options.device)}
                          : std::pair{inputs, targets};
  }
  /// Turns to the next batch.
  void advance() {
    rows = detail::RowsHere::of(batches.next(), options.split);
    after = batches.state();
    if (ahead && !rows.rows.empty())
      ahead->begin(rows.rows);
  }
};

namespace {
Batches makeBatches(const detail::DataSource &source, const DataLoaderOptions &options, uint64_t seed, Where where,
                    uint64_t fingerprint = 0) {
  auto batches = Batches::create(source.size(), {.batchSize = options.batch_size,
                                                 .shuffle = options.shuffle,
                                                 .dropLast = options.drop_last,
                                                 .seed = seed,
                                                 .fingerprint = fingerprint});
  check(batches.status(), where);
  return batches.take();
}
} // namespace

DataLoader::DataLoader(TensorDataset data, DataLoaderOptions options, Where where)
    : DataLoader(std::static_pointer_cast<detail::DataSource>(data.shared), options, where) {}

DataLoader::DataLoader(std::shared_ptr<detail::DataSource> source, DataLoaderOptions options, Where where)
    : source(std::move(source)), position(std::make_shared<Position>()), options(options), where(where) {
  position->seed = options.seed;
  makeBatches(*this->source, options, options.seed, where); // a bad option is refused here
}

int64_t DataLoader::size() const { return makeBatches(*source, options, position->seed, where).batchesPerEpoch(); }

void DataLoader::set_epoch(uint64_t epoch) {
  *source->passes = epoch;
  position->last.reset();
  position->resumes = false;
}

uint64_t DataLoader::epoch() const { return position->resumes ? position->last->epoch : *source->passes; }

BatchState DataLoader::state_dict(Where) const {
  // Between passes the data set's count decides, which other loaders of it have moved on too.
  BatchState state = position->last.value_or(BatchState());
  if (!position->last || (state.consumed == 0 && !position->resumes))
    state = {.seed = position->seed, .epoch = *source->passes, .size = source->size()};
  state.fingerprint = source->fingerprint();
  return state;
}

Status detail::checkPosition(const DataLoader &loader, const BatchState &state) {
  const DataSource &source = *loader.source;
  return makeBatches(source, loader.options, state.seed, loader.where, source.fingerprint()).restore(state);
}

void DataLoader::load_state_dict(const BatchState &state, Where where) {
  if (Status status = detail::checkPosition(*this, state); !status.ok())
    fail(ErrorKind::State, "load_state_dict: " + status.message(), where);
  position->seed = state.seed;
  position->last = state;
  position->resumes = true;
}

DataLoader::Iterator DataLoader::begin() const {
  Batches batches = makeBatches(*source, options, position->seed, where);
  if (std::exchange(position->resumes, false)) {
    check(batches.restore(*position->last), where);
    *source->passes = position->last->epoch;
  } else {
    batches.startEpoch(*source->passes);
  }
  ++*source->passes;
  Iterator iterator;
  iterator.state = std::make_shared<Iterator::State>(Iterator::State{std::move(batches), source, options, position});
  iterator.state->ahead = position->ahead ? std::move(position->ahead) : source->ahead(options.device);
  iterator.state->advance();
  return ++iterator;
}

DataLoader::Iterator &DataLoader::Iterator::operator++() {
  detail::RowsHere rows = std::move(state->rows);
  state->position->last = state->after;
  if (rows.rows.empty()) {
    state->position->ahead = std::move(state->ahead);
    state.reset();
    batch = {};
    return *this;
  }
  batch = rows.batch(state->ahead ? state->ahead->take() : state->gather(rows.rows));
  state->advance(); // on its way while the caller works with this one
  return *this;
}

} // namespace dlc
