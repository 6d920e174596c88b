#pragma once

#include "launch/ChildProcess.h"
#include "launch/Launch.h"
#include "launch/LineRelay.h"
#include "launch/Output.h"
#include "launch/RankEnd.h"
#include "launch/ShutDown.h"

#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::launch {

class NodeRound;
class Signals;

/// One start of all ranks of this node, seen to its end: their lines, the signals that are forwarded to them, the first
/// failure, and that nothing is left of them.
class Round {
public:
  struct Result {
    std::optional<Failure> failure;
    bool interrupted = false; ///< somebody asked the launcher to end
    std::vector<RankEnd> ends;
  };

  /// `nodes` tells of the other nodes, null: there are none.
  Round(Output &output, Signals &signals, NodeRound *nodes, std::string host, const Arguments &arguments);

  void add(int rank, ChildProcess process);
  /// Lines of a rank that come another way than from its process.
  void relay(std::unique_ptr<FileDescriptor> descriptor, Stream stream, const std::string &prefix,
             std::function<void(std::string_view)> watch = {});

  /// Calls `see` with the end of each rank, as soon as it is known.
  void watchEnds(std::function<void(const RankEnd &)> see) { see_ = std::move(see); }

  Result run();
  /// Kills what was added: another rank could not be started.
  void abandon();

private:
  struct Process {
    int rank;
    pid_t pid;
    bool running = true;
  };
  struct Relay {
    std::unique_ptr<FileDescriptor> descriptor; ///< null at its end
    Stream stream;
    LineRelay lines;
    std::function<void(std::string_view)> watch; ///< sees the lines too
  };

  bool ranksRun() const;
  void reap();
  void end(Process &process, int status);
  void fail(const Failure &failure);
  void listenToNodes();
  void shutDown();
  void signalAll(int signal);
  void forward(int signal);
  void wait();
  void read(Relay &relay);
  void readRest();
  void close(Relay &relay);

  Output &output_;
  Signals &signals_;
  NodeRound *nodes_;
  std::string host_;
  std::chrono::milliseconds reportTime_;
  std::function<void(const RankEnd &)> see_;
  std::vector<Process> processes_;
  std::vector<Relay> relays_;
  bool childrenLeft_ = true, gaveUp_ = false;
  bool seenLeftovers_ = false, toldNodes_ = false;
  int interrupts_ = 0;
  ShutDown shutDown_;
  Result result_;
};

} // namespace dlc::launch
