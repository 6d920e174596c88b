#pragma once

#include "FolderStore.h"

#include "dlc/runtime/Communicator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace dlc::test {

using runtime::Communicator;
using runtime::CommunicatorOptions;
using runtime::Deadline;
using runtime::Elements;
using runtime::Op;
using runtime::Reduce;
using runtime::WorkPtr;

/// Passes, or fails with the message.
testing::AssertionResult done(const Status &status);
/// Passes if it is a PeerFailed whose message has all these parts.
testing::AssertionResult failsWith(const Status &status, const std::vector<std::string> &parts);

/// That many seconds from now; what a test waits for never takes so long on its own.
Deadline in(double seconds);
inline Deadline ample() { return in(60); }

/// An operation's id by its index alone.
inline Op op(uint32_t index) { return {{1, index, 5}, nullptr}; }

/// Starts nothing, waits for what was started.
Status finish(StatusOr<WorkPtr> work, Deadline deadline = ample());

/// Engines of this build that members in threads can use; each test runs on all of them. Under mpirun: "mpi" alone.
std::vector<std::string> engines();
/// Engines that join processes.
std::vector<std::string> processEngines();

/// Sums are the same on all engines.
inline CommunicatorOptions fixedOrder() {
  CommunicatorOptions options;
  options.fixedOrder = true;
  return options;
}

runtime::Group groupOf(int rank, int size, const std::string &name = "data");

/// One member's end of a channel.
StatusOr<std::unique_ptr<Communicator>> create(const std::string &engine, runtime::Store &store, int rank, int size,
                                               int channel = 0, Deadline deadline = ample(),
                                               const CommunicatorOptions &options = fixedOrder());

/// Memory for Shared.
void *mapShared(size_t bytes);
void unmapShared(void *memory, size_t bytes);

/// A T that members share, all zero bits at first: in threads, or in the processes of one mpirun, which make the same
/// ones in the same order.
template <typename T>
class Shared {
public:
  Shared() : memory(static_cast<T *>(mapShared(sizeof(T)))) {}
  ~Shared() { unmapShared(memory, sizeof(T)); }
  Shared(const Shared &) = delete;
  Shared &operator=(const Shared &) = delete;
  T &operator*() const { return *memory; }
  T *operator->() const { return memory; }

private:
  T *memory;
};

/// Lets members go on together.
class Flag {
public:
  void set() { *isSet = true; }
  void await() const;

private:
  Shared<std::atomic<bool>> isSet;
};

/// Runs `member` for each rank below `size`: on threads, or, under mpirun, in the process of that rank.
void runRanks(int size, const std::function<void(int rank, runtime::Store &store)> &member);

/// The same, each with its ends of `channels` channels; asserts that they could be made.
using Channels = std::vector<std::unique_ptr<Communicator>>;
void runMembers(const std::string &engine, int size, int channels, const std::function<void(Channels &)> &member,
                const CommunicatorOptions &options = fixedOrder());
/// With one channel.
void runMembers(const std::string &engine, int size, const std::function<void(Communicator &)> &member);
void runMembers(const std::string &engine, int size, const CommunicatorOptions &options,
                const std::function<void(Communicator &)> &member);

/// Processes that are members.
class MemberProcesses {
public:
  explicit MemberProcesses(std::vector<int> ids) : ids(std::move(ids)) {}
  void awaitEnd(int rank) const;
  void awaitStop(int rank) const;
  void signal(int rank, int number) const;

private:
  std::vector<int> ids;
};

/// Runs `member` in a process a member, forked or, for "mpi", started by mpirun, and returns its exit code, or minus
/// its signal; `watch` runs here meanwhile. Under mpirun SIGTERM is blocked: mpirun sends it when it sees a death.
std::vector<int> runProcesses(const std::string &engine, int size, const std::function<int(int rank)> &member,
                              const std::function<void(const MemberProcesses &)> &watch = {});
/// Ends a member's process.
[[noreturn]] void endMember(int code);

/// Open files and threads of this process.
struct Resources {
  size_t files = 0, threads = 0;
  static Resources now();
};

/// Tests of one engine.
class Engine : public testing::TestWithParam<std::string> {};
/// Tests of one engine with a number of members.
class EngineOfSize : public testing::TestWithParam<std::tuple<std::string, int>> {
protected:
  const std::string &engine() const { return std::get<0>(GetParam()); }
  int size() const { return std::get<1>(GetParam()); }
};

} // namespace dlc::test
