#include "dlc/runtime/Rendezvous.h"
#include "dlc/runtime/TcpStore.h"

#include "StoreTest.h"
#include "rendezvous/FileStore.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace dlc;
using namespace dlc::runtime;
using namespace dlc::runtime::test;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

int freePort() {
  StatusOr<std::unique_ptr<StoreServer>> server = serveStore({});
  EXPECT_TRUE(server.ok()) << server.status().message();
  return server.ok() ? (*server)->port() : 0;
}

std::string freeDirectory() {
  static int count = 0;
  return fs::temp_directory_path() / ("dlc-meet-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
}

/// Contracts of `n` ranks, over TCP or, with a directory, in files.
std::vector<Contract> contracts(int n, const std::string &directory = "", int milliseconds = 20000) {
  std::vector<Contract> result(n);
  int port = directory.empty() ? freePort() : 0;
  for (int rank = 0; rank < n; ++rank) {
    result[rank].rank = rank;
    result[rank].worldSize = n;
    result[rank].masterAddress = directory.empty() ? "127.0.0.1" : "";
    result[rank].masterPort = port;
    result[rank].directory = directory;
    result[rank].timeout = std::chrono::milliseconds(milliseconds);
  }
  return result;
}

/// Every rank in a thread: meets the others, exchanges a value, leaves.
Status takePart(const Contract &contract) {
  StatusOr<std::unique_ptr<Store>> store = rendezvous(contract);
  if (!store.ok())
    return store.status();
  Deadline deadline = std::chrono::steady_clock::now() + contract.timeout;
  std::string mine = std::to_string(contract.rank);
  int next = (contract.rank + 1) % contract.worldSize;
  if (Status status = (*store)->set("hello/" + mine, mine); !status.ok())
    return status;
  StatusOr<std::string> value = (*store)->get("hello/" + std::to_string(next), deadline);
  if (!value.ok())
    return value.status();
  if (*value != std::to_string(next))
    return {StatusCode::Internal, "got " + *value};
  return leave(**store, contract);
}

std::vector<std::string> inThreads(const std::vector<Contract> &all) {
  std::vector<std::future<Status>> ranks;
  ranks.reserve(all.size());
  for (const Contract &contract : all)
    ranks.push_back(std::async(std::launch::async, [contract] { return takePart(contract); }));
  std::vector<std::string> messages;
  messages.reserve(all.size());
  for (std::future<Status> &rank : ranks)
    messages.push_back(rank.get().message());
  return messages;
}

/// The same in processes: how many succeeded.
int inProcesses(const std::vector<Contract> &all) {
  std::vector<pid_t> children;
  for (const Contract &contract : all)
    if (pid_t child = ::fork(); child == 0)
      ::_exit(takePart(contract).ok() ? 0 : 1);
    else
      children.push_back(child);
  int succeeded = 0;
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    succeeded += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
  }
  return succeeded;
}

} // namespace

TEST(Rendezvous, OneRankNeedsNobody) {
  EXPECT_EQ(takePart(Contract()).message(), "");
  Contract contract = contracts(1)[0];
  contract.masterAddress = "192.0.2.1"; // not this host's: nobody listens for one rank
  EXPECT_EQ(takePart(contract).message(), "");
}

TEST(Rendezvous, RanksMeet) {
  EXPECT_THAT(inThreads(contracts(2)), Each(""));
  EXPECT_THAT(inThreads(contracts(8)), Each(""));
  std::string directory = freeDirectory();
  EXPECT_THAT(inThreads(contracts(4, directory)), Each(""));
  EXPECT_FALSE(fs::exists(directory));
}

TEST(Rendezvous, ProcessesMeet) {
  EXPECT_EQ(inProcesses(contracts(3)), 3);
  std::string directory = freeDirectory();
  EXPECT_EQ(inProcesses(contracts(3, directory)), 3);
  EXPECT_FALSE(fs::exists(directory));
}

TEST(Rendezvous, APortIsFreeAgainAfterwards) {
  std::vector<Contract> all = contracts(2);
  for (int i = 0; i < 20; ++i)
    EXPECT_THAT(inThreads(all), Each(""));
}

TEST(Rendezvous, AnExternalStoreServesAll) {
  StatusOr<std::unique_ptr<StoreServer>> server = serveStore({});
  ASSERT_TRUE(server.ok());
  std::vector<Contract> all = contracts(3);
  for (Contract &contract : all) {
    contract.masterPort = (*server)->port();
    contract.externalStore = true;
  }
  EXPECT_THAT(inThreads(all), Each(""));
}

TEST(Rendezvous, ASecretFromAFile) {
  std::string path = freeDirectory();
  std::ofstream(path) << "open sesame\n";
  ::chmod(path.c_str(), 0600);
  std::vector<Contract> all = contracts(2);
  all[0].secretFile = path;
  all[1].secret = "open sesame";
  EXPECT_THAT(inThreads(all), Each(""));
  ::chmod(path.c_str(), 0644);
  EXPECT_THAT(rendezvous(all[0]).status().message(), HasSubstr("run chmod 600 " + path));
  std::ofstream{path} << "\n";
  ::chmod(path.c_str(), 0600);
  EXPECT_THAT(rendezvous(all[0]).status().message(), HasSubstr("expects 1 to 4096 bytes"));
  fs::remove(path);
  EXPECT_THAT(rendezvous(all[0]).status().message(), HasSubstr("cannot open: No such file"));
}

TEST(Rendezvous, MissingRanksAreNamedAtTheLimit) {
  for (const std::string &directory : {std::string(), freeDirectory()}) {
    std::vector<Contract> all = contracts(5, directory, 2000);
    auto start = std::chrono::steady_clock::now();
    EXPECT_THAT(inThreads({all[0], all[2]}), Each("not all ranks came within 2 s (DLC_TIMEOUT): rank 1, 3, 4 of 5"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  }
}

TEST(Rendezvous, WithoutRankZeroNobodyServes) {
  EXPECT_THAT(inThreads({contracts(2, "", 300)[1]}),
              Each(AllOf(HasSubstr("within 300 ms"), HasSubstr("does rank 0 run"))));
}

TEST(Rendezvous, ADuplicateRankFailsAll) {
  for (const std::string &directory : {std::string(), freeDirectory()}) {
    std::vector<Contract> all = contracts(3, directory);
    all[1].rankVariable = "SLURM_PROCID";
    // Files end with the last process that uses them: without this, a rank that starts when the two have failed and
    // left would meet nobody.
    StatusOr<std::unique_ptr<Store>> kept = createMemoryStore();
    if (!directory.empty())
      kept = openFileStore(directory, all[0].timeout);
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    std::string pid = std::to_string(::getpid());
    EXPECT_THAT(inThreads({all[0], all[1], all[1]}),
                Each(AllOf(HasSubstr("duplicate rank: rank 1 (host "), HasSubstr("pid " + pid),
                           HasSubstr(" from SLURM_PROCID both are rank 1"))));
  }
}

TEST(Rendezvous, AnotherWorldSizeFailsAll) {
  std::vector<Contract> all = contracts(3);
  all[1].worldSize = 4;
  EXPECT_THAT(inThreads({all[0], all[1]}),
              Each(AllOf(HasSubstr("wrong world size: "), HasSubstr("has WORLD_SIZE=4"), HasSubstr("has WORLD_SIZE=3"),
                         HasSubstr("rank 0 (host "), HasSubstr("rank 1 (host "))));
}

TEST(Rendezvous, ARankOutOfRange) {
  Contract contract = contracts(2)[1];
  contract.rank = 2;
  EXPECT_EQ(rendezvous(contract).status().message(), "rank 2 is out of range: the job has 2 ranks, from 0");
  contract.rank = -1;
  EXPECT_THAT(rendezvous(contract).status().message(), HasSubstr("rank -1 is out of range"));
}

TEST(Rendezvous, APortInUseIsNamed) {
  StatusOr<std::unique_ptr<StoreServer>> server = serveStore({});
  ASSERT_TRUE(server.ok());
  Contract contract = contracts(2)[0];
  contract.masterPort = (*server)->port();
  EXPECT_THAT(rendezvous(contract).status().message(),
              AllOf(HasSubstr("port in use"), HasSubstr("pid " + std::to_string(::getpid()))));
}

TEST(Rendezvous, AnotherSecretOrGeneration) {
  std::vector<Contract> all = contracts(2, "", 500);
  all[1].secret = "guess";
  EXPECT_THAT(inThreads(all),
              ::testing::ElementsAre(HasSubstr("(DLC_TIMEOUT): rank 1 of 2"), HasSubstr("refused by the store")));
  all[1].secret = "";
  all[1].generation = 1;
  EXPECT_THAT(inThreads(all),
              ::testing::ElementsAre(HasSubstr("(DLC_TIMEOUT): rank 1 of 2"),
                                     HasSubstr("rank 1 is of generation 1, the store of generation 0")));
}

TEST(Rendezvous, NoSecretNoListening) {
  Contract contract = contracts(2)[0];
  contract.masterAddress = "0.0.0.0";
  EXPECT_THAT(rendezvous(contract).status().message(), HasSubstr("without a secret"));
}

TEST(Rendezvous, ARankThatDoesNotEndIsNamed) {
  std::vector<Contract> all = contracts(2, "", 500);
  auto other = std::async(std::launch::async, [&] { return rendezvous(all[1]); });
  StatusOr<std::unique_ptr<Store>> store = rendezvous(all[0]);
  ASSERT_TRUE(store.ok()) << store.status().message();
  ASSERT_TRUE(other.get().ok());
  EXPECT_EQ(leave(**store, all[0]).message(), "not all ranks ended within 0.5 s (DLC_TIMEOUT): rank 1 of 2");
}

TEST(Rendezvous, FilesOfAKilledRunAreNamed) {
  std::string directory = freeDirectory();
  std::vector<Contract> all = contracts(2, directory, 300);
  pid_t child = ::fork();
  if (child == 0) {
    (void)!rendezvous(all[0]).ok();
    ::_exit(0);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(rendezvous(all[0]).status().message(),
              HasSubstr("pid " + std::to_string(child) + " has ended: remove " + directory));
  fs::remove_all(directory);
}
