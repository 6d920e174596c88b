#include "rendezvous/KeyTable.h"

#include <condition_variable>
#include <mutex>
#include <type_traits>

namespace dlc::runtime {
namespace {

class MemoryStore final : public Store {
public:
  Status set(std::string_view key, std::string_view value) override {
    return change([&] { return table_.set(key, value); });
  }

  StatusOr<int64_t> add(std::string_view key, int64_t delta) override {
    return change([&] { return table_.add(key, delta); });
  }

  StatusOr<std::string> compareSet(std::string_view key, std::string_view expected, std::string_view desired) override {
    return change([&] { return table_.compareSet(key, expected, desired); });
  }

  StatusOr<std::string> get(std::string_view key, Deadline deadline) override {
    return wait(key, deadline, [](const std::string *value) { return value != nullptr; });
  }

  StatusOr<std::string> watch(std::string_view key, std::string_view known, Deadline deadline) override {
    return wait(key, deadline, [known](const std::string *value) { return value && *value != known; });
  }

  /// Its users are threads of one process: nobody is left to read it.
  Status setWhenLost(std::string_view key, std::string_view value) override {
    Status status = checkKey(key);
    return status.ok() ? checkValue(value) : status;
  }

private:
  template <typename Change>
  std::invoke_result_t<Change> change(Change change) {
    std::lock_guard lock(mutex_);
    auto result = change();
    changed_.notify_all();
    return result;
  }

  template <typename Ready>
  StatusOr<std::string> wait(std::string_view key, Deadline deadline, Ready ready) {
    std::unique_lock lock(mutex_);
    if (Status status = checkKey(key); !status.ok())
      return status;
    if (!changed_.wait_until(lock, deadline, [&] { return ready(table_.find(key)); }))
      return keyTimeout(key);
    return *table_.find(key);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  KeyTable table_;
};

} // namespace

std::unique_ptr<Store> createMemoryStore() { return std::make_unique<MemoryStore>(); }

} // namespace dlc::runtime
