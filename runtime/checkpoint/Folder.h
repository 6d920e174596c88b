#pragma once

#include "checkpoint/Index.h"

#include <optional>

/// The names in a directory of checkpoints, and what may be removed there: files and directories with our names only.
namespace dlc::runtime {

/// Its index's name; without it a directory is no checkpoint.
constexpr const char *kIndexName = "index.json";
constexpr const char *kLatestName = "LATEST";

/// The path of a name in a folder.
std::string inFolder(std::string folder, std::string_view name);

/// "step-00001200".
std::string stepName(int64_t step);
/// The step of a name that stepName makes.
std::optional<int64_t> stepOfName(std::string_view name);

/// "m00002.safetensors"; a checkpoint that replaces one of the same step has further attempts, "m00002-2.safetensors".
std::string memberFileName(int rank, int attempt);

/// Makes it with all above it, durably.
Status makeDirectories(const std::string &path);

/// Whole content, where it is a regular file of at most `longest` bytes.
StatusOr<std::string> readSmallFile(const std::string &path, int64_t longest);

/// The index of the checkpoint in `path`.
StatusOr<CheckpointIndex> readIndex(const std::string &path);

bool isComplete(const std::string &path);

/// Removes what saves that died have left.
Status removeLeftovers(const std::string &directory);

/// The first attempt whose files replace none of a complete checkpoint in `path`.
int nextAttempt(const std::string &path, int members);

/// Removes complete checkpoints but `saved` and the keep - 1 written last before it.
Status removeOld(const std::string &directory, const std::string &saved, int keep);

/// Name of the newest complete checkpoint; "" if there is none.
StatusOr<std::string> newestName(const std::string &directory);

} // namespace dlc::runtime
