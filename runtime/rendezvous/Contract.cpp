#include "base/FileError.h"
#include "rendezvous/Variables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <unistd.h>

namespace dlc::runtime {
namespace {

constexpr int64_t mostRanks = 65536;
constexpr std::string_view filePrefix = "file://";

/// What takes the place of MASTER_ADDR and MASTER_PORT when neither is set.
using ImpliedMaster = void (*)(Variables &, Contract &);

void readMaster(Variables &variables, Contract &contract, ImpliedMaster implied) {
  std::string address = variables.text("MASTER_ADDR");
  if (implied && address.empty() && !variables.has("MASTER_PORT"))
    return implied(variables, contract);
  if (address.starts_with(filePrefix)) {
    contract.directory = address.substr(filePrefix.size());
    if (!contract.directory.starts_with('/'))
      variables.fail("MASTER_ADDR expects file:// and an absolute path, got " + quote(address));
    return;
  }
  contract.masterAddress = variables.need("MASTER_ADDR");
  contract.masterPort = static_cast<int>(variables.need("MASTER_PORT", 1, 65535));
}

bool onThisHost(const Contract &contract) {
  return !contract.directory.empty() || contract.masterAddress == "localhost" || contract.masterAddress == "::1" ||
         contract.masterAddress.starts_with("127.");
}

void readPlain(Variables &variables, Contract &contract) {
  contract.rank = static_cast<int>(variables.need("RANK", 0, mostRanks - 1));
  contract.worldSize = static_cast<int>(variables.need("WORLD_SIZE", 1, mostRanks));
  readMaster(variables, contract, nullptr);
  // All ranks of a job that meets on the loopback are on this host.
  contract.localRank = onThisHost(contract) && !variables.has("LOCAL_RANK")
                           ? contract.rank
                           : static_cast<int>(variables.need("LOCAL_RANK", 0, mostRanks - 1));
  contract.localWorldSize = static_cast<int>(variables.number("LOCAL_WORLD_SIZE", 1, mostRanks).value_or(0));
}

/// A directory that mpirun removes with its own, whatever becomes of the ranks; without one, a name made of the job's.
void impliedByOpenMpi(Variables &variables, Contract &contract) {
  std::string job = variables.text("PMIX_NAMESPACE");
  if (job.empty())
    job = variables.text("OMPI_MCA_ess_base_jobid");
  if (contract.localWorldSize != contract.worldSize || job.empty()) {
    variables.miss("MASTER_ADDR"); // on several hosts nothing says where to meet
    variables.miss("MASTER_PORT");
    return;
  }
  std::replace_if(job.begin(), job.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  std::string folder = variables.text("PMIX_SERVER_TMPDIR");
  for (std::string_view name : {"XDG_RUNTIME_DIR", "TMPDIR"})
    if (folder.empty())
      folder = variables.text(name);
  contract.directory = (folder.empty() ? "/tmp" : folder) + "/dlc-" + job;
}

void readOpenMpi(Variables &variables, Contract &contract) {
  contract.rank = static_cast<int>(variables.need("OMPI_COMM_WORLD_RANK", 0, mostRanks - 1));
  contract.worldSize = static_cast<int>(variables.need("OMPI_COMM_WORLD_SIZE", 1, mostRanks));
  contract.localRank = static_cast<int>(variables.need("OMPI_COMM_WORLD_LOCAL_RANK", 0, mostRanks - 1));
  contract.localWorldSize = static_cast<int>(variables.number("OMPI_COMM_WORLD_LOCAL_SIZE", 1, mostRanks).value_or(0));
  readMaster(variables, contract, impliedByOpenMpi);
}

/// The first host of "node[03-05,9]-ib,other": "node03-ib".
std::string firstHost(std::string_view list) {
  std::string host;
  while (!list.empty() && list.front() != ',') {
    size_t open = list.find_first_of("[,");
    host += list.substr(0, open);
    if (open == std::string_view::npos || list[open] == ',')
      break;
    size_t close = list.find(']', open);
    if (close == std::string_view::npos)
      return {};
    std::string_view range = list.substr(open + 1, close - open - 1);
    host += range.substr(0, range.find_first_of("-,"));
    list.remove_prefix(close + 1);
  }
  return host;
}

void impliedBySlurm(Variables &variables, Contract &contract) {
  std::string list = variables.text("SLURM_STEP_NODELIST");
  contract.masterAddress = firstHost(list.empty() ? variables.need("SLURM_JOB_NODELIST") : list);
  int64_t job = variables.need("SLURM_JOB_ID", 0, INT64_MAX / 128);
  int64_t step = variables.number("SLURM_STEP_ID", 0, UINT32_MAX).value_or(0);
  // Below the ports that the system hands out; steps of one job that run side by side differ.
  contract.masterPort = static_cast<int>(20000 + (job + step * 97) % 12000);
}

void readSlurm(Variables &variables, Contract &contract) {
  contract.rank = static_cast<int>(variables.need("SLURM_PROCID", 0, mostRanks - 1));
  contract.worldSize = static_cast<int>(variables.need("SLURM_STEP_NUM_TASKS", 1, mostRanks));
  contract.localRank = static_cast<int>(variables.need("SLURM_LOCALID", 0, mostRanks - 1));
  readMaster(variables, contract, impliedBySlurm);
}

void readKubernetes(Variables &variables, Contract &contract) {
  contract.rank = static_cast<int>(variables.need("JOB_COMPLETION_INDEX", 0, mostRanks - 1));
  contract.worldSize = static_cast<int>(variables.need("WORLD_SIZE", 1, mostRanks));
  contract.localRank = static_cast<int>(variables.number("LOCAL_RANK", 0, mostRanks - 1).value_or(0));
  contract.localWorldSize = 1;
  readMaster(variables, contract, nullptr);
}

/// One way to be told: any of `signs` means that it may be this one.
struct Form {
  const char *origin, *rank; ///< who tells, and by which variable which rank this is
  std::vector<std::string_view> signs;
  void (*read)(Variables &, Contract &);
};

void readOptions(Variables &variables, Contract &contract) {
  contract.secret = variables.text("DLC_SECRET");
  contract.secretFile = variables.text("DLC_SECRET_FILE");
  contract.networkInterface = variables.text("DLC_IFACE");
  if (variables.has("DLC_COMM"))
    contract.engine = variables.text("DLC_COMM");
  contract.generation = static_cast<uint64_t>(variables.number("DLC_GENERATION", 0, INT64_MAX).value_or(0));
  std::string store = variables.text("DLC_STORE");
  contract.externalStore = store == "external";
  if (!store.empty() && !contract.externalStore)
    variables.fail("DLC_STORE expects external, got " + quote(store));
  if (std::string limit = variables.text("DLC_TIMEOUT"); !limit.empty()) {
    char *end = nullptr;
    double seconds = std::strtod(limit.c_str(), &end);
    if (*end != '\0' || !(seconds > 0) || seconds > 1e7)
      return variables.fail("DLC_TIMEOUT expects seconds, more than 0 and at most 10000000, got " + quote(limit));
    contract.timeout = std::chrono::milliseconds(std::max<int64_t>(1, std::llround(seconds * 1000)));
  }
}

Status halfContract(const Form &form, const Variables &variables, const std::vector<std::string> &missing) {
  std::string message = "half a contract from " + std::string(form.origin) + ":";
  const char *separator = " ";
  for (const std::string &name : missing)
    message += std::exchange(separator, ", ") + name;
  message += missing.size() == 1 ? " is missing; set are" : " are missing; set are";
  separator = " ";
  for (std::string_view name : form.signs)
    if (variables.has(name))
      message += std::exchange(separator, ", ") + std::string(name) + "=" + variables.text(name);
  return {StatusCode::InvalidInput, message};
}

} // namespace

Environment currentEnvironment() {
  Environment environment;
  for (char **entry = ::environ; entry && *entry; ++entry) {
    std::string_view text = *entry;
    if (size_t equals = text.find('='); equals != std::string_view::npos)
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

StatusOr<Contract> detectContract(const Environment &environment) {
  const std::array<Form, 4> forms = {{
      {"the environment", "RANK", {"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK"}, readPlain},
      {"Open MPI",
       "OMPI_COMM_WORLD_RANK",
       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
       readOpenMpi},
      // A batch script has SLURM_PROCID=0 too, and is one process.
      {"Slurm", "SLURM_PROCID", {"SLURM_STEP_NUM_TASKS"}, readSlurm},
      // Without the others, the pods of an indexed job work each alone.
      {"Kubernetes", "JOB_COMPLETION_INDEX", {"JOB_COMPLETION_INDEX"}, readKubernetes},
  }};
  Variables variables(environment);
  Contract options;
  readOptions(variables, options);
  Status half;
  for (const Form &form : forms) {
    if (std::none_of(form.signs.begin(), form.signs.end(), [&](std::string_view sign) { return variables.has(sign); }))
      continue;
    Contract contract = options;
    contract.origin = form.origin;
    contract.rankVariable = form.rank;
    form.read(variables, contract);
    std::vector<std::string> missing = variables.takeMissing();
    if (!variables.problem().ok())
      return variables.problem();
    if (!missing.empty()) {
      bool pods = form.read == readKubernetes;
      if (half.ok() != pods)
        half = halfContract(form, variables, missing);
      continue;
    }
    if (contract.rank >= contract.worldSize)
      return Status(StatusCode::InvalidInput, "rank " + std::to_string(contract.rank) + " from " + form.rank +
                                                  " is out of range: " + contract.origin + " says that there are " +
                                                  std::to_string(contract.worldSize) + ", from 0");
    return contract;
  }
  if (!variables.problem().ok())
    return variables.problem();
  if (!half.ok())
    return half;
  return options;
}

} // namespace dlc::runtime
