#include "launch/Round.h"

#include "launch/Leftovers.h"
#include "launch/NodeRound.h"
#include "launch/Signals.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/wait.h>
#include <unistd.h>

namespace dlc::launch {
namespace {

Time now() { return std::chrono::steady_clock::now(); }

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

bool asksToEnd(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

/// A process may have left the group that it was given.
void signalGroup(pid_t pid, int signal) {
  if (::kill(-pid, signal) != 0 && errno == ESRCH)
    ::kill(pid, signal);
}

} // namespace

Round::Round(Output &output, Signals &signals, NodeRound *nodes, std::string host, const Arguments &arguments)
    : output_(output), signals_(signals), nodes_(nodes), host_(std::move(host)),
      reportTime_(milliseconds(arguments.reportTime)), shutDown_(milliseconds(arguments.termTime)) {}

void Round::add(int rank, ChildProcess process) { processes_.push_back({rank, process.pid}); }

void Round::relay(std::unique_ptr<FileDescriptor> descriptor, Stream stream, const std::string &prefix,
                  std::function<void(std::string_view)> watch) {
  relays_.push_back({std::move(descriptor), stream, LineRelay(prefix), std::move(watch)});
}

Round::Result Round::run() {
  while (true) {
    reap();
    listenToNodes();
    shutDown();
    if (!childrenLeft_ || gaveUp_) {
      if (!toldNodes_ && nodes_)
        nodes_->end(result_.ends, result_.interrupted);
      toldNodes_ = true;
      if (!nodes_ || nodes_->allEnded())
        break;
    }
    wait();
  }
  listenToNodes(); // what they agreed on in the end
  readRest();
  return std::move(result_);
}

void Round::abandon() {
  for (shutDown_.kill(now()), reap(); childrenLeft_ && !gaveUp_; reap()) {
    shutDown();
    wait();
  }
}

bool Round::ranksRun() const {
  return std::any_of(processes_.begin(), processes_.end(), [](const Process &process) { return process.running; });
}

void Round::reap() {
  while (true) {
    int status = 0;
    pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) {
      childrenLeft_ = pid == 0 || errno != ECHILD;
      break;
    }
    for (Process &process : processes_) {
      if (process.pid != pid || !process.running)
        continue;
      end(process, status);
      if (std::optional<Failure> failure = failureOf(result_.ends.back()))
        fail(*failure);
    }
  }
  if (childrenLeft_ && !ranksRun() && !seenLeftovers_) {
    seenLeftovers_ = true;
    shutDown_.begin(now(), ShutDown::kLeftovers);
  }
}

void Round::end(Process &process, int status) {
  process.running = false;
  result_.ends.push_back({process.rank, process.pid, status, shutDown_.asked(), host_});
  if (see_)
    see_(result_.ends.back());
}

/// The first failure stays, except that the reason of a rank which only saw another one fail gives way.
void Round::fail(const Failure &failure) {
  if (!result_.failure || (result_.failure->blamesPeer() && !failure.blamesPeer())) {
    result_.failure = failure;
    if (nodes_)
      nodes_->fail(failure);
  }
  shutDown_.begin(now(), reportTime_);
}

void Round::listenToNodes() {
  std::optional<Failure> failure = nodes_ ? nodes_->failure() : std::nullopt;
  if (!failure)
    return;
  result_.failure = failure;
  shutDown_.begin(now(), reportTime_);
}

void Round::shutDown() {
  if (gaveUp_)
    return;
  switch (shutDown_.due(now())) {
  case ShutDown::Step::None:
    return;
  case ShutDown::Step::Ask:
    signalAll(SIGTERM);
    return signalAll(SIGCONT); // a stopped process takes SIGTERM now
  case ShutDown::Step::Kill:
    return signalAll(SIGKILL);
  case ShutDown::Step::GiveUp:
    for (pid_t pid : livingChildren())
      output_.add(kStandardError, "dlc: launch: pid " + std::to_string(pid) + " does not end, even when killed\n");
    gaveUp_ = true;
  }
}

/// To the groups of ranks, and to whatever else became a child.
void Round::signalAll(int signal) {
  for (const Process &process : processes_)
    if (process.running)
      signalGroup(process.pid, signal);
  for (pid_t pid : livingChildren())
    if (std::none_of(processes_.begin(), processes_.end(), [&](const Process &process) { return process.pid == pid; }))
      ::kill(pid, signal);
}

void Round::forward(int signal) {
  if (asksToEnd(signal))
    result_.interrupted = true;
  bool kills = signal == SIGINT && ++interrupts_ == 2;
  // What a rank starts may not expect SIGUSR1, which would end it.
  for (const Process &process : processes_)
    if (process.running && asksToEnd(signal))
      signalGroup(process.pid, signal);
    else if (process.running)
      ::kill(process.pid, signal);
  if (kills || (asksToEnd(signal) && toldNodes_))
    fail({128 + signal, -1, "interrupted on host " + host_ + " by signal " + std::to_string(signal), true});
  if (kills)
    shutDown_.kill(now());
}

/// Until something happens, or the next step of the shut-down is due.
void Round::wait() {
  std::vector<pollfd> items = output_.pollItems();
  size_t outputs = items.size();
  items.push_back({signals_.descriptor(), POLLIN, 0});
  items.push_back({nodes_ ? nodes_->descriptor() : -1, POLLIN, 0});
  size_t first = items.size();
  for (const Relay &relay : relays_)
    items.push_back({relay.descriptor && !output_.full(relay.stream) ? relay.descriptor->get() : -1, POLLIN, 0});
  int timeout = -1;
  if (std::optional<Time> next = shutDown_.next())
    timeout =
        static_cast<int>(std::max<int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(*next - now()).count()));
  if (!childrenLeft_ || gaveUp_)
    timeout = -1; // only other nodes are waited for
  ::poll(items.data(), items.size(), timeout);
  for (size_t i = 0; i < outputs; ++i)
    output_.write(items[i]);
  for (int signal = signals_.next(); signal != 0; signal = signals_.next())
    if (signal != SIGCHLD)
      forward(signal);
  for (size_t i = 0; i < relays_.size(); ++i)
    if (items[first + i].revents != 0)
      read(relays_[i]);
  for (Relay &relay : relays_)
    if (relay.descriptor && output_.broken(relay.stream))
      close(relay); // who writes there hears of it by SIGPIPE, as without a launcher
}

void Round::read(Relay &relay) {
  std::array<char, 65536> bytes;
  ssize_t size = ::read(relay.descriptor->get(), bytes.data(), bytes.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (size <= 0)
    return close(relay);
  std::string lines;
  relay.lines.take({bytes.data(), static_cast<size_t>(size)}, lines);
  if (relay.watch)
    relay.watch(lines);
  output_.add(relay.stream, std::move(lines));
}

/// What processes had written before their end. A pipe holds little, so this is not much however slow the reader.
void Round::readRest() {
  for (Relay &relay : relays_) {
    pollfd item{relay.descriptor ? relay.descriptor->get() : -1, POLLIN, 0};
    while (relay.descriptor && ::poll(&item, 1, 0) == 1)
      read(relay);
    if (relay.descriptor)
      close(relay); // a process that does not end may still hold it
  }
}

void Round::close(Relay &relay) {
  std::string lines;
  relay.lines.finish(lines);
  output_.add(relay.stream, std::move(lines));
  relay.descriptor.reset();
}

} // namespace dlc::launch
