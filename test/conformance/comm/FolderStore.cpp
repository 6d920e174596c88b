#include "FolderStore.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include <unistd.h>

namespace dlc::test {

FolderStore::FolderStore() {
  static std::atomic<int> count = 0;
  if (const char *shared = std::getenv("DLC_TEST_SHARED")) {
    folder = std::filesystem::path(shared) / ("store." + std::to_string(++count));
    std::filesystem::create_directories(folder);
    return;
  }
  owner = getpid();
  std::string made = (std::filesystem::temp_directory_path() / "dlc-store-XXXXXX").string();
  folder = mkdtemp(made.data());
}

FolderStore::~FolderStore() {
  if (getpid() == owner)
    std::filesystem::remove_all(folder);
}

std::filesystem::path FolderStore::pathOf(std::string_view key) const {
  std::string name(key);
  std::replace(name.begin(), name.end(), '/', '.');
  return folder / name;
}

Status FolderStore::set(std::string_view key, std::string_view value) {
  static std::atomic<int> count = 0;
  std::filesystem::path path = pathOf(key);
  std::filesystem::path written = folder / ("new." + std::to_string(getpid()) + "." + std::to_string(++count));
  std::ofstream(written) << value;
  std::filesystem::rename(written, path);
  return {};
}

StatusOr<std::string> FolderStore::get(std::string_view key, runtime::Deadline deadline) {
  while (true) {
    if (std::ifstream file(pathOf(key)); file)
      return std::string(std::istreambuf_iterator<char>(file), {});
    if (std::chrono::steady_clock::now() >= deadline)
      return Status(StatusCode::LimitExceeded, "nobody has set " + std::string(key));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

StatusOr<std::string> FolderStore::watch(std::string_view, std::string_view, runtime::Deadline) {
  return Status(StatusCode::Internal, "no watching here");
}

StatusOr<int64_t> FolderStore::add(std::string_view, int64_t) {
  return Status(StatusCode::Internal, "no counters here");
}

StatusOr<std::string> FolderStore::compareSet(std::string_view, std::string_view, std::string_view) {
  return Status(StatusCode::Internal, "no comparison here");
}

} // namespace dlc::test
