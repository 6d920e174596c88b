#include "Members.h"
#include "Values.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <thread>

#include <unistd.h>

namespace dlc::test {

namespace {

/// What a member's process ends with.
enum Outcome { kFine, kPeerFailed, kWrong };

Outcome outcomeOf(const Status &status, const char *part, double seconds) {
  if (status.ok())
    return kFine;
  bool good = status.code() == StatusCode::PeerFailed && status.message().find(part) != std::string::npos;
  if (!good || seconds > 3)
    std::fprintf(stderr, "after %.1f s: %s\n", seconds, status.message().c_str());
  return good && seconds <= 3 ? kPeerFailed : kWrong;
}

/// Reduces 4 MiB again and again until that fails or `act` says that it is enough; what the last one gave.
template <typename Act>
Outcome reduceUntilFailure(Communicator &end, double limit, const char *part, Act act) {
  std::vector<float> values(size_t(1) << 20, 1.0F);
  for (uint32_t i = 0; i < 100; ++i) {
    act(i);
    auto start = std::chrono::steady_clock::now();
    Status status = finish(end.allReduce(op(i), elements(values), Reduce::Sum), in(limit));
    if (!status.ok())
      return outcomeOf(status, part, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return kFine;
}

bool isDefault(int signal) {
  struct sigaction current{};
  sigaction(signal, nullptr, &current);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return current.sa_handler == SIG_DFL && !sigismember(&blocked, signal);
}

bool isInPath(const std::string &program) {
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access(folder.append("/").append(program).c_str(), X_OK) == 0)
      return true;
  return false;
}

} // namespace

/// Engines that join processes.
class Processes : public testing::TestWithParam<std::string> {
  void SetUp() override {
    if (GetParam() == "mpi" && !isInPath("mpirun"))
      GTEST_SKIP() << "no mpirun here";
  }
};

// A peer that dies must not take others with it by SIGPIPE; and the program's own handling of that stays.
TEST_P(Processes, AKilledMemberIsAnErrorOfAllOthers) {
  for (int round = 0; round < (slow() ? 80 : GetParam() == "mpi" ? 1 : 6); ++round) {
    FolderStore store;
    std::vector<int> codes = runProcesses(GetParam(), 4, [&](int rank) -> int {
      StatusOr<std::unique_ptr<Communicator>> end = create(GetParam(), store, rank, 4);
      if (!end.ok() || !isDefault(SIGPIPE))
        return kWrong;
      return reduceUntilFailure(**end, 30, "lost rank 1 (host h1)", [&](uint32_t i) {
        if (rank == 1 && i == 2)
          raise(SIGKILL);
      });
    });
    EXPECT_EQ(codes, (std::vector<int>{kPeerFailed, -SIGKILL, kPeerFailed, kPeerFailed})) << "round " << round;
  }
}

// A stopped peer gives no sign at all: the wait's limit ends it, and says for whom it waited.
TEST_P(Processes, AStoppedMemberIsNamedAtTheLimit) {
  FolderStore store;
  std::vector<int> codes = runProcesses(
      GetParam(), 3,
      [&](int rank) -> int {
        StatusOr<std::unique_ptr<Communicator>> end = create(GetParam(), store, rank, 3);
        if (!end.ok())
          return kWrong;
        return reduceUntilFailure(**end, rank == 0 ? 1 : 2, "waiting for rank 1 (host h1)", [&](uint32_t i) {
          if (rank == 1 && i == 2)
            raise(SIGSTOP);
        });
      },
      [](const MemberProcesses &processes) {
        processes.awaitEnd(0);
        processes.awaitEnd(2);
        processes.signal(1, SIGKILL);
      });
  EXPECT_EQ(codes, (std::vector<int>{kPeerFailed, -SIGKILL, kPeerFailed}));
}

// Rank 1 is stopped while it waits, until after its own limit and after rank 0 has given up on it. Then it does not
// blame rank 0.
TEST_P(Processes, AMemberThatWakesLateHearsTheReasonFirst) {
  FolderStore store;
  std::vector<int> codes = runProcesses(
      GetParam(), 2,
      [&](int rank) -> int {
        StatusOr<std::unique_ptr<Communicator>> end = create(GetParam(), store, rank, 2);
        if (!end.ok())
          return kWrong;
        std::vector<float> values(size_t(1) << 20, 1.0F);
        std::thread stops;
        if (rank == 0)
          std::this_thread::sleep_for(std::chrono::milliseconds(400));
        else
          stops = std::thread([] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            kill(getpid(), SIGSTOP);
          });
        Status status = finish((*end)->allReduce(op(0), elements(values), Reduce::Sum), in(0.6));
        if (stops.joinable())
          stops.join();
        return outcomeOf(status, "waiting for rank 1 (host h1)", 0);
      },
      [](const MemberProcesses &processes) {
        processes.awaitStop(1);
        processes.awaitEnd(0);
        processes.signal(1, SIGCONT);
      });
  EXPECT_EQ(codes, (std::vector<int>{kPeerFailed, kPeerFailed}));
}

// Stopped for less than the limit is only slow.
TEST_P(Processes, AMemberStoppedForAWhileGoesOn) {
  FolderStore store;
  std::vector<int> codes = runProcesses(
      GetParam(), 2,
      [&](int rank) -> int {
        StatusOr<std::unique_ptr<Communicator>> end = create(GetParam(), store, rank, 2);
        if (!end.ok())
          return kWrong;
        std::vector<float> values = valuesOf<float>(rank, 1 << 18, 1);
        if (rank == 1)
          raise(SIGSTOP);
        Status status = finish((*end)->allReduce(op(0), elements(values), Reduce::Sum), in(30));
        return status.ok() && sameBits(values, reducedOf<float>(Reduce::Sum, 2, 0, 1 << 18, 1)) ? kFine : kWrong;
      },
      [](const MemberProcesses &processes) {
        processes.awaitStop(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(400));
        processes.signal(1, SIGCONT);
      });
  EXPECT_EQ(codes, (std::vector<int>{kFine, kFine}));
}

TEST_P(Processes, AMemberThatExitsIsAnErrorOfTheOthers) {
  FolderStore store;
  std::vector<int> codes = runProcesses(GetParam(), 3, [&](int rank) -> int {
    StatusOr<std::unique_ptr<Communicator>> end = create(GetParam(), store, rank, 3);
    if (!end.ok())
      return kWrong;
    return reduceUntilFailure(**end, 30, "lost rank 2 (host h2)", [&](uint32_t i) {
      if (rank == 2 && i == 3)
        endMember(kFine);
    });
  });
  EXPECT_EQ(codes, (std::vector<int>{kPeerFailed, kPeerFailed, kFine}));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Processes);
INSTANTIATE_TEST_SUITE_P(On, Processes, testing::ValuesIn(processEngines()),
                         [](const auto &info) { return info.param; });

TEST(InProcess, RefusesMembersOfOtherProcesses) {
  FolderStore store;
  std::vector<int> codes = runProcesses("inprocess", 2, [&](int rank) -> int {
    Status status = create("inprocess", store, rank, 2, 0, in(0.5)).status();
    bool named = rank == 0 ? status.code() == StatusCode::PeerFailed
                           : status.message().find("expects all members in one process") != std::string::npos;
    return named ? kFine : kWrong;
  });
  EXPECT_EQ(codes, (std::vector<int>{kFine, kFine}));
}

} // namespace dlc::test
