#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace dlc::launch {

/// How a rank's process ended.
struct RankEnd {
  int rank = 0; ///< -1: mpirun, which stands for all
  pid_t pid = 0;
  int status = 0;     ///< as waitpid gives it
  bool asked = false; ///< after the launcher had asked it to end
  std::string host{};

  /// Its exit code, or 128 and the signal's number.
  int code() const;
};

/// Why a job failed: the first of all ranks and nodes.
struct Failure {
  int code = 0;
  int rank = -1; ///< none: a node
  std::string what;
  bool wanted = false; ///< somebody asked the launcher to end: no other start

  /// Says of itself that another rank failed: whoever did goes before.
  bool blamesPeer() const;
};

/// Of a rank that did not end well by itself; else nothing.
std::optional<Failure> failureOf(const RankEnd &end);

/// "done", "exit code 3", "killed by SIGKILL (signal 9)", and whether the launcher wanted it.
std::string stateText(const RankEnd &end);

/// One line: the failure, and what became of the other ranks.
std::string summary(const Failure &failure, const std::vector<RankEnd> &ends);

/// Text for a store, and back: nothing if it is malformed.
std::string encode(const Failure &failure);
std::optional<Failure> decodeFailure(std::string_view text);
std::string encode(const std::vector<RankEnd> &ends);
std::optional<std::vector<RankEnd>> decodeEnds(std::string_view text);

/// "2, 5, 6 and 40 more".
std::string listText(const std::vector<int> &numbers);

} // namespace dlc::launch
