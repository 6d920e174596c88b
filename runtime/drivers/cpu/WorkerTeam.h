#pragma once

#include "dlc/runtime/Abi.h"

#include <atomic>
#include <thread>
#include <vector>

namespace dlc {

/// The threads that share the parallel loops of one cpu device: the caller and `threads - 1` workers. Workers spin for
/// a short while between loops, then sleep. Used by one caller at a time.
class WorkerTeam {
public:
  explicit WorkerTeam(int threads);
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam &) = delete;
  WorkerTeam &operator=(const WorkerTeam &) = delete;

  /// Processors this process may use.
  static int processors();

  int threads() const { return int(workers.size()) + 1; }

  /// Runs fn over [0, extent), split at multiples of grain into at most one range a thread; returns when all is done.
  void parallelFor(int64_t extent, int64_t grain, DlcRange fn, void *const *pointers, const int64_t *dims);

private:
  struct Loop {
    DlcRange fn;
    void *const *pointers;
    const int64_t *dims;
    int64_t extent, grain, units;
    int parts;
  };

  void work(int member);
  void runPart(const Loop &loop, int part);

  Loop loop{};
  // Members of their own cache lines: the workers spin on the first while the caller spins on the second.
  alignas(64) std::atomic<uint64_t> generation{0};
  alignas(64) std::atomic<int> unfinished{0};
  std::atomic<bool> stopping{false};
  std::vector<std::thread> workers;
};

} // namespace dlc
