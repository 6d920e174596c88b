#pragma once

#include "launch/RankEnd.h"
#include "launch/RankEnvironment.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace dlc::launch {

/// Tells the ranks over their own store how one of them failed, which only the parent of a process knows: the key
/// generation/<g>/launcher/<rank> has the text, "killed by SIGKILL (signal 9)". A thread does so, as a store may be far
/// away.
class EndReports {
public:
  explicit EndReports(MeetingPoint point) : point_(std::move(point)) {}
  ~EndReports();
  EndReports(const EndReports &) = delete;
  EndReports &operator=(const EndReports &) = delete;

  void add(const RankEnd &end);

private:
  void work();

  MeetingPoint point_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::vector<std::pair<int, std::string>> waiting_;
  std::thread thread_; ///< from the first failure on
};

} // namespace dlc::launch
