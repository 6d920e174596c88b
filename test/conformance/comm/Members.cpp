#include "Members.h"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dlc::test {

namespace {

/// The folder that this run's processes share, if it has several.
const char *sharedFolder() { return std::getenv("DLC_TEST_SHARED"); }

/// This process's rank, where mpirun started it; else -1.
int mpiRank() {
  const char *rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return sharedFolder() && rank ? int(std::strtol(rank, nullptr, 10)) : -1;
}

/// mpirun ends everybody when a process ends that has not finished MPI, as after a failure: so processes wait for each
/// other, and each writes a file with its result.
class Results final : public testing::EmptyTestEventListener {
  void OnTestProgramEnd(const testing::UnitTest &all) override {
    FolderStore store;
    (void)store.set("result/" + std::to_string(mpiRank()), all.Passed() ? "passed" : "failed");
    for (int rank = 0; rank < std::strtol(std::getenv("OMPI_COMM_WORLD_SIZE"), nullptr, 10); ++rank)
      (void)store.get("result/" + std::to_string(rank), ample());
  }
};

} // namespace

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

std::vector<std::string> processEngines() {
  // Asked before there are any threads. A device for each member, of the library that stands in for NVIDIA's.
  setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 0);
  setenv("DLCFAKE_DEVICES", "8", 0);
  std::istringstream list(DLC_TEST_ENGINES);
  std::vector<std::string> names;
  for (std::string name; std::getline(list, name, ' ');)
    if (name != "inprocess")
      names.push_back(name);
  return names;
}

std::vector<std::string> engines() {
  if (mpiRank() >= 0) {
    // GoogleTest asks once, before it runs any test.
    testing::TestEventListeners &listeners = testing::UnitTest::GetInstance()->listeners();
    static const bool isListening = (listeners.Append(std::make_unique<Results>().release()), true);
    return std::vector<std::string>(isListening ? 1 : 0, "mpi");
  }
  std::vector<std::string> names = processEngines();
  std::erase(names, "mpi");
  names.insert(names.begin(), "inprocess");
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
  runtime::Group group = groupOf(rank, size);
  group.device = "cuda:" + std::to_string(rank);
  return (*factory)->create(store, group, channel, 1, deadline, options);
}

void *mapShared(size_t bytes) {
  static int count = 0;
  int file = -1;
  if (mpiRank() >= 0) {
    std::string path = std::string(sharedFolder()) + "/memory." + std::to_string(++count);
    file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_EQ(ftruncate(file, off_t(bytes)), 0);
  }
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
  if (file >= 0)
    close(file);
  return memory;
}

void unmapShared(void *memory, size_t bytes) { munmap(memory, bytes); }

void Flag::await() const {
  while (!*isSet)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void runRanks(int size, const std::function<void(int rank, runtime::Store &store)> &member) {
  FolderStore store;
  if (int rank = mpiRank(); rank >= 0) {
    if (rank < size)
      member(rank, store);
    return;
  }
  std::vector<std::thread> threads;
  threads.reserve(size_t(size));
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] { member(rank, store); });
  for (std::thread &each : threads)
    each.join();
}

void runMembers(const std::string &engine, int size, int channels, const std::function<void(Channels &)> &member,
                const CommunicatorOptions &options) {
  runRanks(size, [&](int rank, runtime::Store &store) {
    Channels ends;
    for (int channel = 0; channel < channels; ++channel) {
      StatusOr<std::unique_ptr<Communicator>> made = create(engine, store, rank, size, channel, ample(), options);
      EXPECT_TRUE(done(made.status()));
      if (made.ok())
        ends.push_back(made.take());
    }
    // An early abort would end others' creation.
    EXPECT_TRUE(done(store.set("created/" + std::to_string(rank), "")));
    for (int other = 0; other < size; ++other)
      EXPECT_TRUE(done(store.wait("created/" + std::to_string(other), ample())));
    ASSERT_EQ(int(ends.size()), channels);
    member(ends);
  });
}

void runMembers(const std::string &engine, int size, const std::function<void(Communicator &)> &member) {
  runMembers(engine, size, fixedOrder(), member);
}

void runMembers(const std::string &engine, int size, const CommunicatorOptions &options,
                const std::function<void(Communicator &)> &member) {
  runMembers(engine, size, 1, [&](Channels &ends) { member(*ends[0]); }, options);
}

namespace {

/// Letter of the process's state; Z where there is none.
char stateOf(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  size_t name = text.rfind(')');
  return name == std::string::npos ? 'Z' : text[name + 2];
}

void awaitState(int process, const char *states) {
  while (!std::strchr(states, stateOf(process)))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::vector<int> runForked(int size, const std::function<int(int rank)> &member,
                           const std::function<void(const MemberProcesses &)> &watch) {
  std::vector<int> processes, codes;
  for (int rank = 0; rank < size; ++rank) {
    int process = fork();
    if (process == 0)
      _exit(member(rank));
    processes.push_back(process);
  }
  if (watch)
    watch(MemberProcesses(processes));
  for (int process : processes) {
    int state = 0;
    waitpid(process, &state, 0);
    codes.push_back(WIFSIGNALED(state) ? -WTERMSIG(state) : WEXITSTATUS(state));
  }
  return codes;
}

/// Starts this test again under mpirun, where it comes to runProcesses as one of the members.
int startMpi(int size, const std::string &folder) {
  int process = fork();
  if (process != 0)
    return process;
  const testing::TestInfo *test = testing::UnitTest::GetInstance()->current_test_info();
  std::string filter = std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name();
  std::string self = std::filesystem::read_symlink("/proc/self/exe");
  setenv("DLC_TEST_SHARED", folder.c_str(), 1);
  int silent = open("/dev/null", O_WRONLY);
  dup2(silent, STDOUT_FILENO);
  dup2(silent, STDERR_FILENO);
  execlp("mpirun", "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", std::to_string(size).c_str(), self.c_str(),
         filter.c_str(), nullptr);
  _exit(127);
}

std::vector<int> runUnderMpi(int size, const std::function<void(const MemberProcesses &)> &watch) {
  std::string folder = (std::filesystem::temp_directory_path() / "dlc-mpi-XXXXXX").string();
  mkdtemp(folder.data());
  auto number = [&](const std::string &name, int otherwise) {
    std::ifstream file(folder + "/" + name);
    int read = 0;
    return file >> read ? read : otherwise;
  };
  int mpirun = startMpi(size, folder);
  std::vector<int> processes, codes;
  for (int rank = 0; rank < size; ++rank) {
    int process = 0;
    while ((process = number("process." + std::to_string(rank), 0)) == 0 && stateOf(mpirun) != 'Z')
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    processes.push_back(process);
  }
  if (watch)
    watch(MemberProcesses(processes));
  waitpid(mpirun, nullptr, 0);
  for (int rank = 0; rank < size; ++rank)
    codes.push_back(number("end." + std::to_string(rank), -SIGKILL));
  std::filesystem::remove_all(folder);
  return codes;
}

void writeNumber(const std::string &name, int value) {
  std::string path = std::string(sharedFolder()) + "/" + name + "." + std::to_string(mpiRank());
  std::ofstream(path + ".new") << value;
  std::filesystem::rename(path + ".new", path);
}

} // namespace

void endMember(int code) {
  if (mpiRank() >= 0)
    writeNumber("end", code);
  // The others' reports come first: mpirun ends them soon after this.
  if (mpiRank() >= 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(code == 0 ? 0 : 500));
  _exit(code);
}

std::vector<int> runProcesses(const std::string &engine, int size, const std::function<int(int rank)> &member,
                              const std::function<void(const MemberProcesses &)> &watch) {
  if (int rank = mpiRank(); rank >= 0) {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, nullptr);
    writeNumber("process", getpid());
    endMember(member(rank));
  }
  return engine == "mpi" ? runUnderMpi(size, watch) : runForked(size, member, watch);
}

void MemberProcesses::awaitEnd(int rank) const { awaitState(ids[size_t(rank)], "ZX"); }
void MemberProcesses::awaitStop(int rank) const { awaitState(ids[size_t(rank)], "TZ"); }
void MemberProcesses::signal(int rank, int number) const {
  if (ids[size_t(rank)] > 0)
    kill(ids[size_t(rank)], number);
}

Resources Resources::now() {
  auto count = [](const char *folder) {
    auto entries = std::filesystem::directory_iterator(folder);
    return size_t(std::distance(begin(entries), end(entries)));
  };
  return {count("/proc/self/fd"), count("/proc/self/task")};
}

} // namespace dlc::test
