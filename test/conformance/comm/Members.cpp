#include "Members.h"

#include <filesystem>
#include <latch>
#include <sstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace dlc::test {

testing::AssertionResult done(const Status &status) {
  return status.ok() ? testing::AssertionSuccess() : testing::AssertionFailure() << status.message();
}

testing::AssertionResult failsWith(const Status &status, const std::vector<std::string> &parts) {
  if (status.ok())
    return testing::AssertionFailure() << "it succeeded";
  if (status.code() != StatusCode::PeerFailed)
    return testing::AssertionFailure() << "another code: " << status.message();
  for (const std::string &each : parts)
    if (status.message().find(each) == std::string::npos)
      return testing::AssertionFailure() << "no '" << each << "' in: " << status.message();
  return testing::AssertionSuccess();
}

Deadline in(double seconds) {
  return std::chrono::steady_clock::now() + std::chrono::microseconds(int64_t(seconds * 1e6));
}

Status finish(StatusOr<WorkPtr> work, Deadline deadline) { return work.ok() ? (*work)->wait(deadline) : work.status(); }

std::vector<std::string> engines() {
  std::istringstream list(DLC_TEST_ENGINES);
  std::vector<std::string> names;
  for (std::string name; std::getline(list, name, ' ');)
    names.push_back(name);
  return names;
}

runtime::Group groupOf(int rank, int size, const std::string &name) {
  runtime::Group group{name, rank, {}};
  for (int m = 0; m < size; ++m)
    group.members.push_back("rank " + std::to_string(m) + " (host h" + std::to_string(m) + ")");
  return group;
}

StatusOr<std::unique_ptr<Communicator>> create(const std::string &engine, runtime::Store &store, int rank, int size,
                                               int channel, Deadline deadline, const CommunicatorOptions &options) {
  StatusOr<runtime::CommunicatorFactory *> factory = runtime::CommunicatorFactory::open(engine);
  if (!factory.ok())
    return factory.status();
  return (*factory)->create(store, groupOf(rank, size), channel, 1, deadline, options);
}

void runMembers(const std::string &engine, int size, int channels, const std::function<void(Channels &)> &member,
                const CommunicatorOptions &options) {
  FolderStore store;
  std::latch created(size); // an early abort would end others' creation
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      Channels ends;
      for (int channel = 0; channel < channels; ++channel) {
        StatusOr<std::unique_ptr<Communicator>> made = create(engine, store, rank, size, channel, ample(), options);
        EXPECT_TRUE(done(made.status()));
        if (made.ok())
          ends.push_back(made.take());
      }
      created.arrive_and_wait();
      ASSERT_EQ(int(ends.size()), channels);
      member(ends);
    });
  for (std::thread &each : threads)
    each.join();
}

void runMembers(const std::string &engine, int size, const std::function<void(Communicator &)> &member) {
  runMembers(engine, size, CommunicatorOptions(), member);
}

void runMembers(const std::string &engine, int size, const CommunicatorOptions &options,
                const std::function<void(Communicator &)> &member) {
  runMembers(engine, size, 1, [&](Channels &ends) { member(*ends[0]); }, options);
}

std::vector<int> runProcesses(int size, const std::function<int(int rank)> &member,
                              const std::function<void(const std::vector<int> &)> &watch) {
  std::vector<int> processes, codes;
  for (int rank = 0; rank < size; ++rank) {
    int process = fork();
    if (process == 0)
      _exit(member(rank));
    processes.push_back(process);
  }
  watch(processes);
  for (int process : processes) {
    int state = 0;
    waitpid(process, &state, 0);
    codes.push_back(WIFSIGNALED(state) ? -WTERMSIG(state) : WEXITSTATUS(state));
  }
  return codes;
}

Resources Resources::now() {
  auto count = [](const char *folder) {
    auto entries = std::filesystem::directory_iterator(folder);
    return size_t(std::distance(begin(entries), end(entries)));
  };
  return {count("/proc/self/fd"), count("/proc/self/task")};
}

} // namespace dlc::test
