#include "FolderStore.h"

#include "dlc/runtime/Communicator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace dlc;
using namespace dlc::runtime;
using Clock = std::chrono::steady_clock;

/// An engine and its options: "gloo" or "gloo:fixed".
struct Candidate {
  std::string name;
  std::unique_ptr<Communicator> end;
  std::vector<double> milliseconds;
};

void check(const Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  _exit(1);
}

Candidate open(const std::string &name, Store &store, int rank, int size, int channel) {
  Group group{"bench", rank, {}};
  for (int m = 0; m < size; ++m)
    group.members.push_back("rank " + std::to_string(m));
  std::string engine = name.substr(0, name.find(':'));
  CommunicatorOptions options;
  options.fixedOrder = engine != name;
  StatusOr<CommunicatorFactory *> factory = CommunicatorFactory::open(engine);
  check(factory.status());
  auto made = (*factory)->create(store, group, channel, 1, Clock::now() + std::chrono::seconds(60), options);
  check(made.status());
  return {name, made.take(), {}};
}

double allReduceOnce(Communicator &end, std::vector<float> &values) {
  auto limit = Clock::now() + std::chrono::seconds(60);
  check((*end.barrier({}))->wait(limit));
  auto start = Clock::now();
  check((*end.allReduce({}, {values.data(), int64_t(values.size()), DType::F32}, Reduce::Sum))->wait(limit));
  double own = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return own;
}

/// The candidates take turns, so that whatever else the machine does meets all of them.
void measure(std::vector<Candidate> &candidates, int rank, int64_t bytes, int rounds) {
  std::vector<float> values(size_t(bytes) / sizeof(float));
  for (Candidate &each : candidates)
    each.milliseconds.clear();
  for (int round = -3; round < rounds; ++round)
    for (Candidate &each : candidates) {
      double time = allReduceOnce(*each.end, values);
      if (round >= 0)
        each.milliseconds.push_back(time);
    }
  if (rank != 0)
    return;
  std::printf("%8lld KiB", static_cast<long long>(bytes >> 10));
  for (Candidate &each : candidates) {
    std::sort(each.milliseconds.begin(), each.milliseconds.end());
    std::printf("  %s %.3f (best %.3f)", each.name.c_str(), each.milliseconds[each.milliseconds.size() / 2],
                each.milliseconds.front());
  }
  std::printf("  ms\n");
  std::fflush(stdout);
}

int runMember(const std::vector<std::string> &engines, Store &store, int rank, int size, int rounds) {
  std::vector<Candidate> candidates;
  candidates.reserve(engines.size());
  for (const std::string &name : engines)
    candidates.push_back(open(name, store, rank, size, int(candidates.size())));
  for (int64_t bytes : {4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20})
    measure(candidates, rank, bytes, bytes > (1 << 20) ? std::max(rounds / 4, 5) : rounds);
  return 0;
}

} // namespace

/// comm-bench <ranks> <rounds> <engine>[:fixed]…: times of all_reduce of floats, median and best, engines by turns.
/// Under mpirun it is one of the ranks, and DLC_TEST_SHARED names a new folder that they share.
int main(int count, char **arguments) {
  if (count < 4) {
    std::fprintf(stderr, "usage: comm-bench <ranks> <rounds> <engine>[:fixed]...\n");
    return 2;
  }
  int size = int(std::strtol(arguments[1], nullptr, 10)), rounds = int(std::strtol(arguments[2], nullptr, 10));
  std::vector<std::string> engines(arguments + 3, arguments + count);
  test::FolderStore store;
  if (const char *rank = std::getenv("OMPI_COMM_WORLD_RANK"))
    return runMember(engines, store, int(std::strtol(rank, nullptr, 10)), size, rounds);
  for (int rank = 1; rank < size; ++rank)
    if (fork() == 0)
      _exit(runMember(engines, store, rank, size, rounds));
  int result = runMember(engines, store, 0, size, rounds);
  while (wait(nullptr) > 0) {
  }
  return result;
}
