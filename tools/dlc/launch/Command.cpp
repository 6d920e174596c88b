#include "launch/Command.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace dlc::launch {
namespace {

constexpr int mostRanks = 4096;

constexpr const char *footer =
    "After the options comes the program, with its own.\n\n"
    "Examples:\n"
    "  dlc launch -n 4 ./train --epochs 3\n"
    "      four ranks on this host\n"
    "  dlc launch -n 8 --nnodes 2 --node-rank 0 --master node0:29500 --secret-file ~/job.secret ./train\n"
    "      on node0, and the same with --node-rank 1 on the other host: sixteen ranks\n\n"
    "Ranks get RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, DLC_STORE, DLC_SECRET,\n"
    "DLC_GENERATION and DLC_TIMEOUT, and unless they are set, DLC_THREADS and OMP_NUM_THREADS: this host's\n"
    "processors, shared out. With --comm=mpi the first four are mpirun's: OMPI_COMM_WORLD_RANK and so on. When a rank\n"
    "fails, the others may end by themselves, then get SIGTERM, then SIGKILL. The exit code is that of the rank that\n"
    "failed first, 128 and the number for a signal. A second SIGINT kills at once.";

void split(Arguments &arguments, const std::string &master) {
  size_t colon = master.rfind(':');
  std::string port = colon == std::string::npos ? "" : master.substr(colon + 1);
  auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), arguments.masterPort);
  if (port.empty() || error != std::errc() || end != port.data() + port.size() || arguments.masterPort < 1 ||
      arguments.masterPort > 65535 || colon == 0)
    throw CLI::ValidationError("--master", "expects host:port, got '" + master + "'");
  arguments.masterHost = master.substr(0, colon);
  if (arguments.masterHost.starts_with('[') && arguments.masterHost.ends_with(']')) // a number of IPv6
    arguments.masterHost = arguments.masterHost.substr(1, arguments.masterHost.size() - 2);
}

/// One node may be asked for as several are: scripts of clusters do.
void checkNodes(const Arguments &arguments, const std::string &master, bool nodesTold) {
  if (arguments.nodeRank >= arguments.nodes)
    throw CLI::ValidationError("--node-rank", "expects 0 to " + std::to_string(arguments.nodes - 1) +
                                                  " with --nnodes=" + std::to_string(arguments.nodes) + ", got " +
                                                  std::to_string(arguments.nodeRank));
  if (arguments.nodes == 1) {
    if (!master.empty() && !nodesTold)
      throw CLI::ValidationError("--master", "expects several nodes; add --nnodes");
    return;
  }
  if (master.empty())
    throw CLI::RequiredError("--master=host:port, where node 0 listens,");
  if (arguments.secretFile.empty() && !std::getenv("DLC_SECRET_FILE") && !std::getenv("DLC_SECRET"))
    throw CLI::RequiredError("--secret-file (or DLC_SECRET_FILE, DLC_SECRET), the same secret on all nodes,");
}

/// How many words an option takes up, itself included.
int wordsOf(const CLI::App &command, const std::string &word) {
  bool hasValue = word.find('=') != std::string::npos || (word[1] != '-' && word.size() > 2); // --nnodes=2, -n4
  const CLI::Option *option = command.get_option_no_throw(word);
  return option && !hasValue && option->get_items_expected_max() > 0 ? 2 : 1;
}

} // namespace

void addCommand(CLI::App &app, Arguments &arguments, Status &status, int &code) {
  CLI::App *command = app.add_subcommand("launch", "Start a program as the ranks of one job, and see it to its end");
  command->footer(footer);
  command->add_option("-n,--nproc-per-node", arguments.ranks, "Ranks on this node")
      ->check(CLI::Range(1, mostRanks))
      ->capture_default_str();
  command->add_option("--nnodes", arguments.nodes, "Nodes; dlc launch runs once on each")
      ->check(CLI::Range(1, mostRanks))
      ->capture_default_str();
  command->add_option("--node-rank", arguments.nodeRank, "Which of them this is, from 0")
      ->check(CLI::Range(0, mostRanks - 1))
      ->capture_default_str();
  auto master = std::make_shared<std::string>();
  command->add_option("--master", *master, "host:port where node 0 listens, with several nodes");
  command->add_option("--secret-file", arguments.secretFile,
                      "File with the nodes' common secret, that only its user can read");
  command->add_option("--max-restarts", arguments.maxRestarts, "After a failure, start all ranks again this often")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command->add_option("--timeout", arguments.timeout, "Limit of every wait, in seconds; default DLC_TIMEOUT, else 300")
      ->check(CLI::Range(0.001, 1e7));
  command
      ->add_option("--report-time", arguments.reportTime, "After a failure, seconds for the other ranks' own reports")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_option("--term-time", arguments.termTime, "After a failure, seconds from SIGTERM to SIGKILL")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_flag_function(
      "--no-prefix", [&arguments](int64_t) { arguments.prefix = false; }, "Lines of ranks without [rank] in front");
  command->add_option("--comm", arguments.engine, "What carries collectives; mpi starts ranks through mpirun")
      ->check(CLI::IsMember({"auto", "gloo", "mpi", "nccl", "shm"}));
  command->add_option("--devices", arguments.devices,
                      "Devices of each rank, for example cpu:2, or cuda:1: its own of the host's GPUs (DLC_DEVICES)");
  command->add_option("--rank-of-mpirun", arguments.mpiOutput)->group(""); // how mpirun starts a rank
  command->callback([&arguments, &status, &code, master, command] {
    if (arguments.program.empty())
      throw CLI::RequiredError("a program to start");
    if (!master->empty())
      split(arguments, *master);
    checkNodes(arguments, *master, command->count("--nnodes") > 0);
    StatusOr<int> result = launch(arguments);
    if (result.ok())
      code = *result;
    else
      status = result.status().withContext("launch");
  });
}

int takeProgram(const CLI::App &app, Arguments &arguments, int argc, char **argv) {
  if (argc < 2 || argv[1] != std::string_view("launch"))
    return argc;
  const CLI::App &command = *app.get_subcommand("launch");
  int end = 2;
  for (std::string word; end < argc; end += wordsOf(command, word)) {
    word = argv[end];
    if (word.size() < 2 || word[0] != '-' || word == "--")
      break;
  }
  end = std::min(end, argc);
  int program = end < argc && argv[end] == std::string_view("--") ? end + 1 : end;
  arguments.program.assign(argv + program, argv + argc);
  return end;
}

} // namespace dlc::launch
