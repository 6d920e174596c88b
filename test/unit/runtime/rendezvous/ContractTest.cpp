#include "dlc/runtime/Rendezvous.h"

#include <gmock/gmock.h>

#include <gtest/gtest.h>

using namespace dlc;
using namespace dlc::runtime;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

const Environment plain = {
    {"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "29500"}, {"RANK", "3"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}};
const Environment openMpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                             {"OMPI_COMM_WORLD_SIZE", "2"},
                             {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                             {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                             {"PMIX_NAMESPACE", "3283681281"}};
const Environment slurm = {{"SLURM_PROCID", "5"},     {"SLURM_STEP_NUM_TASKS", "8"},
                           {"SLURM_LOCALID", "1"},    {"SLURM_STEP_NODELIST", "node[03-05,9]-ib,other"},
                           {"SLURM_JOB_ID", "12345"}, {"SLURM_STEP_ID", "2"}};

Environment with(Environment environment, const Environment &more) {
  for (const auto &[name, value] : more)
    environment[name] = value;
  return environment;
}

Environment without(Environment environment, const std::string &name) {
  environment.erase(name);
  return environment;
}

Contract detected(const Environment &environment) {
  StatusOr<Contract> contract = detectContract(environment);
  EXPECT_TRUE(contract.ok()) << contract.status().message();
  return contract.ok() ? *contract : Contract();
}

std::string failure(const Environment &environment) {
  StatusOr<Contract> contract = detectContract(environment);
  EXPECT_FALSE(contract.ok());
  EXPECT_EQ(contract.status().code(), StatusCode::InvalidInput);
  return contract.status().message();
}

} // namespace

TEST(Contract, NothingIsOneProcess) {
  Contract contract = detected({{"HOME", "/home/a"}});
  EXPECT_EQ(contract.origin, "one process");
  EXPECT_EQ(contract.rank, 0);
  EXPECT_EQ(contract.worldSize, 1);
  EXPECT_EQ(contract.timeout, std::chrono::seconds(300));
  EXPECT_EQ(contract.engine, "auto");
}

TEST(Contract, OfTheEnvironment) {
  Contract contract = detected(with(plain, {{"LOCAL_WORLD_SIZE", "2"}}));
  EXPECT_EQ(contract.origin, "the environment");
  EXPECT_EQ(contract.rank, 3);
  EXPECT_EQ(contract.worldSize, 4);
  EXPECT_EQ(contract.localRank, 1);
  EXPECT_EQ(contract.localWorldSize, 2);
  EXPECT_EQ(contract.masterAddress, "10.0.0.1");
  EXPECT_EQ(contract.masterPort, 29500);
}

TEST(Contract, Options) {
  Contract contract = detected({{"DLC_SECRET", "s"},
                                {"DLC_SECRET_FILE", "/f"},
                                {"DLC_TIMEOUT", "0.25"},
                                {"DLC_COMM", "gloo"},
                                {"DLC_IFACE", "eth0"},
                                {"DLC_GENERATION", "7"},
                                {"DLC_STORE", "external"}});
  EXPECT_EQ(contract.secret, "s");
  EXPECT_EQ(contract.secretFile, "/f");
  EXPECT_EQ(contract.timeout, std::chrono::milliseconds(250));
  EXPECT_EQ(contract.engine, "gloo");
  EXPECT_EQ(contract.networkInterface, "eth0");
  EXPECT_EQ(contract.generation, 7U);
  EXPECT_TRUE(contract.externalStore);
}

TEST(Contract, OnTheLoopbackTheLocalRankFollows) {
  EXPECT_EQ(detected(with(without(plain, "LOCAL_RANK"), {{"MASTER_ADDR", "localhost"}})).localRank, 3);
  EXPECT_EQ(detected(with(without(plain, "LOCAL_RANK"), {{"MASTER_ADDR", "127.0.0.1"}})).localRank, 3);
}

TEST(Contract, AStoreInFiles) {
  Contract contract = detected({{"MASTER_ADDR", "file:///run/job"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}});
  EXPECT_EQ(contract.directory, "/run/job");
  EXPECT_EQ(contract.masterAddress, "");
  EXPECT_EQ(contract.localRank, 1);
  EXPECT_THAT(failure({{"MASTER_ADDR", "file://job"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}}),
              HasSubstr("expects file:// and an absolute path, got 'file://job'"));
}

TEST(Contract, HalfListsWhatIsMissing) {
  EXPECT_EQ(failure({{"RANK", "1"}, {"WORLD_SIZE", "2"}}),
            "half a contract from the environment: MASTER_ADDR, MASTER_PORT, LOCAL_RANK are missing; set are RANK=1, "
            "WORLD_SIZE=2");
  EXPECT_EQ(failure(without(plain, "MASTER_PORT")),
            "half a contract from the environment: MASTER_PORT is missing; set are MASTER_ADDR=10.0.0.1, RANK=3, "
            "WORLD_SIZE=4, LOCAL_RANK=1");
  EXPECT_THAT(failure(with(plain, {{"RANK", ""}})), HasSubstr("RANK is missing"));
  EXPECT_THAT(failure(without(plain, "LOCAL_RANK")), HasSubstr(": LOCAL_RANK is missing"));
  EXPECT_THAT(failure(without(openMpi, "OMPI_COMM_WORLD_SIZE")),
              AllOf(HasSubstr("Open MPI"), HasSubstr("OMPI_COMM_WORLD_SIZE")));
  EXPECT_THAT(failure(without(slurm, "SLURM_PROCID")), AllOf(HasSubstr("Slurm"), HasSubstr("SLURM_PROCID is missing")));
}

TEST(Contract, WrongValues) {
  EXPECT_EQ(failure(with(plain, {{"RANK", "x"}})), "RANK expects a number from 0 to 65535, got 'x'");
  EXPECT_THAT(failure(with(plain, {{"RANK", "-1"}})), HasSubstr("got '-1'"));
  EXPECT_THAT(failure(with(plain, {{"WORLD_SIZE", "0"}})), HasSubstr("from 1 to 65536"));
  EXPECT_THAT(failure(with(plain, {{"MASTER_PORT", "65536"}})), HasSubstr("from 1 to 65535, got '65536'"));
  EXPECT_THAT(failure(with(plain, {{"MASTER_PORT", "29500 "}})), HasSubstr("got '29500 '"));
  EXPECT_EQ(failure(with(plain, {{"RANK", "4"}})),
            "rank 4 from RANK is out of range: the environment says that there are 4, from 0");
  for (const char *limit : {"0", "-1", "nan", "1e9", "5s"})
    EXPECT_THAT(failure({{"DLC_TIMEOUT", limit}}), HasSubstr("DLC_TIMEOUT expects seconds")) << limit;
  EXPECT_THAT(failure({{"DLC_STORE", "mine"}}), HasSubstr("DLC_STORE expects external, got 'mine'"));
  EXPECT_THAT(failure({{"DLC_GENERATION", "-1"}}), HasSubstr("DLC_GENERATION"));
}

TEST(Contract, OfOpenMpi) {
  Contract contract = detected(openMpi);
  EXPECT_EQ(contract.origin, "Open MPI");
  EXPECT_EQ(contract.rank, 1);
  EXPECT_EQ(contract.worldSize, 2);
  EXPECT_EQ(contract.localRank, 1);
  EXPECT_EQ(contract.directory, "/tmp/dlc-3283681281");
  EXPECT_EQ(detected(with(openMpi, {{"PMIX_NAMESPACE", "a/../b"}, {"PMIX_SERVER_TMPDIR", "/tmp/ompi.1"}})).directory,
            "/tmp/ompi.1/dlc-a____b");
}

TEST(Contract, OpenMpiOnSeveralHostsNeedsAnAddress) {
  Environment environment = with(openMpi, {{"OMPI_COMM_WORLD_SIZE", "4"}});
  EXPECT_THAT(failure(environment), HasSubstr("MASTER_ADDR, MASTER_PORT are missing"));
  Contract contract = detected(with(environment, {{"MASTER_ADDR", "a"}, {"MASTER_PORT", "4000"}}));
  EXPECT_EQ(contract.origin, "Open MPI");
  EXPECT_EQ(contract.masterAddress, "a");
  EXPECT_EQ(contract.masterPort, 4000);
  EXPECT_EQ(contract.directory, "");
}

TEST(Contract, TheFirstCompleteOneWins) {
  EXPECT_EQ(detected(with(plain, openMpi)).origin, "the environment");
  EXPECT_EQ(detected(with(openMpi, slurm)).origin, "Open MPI");
  EXPECT_EQ(detected(with(without(openMpi, "OMPI_COMM_WORLD_SIZE"), slurm)).origin, "Slurm");
}

TEST(Contract, OfSlurm) {
  Contract contract = detected(slurm);
  EXPECT_EQ(contract.origin, "Slurm");
  EXPECT_EQ(contract.rankVariable, "SLURM_PROCID");
  EXPECT_EQ(contract.rank, 5);
  EXPECT_EQ(contract.worldSize, 8);
  EXPECT_EQ(contract.localRank, 1);
  EXPECT_EQ(contract.masterAddress, "node03-ib");
  EXPECT_EQ(contract.masterPort, 20000 + (12345 + 2 * 97) % 12000);
  auto first = [](const char *list) { return detected(with(slurm, {{"SLURM_STEP_NODELIST", list}})).masterAddress; };
  EXPECT_EQ(first("a"), "a");
  EXPECT_EQ(first("a,b"), "a");
  EXPECT_EQ(first("r[1-2]n[07,9]"), "r1n07");
}

TEST(Contract, ABatchScriptOfSlurmIsOneProcess) {
  EXPECT_EQ(detected({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "1"}}).worldSize, 1);
}

TEST(Contract, OfKubernetes) {
  Environment pod = {
      {"JOB_COMPLETION_INDEX", "2"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "train-0.train"}, {"MASTER_PORT", "29500"}};
  Contract contract = detected(pod);
  EXPECT_EQ(contract.origin, "Kubernetes");
  EXPECT_EQ(contract.rank, 2);
  EXPECT_EQ(contract.worldSize, 3);
  EXPECT_EQ(contract.localRank, 0);
  EXPECT_EQ(contract.masterAddress, "train-0.train");
  EXPECT_THAT(failure(without(pod, "WORLD_SIZE")), HasSubstr("WORLD_SIZE"));
  EXPECT_EQ(detected({{"JOB_COMPLETION_INDEX", "2"}}).worldSize, 1) << "pods that work each alone";
}

TEST(Contract, TheProcessHasAnEnvironment) { EXPECT_THAT(currentEnvironment(), Not(::testing::IsEmpty())); }
