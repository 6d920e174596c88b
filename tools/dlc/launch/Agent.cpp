#include "launch/EndReports.h"
#include "launch/Leftovers.h"
#include "launch/MpiRun.h"
#include "launch/Nodes.h"
#include "launch/Round.h"
#include "launch/Signals.h"

#include <array>
#include <chrono>
#include <fcntl.h>
#include <unistd.h>

namespace dlc::launch {
namespace {

std::string hostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string variable(const runtime::Environment &variables, std::string_view name) {
  auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

/// Otherwise a pipe might become one of them.
void openStandardStreams() {
  for (int stream = 0; stream <= STDERR_FILENO; ++stream)
    if (::fcntl(stream, F_GETFD) < 0)
      (void)::open("/dev/null", O_RDWR); // the lowest free number
}

/// The launcher of one node, once the nodes have met, to the last generation.
class Agent {
public:
  Agent(const Arguments &arguments, runtime::Environment base, std::string file, Nodes &nodes)
      : arguments_(arguments), base_(std::move(base)), file_(std::move(file)), host_(hostName()), nodes_(nodes),
        restartsLeft_(arguments.maxRestarts) {}

  StatusOr<int> run() {
    adoptOrphans();
    for (uint64_t generation = 0;; ++generation) {
      StatusOr<Round::Result> result = runGeneration(generation);
      if (!result.ok())
        return result.status();
      const std::optional<Failure> &failure = result->failure;
      bool again = failure && !failure->wanted && !result->interrupted && restartsLeft_ > 0;
      if (failure)
        output_.add(kStandardError,
                    "dlc: launch: " + summary(*failure, result->ends) + (again ? "; all ranks start again\n" : "\n"));
      if (!again) {
        nodes_.leave();
        output_.finish(signals_);
        return failure ? failure->code : 0;
      }
      --restartsLeft_;
    }
  }

private:
  StatusOr<Round::Result> runGeneration(uint64_t generation) {
    auto reports = makePipe(); // of the store's thread, whose lines stay whole too
    if (!reports.ok())
      return reports.status();
    int end = reports->second->get();
    StatusOr<MeetingPoint> point = nodes_.open(generation, restartsLeft_, [end](const std::string &line) {
      std::string whole = line + "\n";
      (void)!::write(end, whole.data(), whole.size());
    });
    if (!point.ok())
      return point.status();
    std::unique_ptr<NodeRound> others = nodes_.begin(generation);
    Round round(output_, signals_, others.get(), host_, arguments_);
    round.relay(std::move(reports->first), kStandardError, "dlc: ");
    EndReports ends(*point);
    round.watchEnds([&ends](const RankEnd &end) { ends.add(end); });
    std::unique_ptr<MpiRun> mpi;
    Status status = startRanks(round, *point, mpi);
    if (!status.ok())
      giveUp(round, others.get(), status);
    Round::Result result = status.ok() ? round.run() : Round::Result();
    if (mpi && result.failure)
      mpi->explain(*result.failure, host_);
    nodes_.close(); // its thread writes to the pipe
    if (!status.ok())
      return status;
    if (others) {
      result.ends = others->ends();
      result.interrupted = others->interrupted();
      restartsLeft_ = others->lostNode() ? 0 : restartsLeft_;
    }
    return result;
  }

  /// Not all ranks of this node could be started: the other nodes hear why.
  void giveUp(Round &round, NodeRound *others, const Status &status) {
    round.abandon();
    if (!others)
      return;
    others->fail({1, -1, "host " + host_ + ": " + status.message(), true});
    others->end({}, true);
    nodes_.leave();
  }

  Status startRanks(Round &round, const MeetingPoint &point, std::unique_ptr<MpiRun> &mpi) {
    runtime::Environment variables = sharedVariables(base_, arguments_, point);
    if (arguments_.engine == "mpi") {
      StatusOr<std::unique_ptr<MpiRun>> run = MpiRun::prepare(round, arguments_, variable(base_, "PATH"));
      if (!run.ok())
        return run.status();
      mpi = run.take();
      return startProcess(round, -1, mpi->file(), mpi->command(), variables,
                          [run = mpi.get()](std::string_view lines) { run->look(lines); });
    }
    for (int local = 0; local < arguments_.ranks; ++local) {
      RankPlace place = nodes_.place(local);
      setPlace(variables, place);
      if (Status status = startProcess(round, place.rank, file_, arguments_.program, variables); !status.ok())
        return status;
    }
    return {};
  }

  Status startProcess(Round &round, int rank, const std::string &file, const std::vector<std::string> &command,
                      const runtime::Environment &variables, std::function<void(std::string_view)> watch = {}) {
    StatusOr<ChildProcess> process = startChild(file, command, texts(variables), signals_);
    if (!process.ok())
      return process.status();
    std::string prefix;
    if (arguments_.prefix)
      prefix = rank < 0 ? "[mpirun] " : "[" + std::to_string(rank) + "] ";
    round.relay(std::move(process->output), kStandardOutput, prefix);
    round.relay(std::move(process->errors), kStandardError, prefix, std::move(watch));
    round.add(rank, process.take());
    return {};
  }

  const Arguments &arguments_;
  runtime::Environment base_;
  std::string file_, host_;
  Nodes &nodes_;
  int restartsLeft_;
  Signals signals_;
  Output output_;
};

} // namespace

StatusOr<int> launch(const Arguments &asked) {
  if (!asked.mpiOutput.empty())
    return becomeMpiRank(asked);
  openStandardStreams();
  Arguments arguments = asked;
  runtime::Environment base = runtime::currentEnvironment();
  if (arguments.engine.empty())
    arguments.engine = variable(base, "DLC_COMM");
  if (arguments.engine == "mpi" && arguments.nodes > 1)
    return Status(StatusCode::InvalidInput,
                  "DLC_COMM=mpi is for one node; with several, let mpirun start the program itself");
  StatusOr<std::string> file = findProgram(arguments.program.front(), variable(base, "PATH"));
  if (!file.ok())
    return file.status();
  // Until there are ranks, a signal may simply end this process.
  StatusOr<std::unique_ptr<Nodes>> nodes = Nodes::meet(arguments, base);
  if (!nodes.ok())
    return nodes.status();
  return Agent(arguments, std::move(base), file.take(), **nodes).run();
}

} // namespace dlc::launch
