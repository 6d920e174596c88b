#include "WorkerTeam.h"

#include <algorithm>
#include <immintrin.h>
#include <sched.h>

namespace dlc {

namespace {

// About 40 us of pauses before a worker sleeps: longer than the serial pieces between the loops of a step.
constexpr int kSpins = 20000;
constexpr int kSpinsBeforeYield = 4000;

} // namespace

int WorkerTeam::processors() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

WorkerTeam::WorkerTeam(int threads) {
  for (int member = 1; member < threads; ++member)
    workers.emplace_back([this, member] { work(member); });
}

WorkerTeam::~WorkerTeam() {
  stopping.store(true, std::memory_order_relaxed);
  generation.fetch_add(1, std::memory_order_release);
  generation.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void WorkerTeam::runPart(const Loop &loop, int part) {
  int64_t first = loop.units * part / loop.parts, last = loop.units * (part + 1) / loop.parts;
  loop.fn(loop.pointers, loop.dims, first * loop.grain, std::min(last * loop.grain, loop.extent));
}

void WorkerTeam::parallelFor(int64_t extent, int64_t grain, DlcRange fn, void *const *pointers, const int64_t *dims) {
  if (extent <= 0)
    return;
  int64_t units = (extent + grain - 1) / grain;
  int parts = int(std::min<int64_t>(units, threads()));
  if (parts == 1) {
    fn(pointers, dims, 0, extent);
    return;
  }
  loop = {fn, pointers, dims, extent, grain, units, parts};
  unfinished.store(int(workers.size()), std::memory_order_relaxed);
  generation.fetch_add(1, std::memory_order_release);
  generation.notify_all();
  runPart(loop, 0);
  for (int spins = 0; unfinished.load(std::memory_order_acquire) != 0; ++spins) {
    _mm_pause();
    if (spins > kSpinsBeforeYield)
      sched_yield();
  }
}

void WorkerTeam::work(int member) {
  uint64_t seen = 0;
  while (true) {
    for (int spins = 0; generation.load(std::memory_order_acquire) == seen; ++spins) {
      _mm_pause();
      if (spins > kSpins)
        generation.wait(seen, std::memory_order_acquire);
      else if (spins > kSpinsBeforeYield && spins % 64 == 0)
        sched_yield();
    }
    // Each generation is answered by every worker before the next begins, so none is skipped.
    ++seen;
    if (stopping.load(std::memory_order_relaxed))
      return;
    if (member < loop.parts)
      runPart(loop, member);
    unfinished.fetch_sub(1, std::memory_order_release);
  }
}

} // namespace dlc
