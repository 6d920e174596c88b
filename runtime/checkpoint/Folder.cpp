#include "checkpoint/Folder.h"

#include "base/FileDescriptor.h"
#include "base/FileError.h"
#include "base/ReplaceFile.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace dlc::runtime {
namespace {

constexpr std::string_view kStepPrefix = "step-", kExtension = ".safetensors";
constexpr int64_t kMostSteps = 1'000'000'000'000'000;

/// Takes at least `least` digits off the front.
bool takeDigits(std::string_view &text, size_t least) {
  size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count >= least;
}

bool take(std::string_view &text, std::string_view part) {
  if (!text.starts_with(part))
    return false;
  text.remove_prefix(part.size());
  return true;
}

/// m<5 digits>[-<digits>].safetensors
bool isMemberFile(std::string_view name) {
  return take(name, "m") && takeDigits(name, 5) && (!take(name, "-") || takeDigits(name, 1)) && name == kExtension;
}

/// What replaceFile leaves of one of our files when the program dies.
bool isTemporary(std::string_view name) {
  size_t end = name.rfind(".tmp-");
  if (end == std::string_view::npos)
    return false;
  std::string_view of = name.substr(0, end), digits = name.substr(end + 5);
  return takeDigits(digits, 1) && digits.empty() && (of == kIndexName || of == kLatestName || isMemberFile(of));
}

bool isDirectory(const std::string &path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// Sorted; empty if the directory is not there.
StatusOr<std::vector<std::string>> namesIn(const std::string &path) {
  std::vector<std::string> names;
  DIR *directory = ::opendir(path.c_str());
  if (!directory && errno == ENOENT)
    return names;
  if (!directory)
    return systemError("cannot open").withContext(path);
  errno = 0;
  while (const dirent *entry = ::readdir(directory)) // NOLINT(concurrency-mt-unsafe): the stream is this call's own
    names.emplace_back(entry->d_name);
  Status status = errno == 0 ? Status() : systemError("cannot read").withContext(path);
  ::closedir(directory);
  if (!status.ok())
    return status;
  std::sort(names.begin(), names.end());
  return names;
}

Status removeFile(const std::string &path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return systemError("cannot remove").withContext(path);
  return {};
}

/// The index goes first: from then on it is no checkpoint, whenever this ends.
Status removeCheckpoint(const std::string &path) {
  if (isComplete(path)) {
    Status status = removeFile(inFolder(path, kIndexName));
    if (status.ok())
      status = syncDirectory(path).withContext(path);
    if (!status.ok())
      return status;
  }
  StatusOr<std::vector<std::string>> names = namesIn(path);
  if (!names.ok())
    return names.status();
  for (const std::string &name : *names)
    if (isMemberFile(name) || isTemporary(name))
      if (Status status = removeFile(inFolder(path, name)); !status.ok())
        return status;
  // Somebody's own files keep the directory.
  if (::rmdir(path.c_str()) != 0 && errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT)
    return systemError("cannot remove").withContext(path);
  return {};
}

/// In a complete checkpoint: temporary files, and files of members that its index does not name.
Status removeLeftoversIn(const std::string &path) {
  StatusOr<std::vector<std::string>> names = namesIn(path);
  if (!names.ok())
    return names.status();
  bool replaced = false;
  for (const std::string &name : *names) {
    replaced |= isMemberFile(name) && name.find('-') != std::string::npos;
    if (isTemporary(name))
      if (Status status = removeFile(inFolder(path, name)); !status.ok())
        return status;
  }
  if (!replaced)
    return {};
  StatusOr<CheckpointIndex> index = readIndex(path);
  if (!index.ok())
    return {}; // who loads it hears why
  std::set<std::string> used;
  for (const CheckpointIndex::File &file : index->files)
    used.insert(file.name);
  for (const std::string &name : *names)
    if (isMemberFile(name) && !used.contains(name))
      if (Status status = removeFile(inFolder(path, name)); !status.ok())
        return status;
  return {};
}

} // namespace

std::string inFolder(std::string folder, std::string_view name) {
  if (!folder.ends_with('/'))
    folder += '/';
  folder += name;
  return folder;
}

std::string stepName(int64_t step) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "step-%08lld", static_cast<long long>(step));
  return name.data();
}

std::optional<int64_t> stepOfName(std::string_view name) {
  int64_t step = -1;
  std::string_view digits = name.substr(std::min(name.size(), kStepPrefix.size()));
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (error != std::errc() || step < 0 || step > kMostSteps || name != stepName(step))
    return std::nullopt;
  return step;
}

std::string memberFileName(int rank, int attempt) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "m%05d", rank);
  return name.data() + (attempt > 1 ? "-" + std::to_string(attempt) : "") + std::string(kExtension);
}

Status makeDirectories(const std::string &path) {
  for (size_t end = 0; end < path.size();) {
    size_t begin = end + 1;
    end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0777) == 0) {
      size_t slash = part.rfind('/');
      std::string above = slash == std::string::npos ? "." : part.substr(0, slash + 1);
      if (Status status = syncDirectory(above); !status.ok())
        return status.withContext(above);
    } else if (int reason = errno; reason != EEXIST || end == path.size()) {
      struct stat info{};
      if (reason != EEXIST || ::stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        errno = reason == EEXIST ? ENOTDIR : reason;
        return systemError("cannot make the directory").withContext(part);
      }
    }
  }
  return {};
}

StatusOr<std::string> readSmallFile(const std::string &path, int64_t longest) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (!file.valid() || ::fstat(file.get(), &info) != 0)
    return systemError("cannot open").withContext(path);
  if (!S_ISREG(info.st_mode))
    return invalidFile("expected a regular file").withContext(path);
  if (info.st_size > longest)
    return invalidFile("expected at most " + std::to_string(longest) + " bytes, found " + std::to_string(info.st_size))
        .withContext(path);
  std::string text(static_cast<size_t>(info.st_size), '\0');
  size_t have = 0;
  while (have < text.size()) {
    ssize_t got = ::read(file.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno != EINTR)
      return systemError("cannot read").withContext(path);
    if (got == 0)
      break;
    have += static_cast<size_t>(std::max<ssize_t>(got, 0));
  }
  text.resize(have);
  return text;
}

StatusOr<CheckpointIndex> readIndex(const std::string &path) {
  StatusOr<std::string> text = readSmallFile(inFolder(path, kIndexName), kLongestIndex);
  if (!text.ok())
    return text.status();
  StatusOr<CheckpointIndex> index = CheckpointIndex::parse(*text);
  return index.ok() ? std::move(index) : index.status().withContext(path);
}

bool isComplete(const std::string &path) {
  struct stat info{};
  return isDirectory(path) && ::stat(inFolder(path, kIndexName).c_str(), &info) == 0;
}

Status removeLeftovers(const std::string &directory) {
  StatusOr<std::vector<std::string>> names = namesIn(directory);
  if (!names.ok())
    return names.status();
  for (const std::string &name : *names) {
    std::string path = inFolder(directory, name);
    Status status;
    if (isTemporary(name))
      status = removeFile(path);
    else if (stepOfName(name) && isDirectory(path))
      status = isComplete(path) ? removeLeftoversIn(path) : removeCheckpoint(path);
    if (!status.ok())
      return status;
  }
  return {};
}

int nextAttempt(const std::string &path, int members) {
  StatusOr<std::vector<std::string>> names = namesIn(path);
  if (!names.ok())
    return 1;
  for (int attempt = 1;; ++attempt) {
    bool taken = false;
    for (int rank = 0; rank < members && !taken; ++rank)
      taken = std::binary_search(names->begin(), names->end(), memberFileName(rank, attempt));
    if (!taken)
      return attempt;
  }
}

Status removeOld(const std::string &directory, const std::string &saved, int keep) {
  StatusOr<std::vector<std::string>> names = namesIn(directory);
  if (!names.ok() || keep <= 0)
    return names.status();
  // By when they were written: training that went back to an early step is newer than what it left behind.
  std::vector<std::tuple<int64_t, int64_t, int64_t, std::string>> old;
  for (const std::string &name : *names) {
    std::string path = inFolder(directory, name);
    struct stat info{};
    std::optional<int64_t> step = stepOfName(name);
    if (step && name != saved && isComplete(path) && ::stat(inFolder(path, kIndexName).c_str(), &info) == 0)
      old.emplace_back(info.st_mtim.tv_sec, info.st_mtim.tv_nsec, *step, path);
  }
  std::sort(old.rbegin(), old.rend());
  for (size_t i = static_cast<size_t>(keep) - 1; i < old.size(); ++i)
    if (Status status = removeCheckpoint(std::get<std::string>(old[i])); !status.ok())
      return status;
  return {};
}

StatusOr<std::string> newestName(const std::string &directory) {
  StatusOr<std::string> latest = readSmallFile(inFolder(directory, kLatestName), 256);
  if (latest.ok()) {
    std::string name = latest->substr(0, latest->find('\n'));
    if (stepOfName(name) && isComplete(inFolder(directory, name)))
      return name;
  }
  // A save that died before LATEST, or a directory that somebody removed.
  StatusOr<std::vector<std::string>> names = namesIn(directory);
  if (!names.ok())
    return names.status();
  std::string newest;
  int64_t highest = -1;
  for (const std::string &name : *names)
    if (std::optional<int64_t> step = stepOfName(name);
        step && *step > highest && isComplete(inFolder(directory, name))) {
      newest = name;
      highest = *step;
    }
  return newest;
}

} // namespace dlc::runtime
