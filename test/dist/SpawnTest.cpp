#include "Ranks.h"

#include <csignal>
#include <thread>
#include <unistd.h>

using namespace dlc;
using namespace dlc::test;

TEST(Spawn, RunsEachRankInAJobOfItsOwn) {
  asRanks(3, [] {
    EXPECT_TRUE(distributed::is_initialized());
    EXPECT_EQ(distributed::world_size(), 3);
    EXPECT_EQ(distributed::num_members(), 3);
    EXPECT_EQ(distributed::local_rank(), distributed::rank());
    EXPECT_TRUE(distributed::is_launched());
    Tensor ranks = tensor(double(distributed::rank()));
    distributed::all_reduce(ranks);
    EXPECT_EQ(ranks.item(), 3);
  });
  EXPECT_FALSE(distributed::is_initialized());
}

TEST(Spawn, NamesTheRankThatThrewWithItsMessage) {
  std::string message = errorOf([] {
    distributed::spawn(
        [](int64_t rank) {
          distributed::init({.timeout = std::chrono::seconds(20)});
          if (rank == 1)
            throw std::runtime_error("no data here");
          distributed::barrier(); // which never comes
        },
        2);
  });
  EXPECT_EQ(message, "spawn: rank 1 failed: no data here");
}

TEST(Spawn, NamesTheSignalThatEndedARank) {
  std::string message = errorOf([] {
    distributed::spawn(
        [](int64_t rank) {
          if (rank == 0)
            raise(SIGKILL);
        },
        2);
  });
  EXPECT_TRUE(message.starts_with("spawn: rank 0 (pid ")) << message;
  EXPECT_TRUE(message.ends_with(") was ended by signal 9 (Killed)")) << message;
}

TEST(Spawn, NamesTheExitCode) {
  EXPECT_EQ(errorOf([] {
              distributed::spawn(
                  [](int64_t rank) {
                    if (rank == 1)
                      _exit(7);
                  },
                  2);
            }),
            "spawn: rank 1 ended with exit code 7");
}

TEST(Spawn, RefusesWhereOtherThreadsRun) {
  std::thread other([] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); });
  std::string message = errorOf([] { distributed::spawn([](int64_t) {}, 2); });
  other.join();
  EXPECT_TRUE(message.starts_with("spawn: this process has 2 threads already")) << message;
  EXPECT_EQ(errorOf([] { distributed::spawn([](int64_t) {}, 0); }), "spawn: expected at least 1 process, got 0");
}

TEST(Membership, AProcessAloneIsAJobOfOne) {
  alone([] {
    EXPECT_EQ(errorOf([] { distributed::rank(); }), "rank: this process is in no job; call distributed::init() before");
    EXPECT_FALSE(distributed::is_launched());
    distributed::init();
    EXPECT_EQ(distributed::rank(), 0);
    EXPECT_EQ(distributed::world_size(), 1);
    distributed::barrier();
    EXPECT_EQ(errorOf([] { distributed::init(); }), "init: this process is in a job already");
    Tensor x = tensor({1, 2, 3});
    EXPECT_FALSE(distributed::is_split(distributed::shard(x)));
    EXPECT_EQ(distributed::from_local(x).to_vector<double>(), x.to_vector<double>());
    distributed::shutdown();
    EXPECT_EQ(errorOf([] { distributed::barrier(); }),
              "barrier: this process is in no job; call distributed::init() before");
    EXPECT_EQ(errorOf([] { distributed::init(); }), "init: this process has left a job; it cannot join another");
  });
}

TEST(Membership, ComesBeforeAnythingIsComputed) {
  alone([] {
    (void)(tensor({1, 2}) + 1).to_vector<double>();
    EXPECT_EQ(errorOf([] { distributed::init(); }),
              "init: something has been computed on cpu already; call init() before");
  });
}
