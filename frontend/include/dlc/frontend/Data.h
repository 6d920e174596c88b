#pragma once

#include "dlc/frontend/Tensor.h"
#include "dlc/runtime/Data.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace dlc {

/// Samples with their targets, as two tensors of equal first extent. Copies of the handle share them.
class TensorDataset {
public:
  TensorDataset(Tensor inputs, Tensor targets, Where where = Where::current());
  int64_t size() const;
  /// Rows as a batch, in the order given.
  std::pair<Tensor, Tensor> gather(std::span<const int64_t> rows) const;
  const Tensor &inputs() const;
  const Tensor &targets() const;

private:
  struct Shared;
  std::shared_ptr<Shared> shared;
  friend class DataLoader;
};

/// The parts of the handwritten digits: inputs f32 [n, 1, 8, 8] from 0 to 1, targets i64 [n].
struct DigitsData {
  TensorDataset train, test;
};
enum class DigitsSplit : uint8_t {
  EveryFifth, ///< test: index mod 5 is 4
  LastFifth   ///< test: the last fifth, other writers
};
/// Reads `digits.csv.gz`.
DigitsData load_digits(const std::string &path, DigitsSplit split = DigitsSplit::EveryFifth,
                       Where where = Where::current());

struct DataLoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;
  /// The order follows from the seed and the number of the epoch.
  uint64_t seed = 0;
  /// Leave out an epoch's last batch where it is short.
  bool drop_last = false;
  /// Under DataParallel: each member loads its rows of the batch. False: every rank loads all of them, for its own use.
  bool split = true;
  /// Where batches are; without it, where the data is. Batches of a TensorDataset for another device than the cpu are
  /// brought there one ahead, while a step runs.
  std::optional<Device> device = std::nullopt;
};

class DataLoader;
namespace detail {
/// Batches that are made ready beside the program's own work.
struct BatchesAhead {
  virtual ~BatchesAhead() = default;
  virtual void begin(std::vector<int64_t> rows) = 0;
  /// The one begun first.
  virtual std::pair<Tensor, Tensor> take() = 0;
};
/// Any data set a loader can read.
struct DataSource {
  virtual ~DataSource() = default;
  virtual int64_t size() const = 0;
  virtual std::pair<Tensor, Tensor> gather(std::span<const int64_t> rows) const = 0;
  /// Of batches on a device; null where nothing could run beside the program.
  virtual std::unique_ptr<BatchesAhead> ahead(const std::optional<Device> & /*device*/) const { return nullptr; }
  /// Of the content; 0 where it is not known.
  virtual uint64_t fingerprint() const { return 0; }
  /// Passes begun, which number the epochs.
  std::shared_ptr<uint64_t> passes = std::make_shared<uint64_t>(0);
};
/// Samples `get(i)` of a user's type, stacked.
std::pair<Tensor, Tensor> stackSamples(std::span<const std::pair<Tensor, Tensor>> samples);
/// What load_state_dict would refuse.
Status checkPosition(const DataLoader &loader, const BatchState &state);
} // namespace detail

/// Batches of a data set; each pass of a range-for over it is an epoch. Epochs are counted with the data set, so a
/// loader made anew in each goes on with the next order.
///
/// A data set is a TensorDataset, or any type with `size()` and `get(int64_t) -> std::pair<Tensor, Tensor>`.
class DataLoader {
public:
  DataLoader(TensorDataset data, DataLoaderOptions options = {}, Where where = Where::current());
  template <typename D>
    requires requires(const D &data, int64_t i) {
      { data.size() } -> std::convertible_to<int64_t>;
      { data.get(i) } -> std::convertible_to<std::pair<Tensor, Tensor>>;
    }
  DataLoader(D data, DataLoaderOptions options = {}, Where where = Where::current())
      : DataLoader(std::make_shared<Samples<D>>(std::move(data)), options, where) {}

  /// Batches of an epoch.
  int64_t size() const;
  /// The next pass is this epoch, from its start.
  void set_epoch(uint64_t epoch);
  /// The epoch that the next pass begins, or after load_state_dict goes on with.
  uint64_t epoch() const;

  /// Where the last pass stands: samples of batches that it has given out count. The same on all ranks.
  BatchState state_dict(Where where = Where::current()) const;
  /// The next pass goes on there, in the middle of an epoch, also with another batch size or on another number of
  /// ranks. The order is that of the state's seed. An Error when the state is of another data set.
  void load_state_dict(const BatchState &state, Where where = Where::current());

  class Iterator {
  public:
    std::pair<Tensor, Tensor> operator*() const { return batch; }
    Iterator &operator++();
    bool operator!=(const Iterator &other) const { return state != other.state; }
    bool operator==(const Iterator &other) const { return state == other.state; }

  private:
    friend class DataLoader;
    struct State;
    std::shared_ptr<State> state; // null at the end
    std::pair<Tensor, Tensor> batch;
  };
  Iterator begin() const;
  Iterator end() const { return {}; }

private:
  template <typename D>
  struct Samples : detail::DataSource {
    explicit Samples(D data) : data(std::move(data)) {}
    int64_t size() const override { return static_cast<int64_t>(data.size()); }
    std::pair<Tensor, Tensor> gather(std::span<const int64_t> rows) const override {
      std::vector<std::pair<Tensor, Tensor>> samples;
      for (int64_t row : rows)
        samples.push_back(data.get(row));
      return detail::stackSamples(samples);
    }
    D data;
  };
  friend Status detail::checkPosition(const DataLoader &loader, const BatchState &state);
  DataLoader(std::shared_ptr<detail::DataSource> source, DataLoaderOptions options, Where where);
  std::shared_ptr<detail::DataSource> source;
  /// Copies of the loader share it.
  struct Position;
  std::shared_ptr<Position> position;
  DataLoaderOptions options;
  Where where;
};

} // namespace dlc
