#include "launch/RankEnd.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <sstream>
#include <sys/wait.h>

namespace dlc::launch {
namespace {

/// What every dlc program ends with when another rank failed.
constexpr int peerFailedCode = 4;

std::string signalText(int signal) {
  const char *name = ::sigabbrev_np(signal);
  return name ? "SIG" + std::string(name) + " (signal " + std::to_string(signal) + ")"
              : "signal " + std::to_string(signal);
}

std::string processText(const RankEnd &end) {
  std::string name = end.rank < 0 ? "mpirun" : "rank " + std::to_string(end.rank);
  return name + " (host " + end.host + ", pid " + std::to_string(end.pid) + ")";
}

} // namespace

std::string stateText(const RankEnd &end) {
  if (WIFSIGNALED(end.status))
    return (end.asked ? "ended by the launcher with " : "killed by ") + signalText(WTERMSIG(end.status));
  std::string text = WEXITSTATUS(end.status) == 0 ? "done" : "exit code " + std::to_string(WEXITSTATUS(end.status));
  return end.asked ? text + " when asked to end" : text;
}

int RankEnd::code() const { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

bool Failure::blamesPeer() const { return code == peerFailedCode; }

std::optional<Failure> failureOf(const RankEnd &end) {
  if (end.asked || end.code() == 0)
    return {};
  std::string how = WIFSIGNALED(end.status) ? " was killed by " + signalText(WTERMSIG(end.status))
                                            : " ended with exit code " + std::to_string(end.code());
  return Failure{end.code(), end.rank, processText(end) + how, false};
}

std::string summary(const Failure &failure, const std::vector<RankEnd> &ends) {
  std::vector<RankEnd> sorted = ends;
  std::sort(sorted.begin(), sorted.end(), [](const RankEnd &a, const RankEnd &b) { return a.rank < b.rank; });
  std::map<std::string, std::vector<int>> ranks; // by state
  std::vector<std::string> order;
  for (const RankEnd &end : sorted) {
    if (end.rank == failure.rank || end.rank < 0)
      continue;
    std::vector<int> &same = ranks[stateText(end)];
    if (same.empty())
      order.push_back(stateText(end));
    same.push_back(end.rank);
  }
  std::string text = failure.what;
  for (const std::string &state : order) {
    const std::vector<int> &same = ranks[state];
    text += std::string(same.size() == 1 ? "; rank " : "; ranks ") + listText(same) + ": " + state;
  }
  return text;
}

std::string encode(const Failure &failure) {
  return std::to_string(failure.code) + " " + std::to_string(failure.rank) + (failure.wanted ? " 1 " : " 0 ") +
         failure.what;
}

std::optional<Failure> decodeFailure(std::string_view text) {
  std::istringstream words{std::string(text)};
  Failure failure;
  if (!(words >> failure.code >> failure.rank >> failure.wanted) || !std::getline(words >> std::ws, failure.what))
    return {};
  return failure;
}

std::string encode(const std::vector<RankEnd> &ends) {
  std::string text;
  for (const RankEnd &end : ends)
    text += std::to_string(end.rank) + " " + std::to_string(end.pid) + " " + std::to_string(end.status) + " " +
            (end.asked ? "1 " : "0 ") + end.host + "\n";
  return text;
}

std::optional<std::vector<RankEnd>> decodeEnds(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::vector<RankEnd> ends;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    RankEnd end;
    if (!(words >> end.rank >> end.pid >> end.status >> end.asked >> end.host))
      return {};
    ends.push_back(end);
  }
  return ends;
}

std::string listText(const std::vector<int> &numbers) {
  constexpr size_t mostShown = 16;
  std::string text;
  for (size_t i = 0; i < numbers.size() && i < mostShown; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  return numbers.size() > mostShown ? text + " and " + std::to_string(numbers.size() - mostShown) + " more" : text;
}

} // namespace dlc::launch
