#include "rendezvous/FileStore.h"

#include "base/FileDescriptor.h"
#include "base/FileError.h"
#include "rendezvous/Digest.h"
#include "rendezvous/KeyTable.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <functional>
#include <mutex>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace dlc::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *lockName = "lock", *newName = "new", *usersName = "users", *lostPrefix = "lost.";

/// One file a key, named by the key's SHA-256. Files appear whole, by rename, under the lock of one file; nothing is
/// synced, since nothing outlives the job.
class FileStore final : public Store {
public:
  FileStore(std::string path, std::unique_ptr<FileDescriptor> directory, std::chrono::milliseconds timeout)
      : path_(std::move(path)), directory_(std::move(directory)), timeout_(timeout) {}

  ~FileStore() override;

  /// Counts this view; false: the last one before just removed the directory.
  StatusOr<bool> enter();

  Status set(std::string_view key, std::string_view value) override;
  StatusOr<int64_t> add(std::string_view key, int64_t delta) override;
  StatusOr<std::string> compareSet(std::string_view key, std::string_view expected, std::string_view desired) override;
  Status setWhenLost(std::string_view key, std::string_view value) override;
  StatusOr<std::string> get(std::string_view key, Deadline deadline) override {
    return waitUntil(key, deadline, [](const std::string &) { return true; });
  }
  StatusOr<std::string> watch(std::string_view key, std::string_view known, Deadline deadline) override {
    return waitUntil(key, deadline, [known](const std::string &value) { return value != known; });
  }

private:
  using Content = std::optional<std::string>;

  static std::string nameOf(std::string_view key) { return hex(view(sha256(key))); }

  StatusOr<std::unique_ptr<FileDescriptor>> lock() const;
  StatusOr<Content> read(const std::string &name) const;
  StatusOr<Content> readFile(const std::string &name) const;
  bool isLost(const std::string &name) const;
  StatusOr<std::unique_ptr<FileDescriptor>> write(const std::string &name, std::string_view value) const;
  StatusOr<std::string> waitUntil(std::string_view key, Deadline deadline,
                                  const std::function<bool(const std::string &)> &ready) const;

  /// Under the lock; makes the new value of the old one, nothing to leave it.
  template <typename Change>
  Status change(const std::string &name, Change change) const {
    StatusOr<std::unique_ptr<FileDescriptor>> locked = lock();
    if (!locked.ok())
      return locked.status();
    StatusOr<Content> old = read(name);
    if (!old.ok())
      return old.status();
    StatusOr<Content> next = change(*old);
    if (!next.ok())
      return next.status();
    return *next ? write(name, **next).status() : Status();
  }

  std::string path_;
  std::unique_ptr<FileDescriptor> directory_;
  std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<FileDescriptor>> wills_; ///< locked while this process lives
  bool entered_ = false;
};

/// A lock of the file's own description: threads exclude each other too, and a dead process lets go.
StatusOr<std::unique_ptr<FileDescriptor>> FileStore::lock() const {
  auto file = std::make_unique<FileDescriptor>(
      ::openat(directory_->get(), lockName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file->valid())
    return systemError("cannot open the lock of store " + path_);
  Deadline deadline = Clock::now() + timeout_;
  while (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return systemError("cannot lock store " + path_);
    if (Clock::now() >= deadline)
      return Status(StatusCode::PeerFailed, "another process keeps the lock of store " + path_ + " for more than " +
                                                std::to_string(timeout_.count()) + " ms");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return file;
}

/// The value, or that for the end of a process that has ended: its file is no longer locked.
StatusOr<FileStore::Content> FileStore::read(const std::string &name) const {
  std::string will = lostPrefix + name;
  return isLost(will) ? readFile(will) : readFile(name);
}

bool FileStore::isLost(const std::string &name) const {
  FileDescriptor file(::openat(directory_->get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return file.valid() && ::flock(file.get(), LOCK_SH | LOCK_NB) == 0;
}

Status FileStore::setWhenLost(std::string_view key, std::string_view value) {
  for (const Status &status : {checkKey(key), checkValue(value)})
    if (!status.ok())
      return status;
  std::lock_guard guard(mutex_);
  StatusOr<std::unique_ptr<FileDescriptor>> locked = lock();
  if (!locked.ok())
    return locked.status();
  std::string name = lostPrefix + nameOf(key);
  StatusOr<std::unique_ptr<FileDescriptor>> file = write(name, value);
  if (file.ok())
    wills_.push_back(file.take());
  return file.status();
}

StatusOr<FileStore::Content> FileStore::readFile(const std::string &name) const {
  FileDescriptor file(::openat(directory_->get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid() && errno == ENOENT)
    return Content();
  struct stat facts{};
  if (!file.valid() || ::fstat(file.get(), &facts) != 0)
    return systemError("cannot read store " + path_);
  if (!S_ISREG(facts.st_mode) || static_cast<size_t>(facts.st_size) > kLongestStoreValue)
    return invalidFile("store " + path_ + " holds what no store writes: " + name);
  std::string value(static_cast<size_t>(facts.st_size), '\0');
  size_t done = 0;
  while (done < value.size()) {
    ssize_t got = ::pread(file.get(), value.data() + done, value.size() - done, static_cast<off_t>(done));
    if (got == 0 || (got < 0 && errno != EINTR))
      return systemError("cannot read store " + path_);
    done += static_cast<size_t>(std::max<ssize_t>(0, got));
  }
  return Content(std::move(value));
}

/// Under the lock. The file is locked before it appears under its name.
StatusOr<std::unique_ptr<FileDescriptor>> FileStore::write(const std::string &name, std::string_view value) const {
  auto file = std::make_unique<FileDescriptor>(
      ::openat(directory_->get(), newName, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file->valid() || ::flock(file->get(), LOCK_EX | LOCK_NB) != 0)
    return systemError("cannot write to store " + path_);
  while (!value.empty()) {
    ssize_t written = ::write(file->get(), value.data(), value.size());
    if (written < 0 && errno != EINTR)
      return systemError("cannot write to store " + path_);
    value.remove_prefix(static_cast<size_t>(std::max<ssize_t>(0, written)));
  }
  if (::renameat(directory_->get(), newName, directory_->get(), name.c_str()) != 0)
    return systemError("cannot write to store " + path_);
  return file;
}

Status FileStore::set(std::string_view key, std::string_view value) {
  if (Status status = checkKey(key); !status.ok())
    return status;
  if (Status status = checkValue(value); !status.ok())
    return status;
  return change(nameOf(key), [&](const Content &) -> StatusOr<Content> { return Content(value); });
}

StatusOr<int64_t> FileStore::add(std::string_view key, int64_t delta) {
  if (Status status = checkKey(key); !status.ok())
    return status;
  int64_t result = 0;
  Status status = change(nameOf(key), [&](const Content &old) -> StatusOr<Content> {
    StatusOr<int64_t> sum = addToText(old.value_or(""), delta);
    if (!sum.ok())
      return sum.status();
    result = *sum;
    return Content(std::to_string(result));
  });
  return status.ok() ? StatusOr<int64_t>(result) : status;
}

StatusOr<std::string> FileStore::compareSet(std::string_view key, std::string_view expected, std::string_view desired) {
  if (Status status = checkKey(key); !status.ok())
    return status;
  if (Status status = checkValue(desired); !status.ok())
    return status;
  std::string result;
  Status status = change(nameOf(key), [&](const Content &old) -> StatusOr<Content> {
    bool matches = old.value_or("") == expected;
    result = matches ? std::string(desired) : old.value_or("");
    return matches ? Content(desired) : Content();
  });
  return status.ok() ? StatusOr<std::string>(std::move(result)) : status;
}

StatusOr<std::string> FileStore::waitUntil(std::string_view key, Deadline deadline,
                                           const std::function<bool(const std::string &)> &ready) const {
  constexpr std::chrono::milliseconds shortestPause{1}, longestPause{20};
  if (Status status = checkKey(key); !status.ok())
    return status;
  std::string name = nameOf(key);
  for (Clock::duration pause = shortestPause;; pause = std::min<Clock::duration>(pause * 2, longestPause)) {
    StatusOr<Content> value = read(name);
    if (!value.ok())
      return value.status();
    if (*value && ready(**value))
      return **value;
    Clock::duration left = deadline - Clock::now();
    if (left <= Clock::duration::zero())
      return keyTimeout(key);
    std::this_thread::sleep_for(std::min(pause, left));
  }
}

StatusOr<bool> FileStore::enter() {
  Status status = change(usersName, [](const Content &old) -> StatusOr<Content> {
    StatusOr<int64_t> users = addToText(old.value_or(""), 1);
    return users.ok() ? StatusOr<Content>(std::to_string(*users)) : users.status();
  });
  struct stat facts{};
  if (::fstat(directory_->get(), &facts) == 0 && facts.st_nlink == 0)
    return false;
  entered_ = status.ok();
  return status.ok() ? StatusOr<bool>(true) : status;
}

/// A file that a store made, so that nothing else in the directory is ever removed.
bool isOfStore(std::string_view name) {
  if (name.starts_with(lostPrefix))
    name.remove_prefix(std::string_view(lostPrefix).size());
  return name == newName || name == usersName ||
         (name.size() == 2 * kDigestSize && name.find_first_not_of("0123456789abcdef") == std::string_view::npos);
}

/// Under the lock. Who opens the lock's file anew meanwhile keeps the directory.
void removeFiles(int directory, const std::string &path) {
  std::vector<std::string> names;
  int listed = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (DIR *list = listed >= 0 ? ::fdopendir(listed) : nullptr) {
    while (const dirent *entry = ::readdir(list))
      if (isOfStore(entry->d_name))
        names.emplace_back(entry->d_name);
    ::closedir(list);
  }
  for (const std::string &name : names)
    ::unlinkat(directory, name.c_str(), 0);
  ::unlinkat(directory, lockName, 0);
  ::rmdir(path.c_str()); // fails where something else lies in it
}

FileStore::~FileStore() {
  if (!entered_)
    return;
  StatusOr<std::unique_ptr<FileDescriptor>> locked = lock();
  if (!locked.ok())
    return;
  StatusOr<Content> users = read(usersName);
  StatusOr<int64_t> left = addToText(users.ok() ? users->value_or("") : "", -1);
  if (left.ok() && *left <= 0)
    removeFiles(directory_->get(), path_);
  else if (left.ok())
    (void)write(usersName, std::to_string(*left));
}

Status checkOwner(int directory, const std::string &path) {
  struct stat facts{};
  if (::fstat(directory, &facts) != 0)
    return systemError("cannot read the directory " + path);
  if (facts.st_uid != ::geteuid())
    return invalidFile("store " + path + " expects a directory of user " + std::to_string(::geteuid()) +
                       ", got one of user " + std::to_string(facts.st_uid));
  if ((facts.st_mode & 077U) != 0)
    return invalidFile("store " + path + " expects a directory that only its user can enter; run chmod 700 " + path);
  return {};
}

} // namespace

StatusOr<std::unique_ptr<Store>> openFileStore(const std::string &path, std::chrono::milliseconds timeout) {
  for (Deadline deadline = Clock::now() + timeout; Clock::now() < deadline;) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      return systemError("cannot make the directory " + path);
    auto directory =
        std::make_unique<FileDescriptor>(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!directory->valid() && errno == ENOENT)
      continue; // just removed by its last user
    if (!directory->valid())
      return systemError("cannot open the directory " + path);
    if (Status status = checkOwner(directory->get(), path); !status.ok())
      return status;
    auto store = std::make_unique<FileStore>(path, std::move(directory), timeout);
    StatusOr<bool> entered = store->enter();
    if (!entered.ok())
      return entered.status();
    if (*entered)
      return std::unique_ptr<Store>(std::move(store));
  }
  return Status(StatusCode::PeerFailed,
                "cannot enter store " + path + " within " + std::to_string(timeout.count()) + " ms");
}

} // namespace dlc::runtime
