#pragma once

#include "dlc/runtime/Store.h"

#include <filesystem>

namespace dlc::test {

/// A file a key in a folder of its own: for threads, and for processes forked after it was made. Where DLC_TEST_SHARED
/// names a folder, each of a process's stores is a folder below it that other processes' stores of that number share,
/// and stays there.
class FolderStore final : public runtime::Store {
public:
  FolderStore();
  ~FolderStore() override;
  FolderStore(const FolderStore &) = delete;
  FolderStore &operator=(const FolderStore &) = delete;

  Status set(std::string_view key, std::string_view value) override;
  StatusOr<std::string> get(std::string_view key, runtime::Deadline deadline) override;
  /// Communicators need none of these.
  StatusOr<std::string> watch(std::string_view key, std::string_view known, runtime::Deadline deadline) override;
  StatusOr<int64_t> add(std::string_view key, int64_t delta) override;
  StatusOr<std::string> compareSet(std::string_view key, std::string_view expected, std::string_view desired) override;
  Status setWhenLost(std::string_view key, std::string_view value) override { return {}; }

private:
  std::filesystem::path pathOf(std::string_view key) const;

  std::filesystem::path folder;
  int owner = -1; ///< the process that removes it
};

} // namespace dlc::test
