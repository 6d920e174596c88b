#pragma once

#include "FolderStore.h"

#include "dlc/runtime/Communicator.h"

#include <gtest/gtest.h>

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

/// Engines of this build; each test runs on all of them.
std::vector<std::string> engines();

runtime::Group groupOf(int rank, int size, const std::string &name = "data");

/// One member's end of a channel.
StatusOr<std::unique_ptr<Communicator>> create(const std::string &engine, runtime::Store &store, int rank, int size,
                                               int channel = 0, Deadline deadline = ample(),
                                               const CommunicatorOptions &options = {});

/// Runs `member` on a thread a member, each with its ends of `channels` channels; asserts that they could be made.
using Channels = std::vector<std::unique_ptr<Communicator>>;
void runMembers(const std::string &engine, int size, int channels, const std::function<void(Channels &)> &member,
                const CommunicatorOptions &options = {});
/// With one channel.
void runMembers(const std::string &engine, int size, const std::function<void(Communicator &)> &member);
void runMembers(const std::string &engine, int size, const CommunicatorOptions &options,
                const std::function<void(Communicator &)> &member);

/// Runs `member` in a forked process a member and returns its exit code, or minus its signal; `watch` runs here
/// meanwhile, with the processes' ids.
std::vector<int> runProcesses(int size, const std::function<int(int rank)> &member,
                              const std::function<void(const std::vector<int> &)> &watch);

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
