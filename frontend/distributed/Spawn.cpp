#include "dlc/frontend/Distributed.h"
#include "dlc/runtime/TcpStore.h"
#include "record/Fault.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <random>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace dlc::distributed {

using record::fail;

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kReportTime = std::chrono::seconds(2), kTermTime = std::chrono::seconds(3);
constexpr size_t kLongestMessage = 4096; // a pipe takes it at once

/// One end each; closed with the object.
struct Pipe {
  int read = -1, write = -1;
  Pipe() = default;
  Pipe(Pipe &&other) noexcept : read(std::exchange(other.read, -1)), write(std::exchange(other.write, -1)) {}
  Pipe &operator=(Pipe &&) = delete;
  ~Pipe() { closeRead(), closeWrite(); }

  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return false;
    read = ends[0], write = ends[1];
    return true;
  }
  void closeRead() { close(read); }
  void closeWrite() { close(write); }

private:
  static void close(int &end) {
    if (end >= 0)
      ::close(std::exchange(end, -1));
  }
};

bool writeAll(int to, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t count = ::write(to, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR)
      return false;
    done += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return true;
}

/// Until the other end is closed.
std::string readAll(int from) {
  std::string text;
  char part[512];
  for (;;) {
    ssize_t count = ::read(from, part, sizeof part);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return text;
    text.append(part, static_cast<size_t>(count));
  }
}

/// A rank as its parent sees it.
struct Child {
  pid_t id = -1;
  Pipe orders, report;
  bool running = false;
  int status = 0;
  /// What it threw; follows from another's end where `isConsequence`.
  std::string message;
  bool isConsequence = false;

  bool failed() const { return !running && status != 0; }
};

class Spawned {
public:
  Spawned(int64_t processes, Where where) : where(where), children(static_cast<size_t>(processes)) {}
  ~Spawned() { endAll(); }

  void start(const std::function<void(int64_t)> &function) {
    pid_t parent = getpid();
    std::fflush(nullptr);
    std::cout.flush();
    for (size_t rank = 0; rank < children.size(); ++rank) {
      Child &child = children[rank];
      if (!child.orders.open() || !child.report.open())
        failSystem("a pipe");
      child.id = fork();
      if (child.id < 0)
        failSystem("a process");
      if (child.id == 0)
        beRank(rank, parent, function);
      child.running = true;
      child.orders.closeRead();
      child.report.closeWrite();
    }
    order();
  }

  /// Returns when all have ended.
  void wait() {
    Clock::time_point limit = Clock::time_point::max();
    int nextSignal = SIGTERM;
    while (collect()) {
      if (firstFailed && limit == Clock::time_point::max())
        limit = Clock::now() + kReportTime; // the others hear of it themselves
      if (Clock::now() >= limit) {
        signalAll(nextSignal);
        nextSignal = SIGKILL;
        limit = Clock::now() + kTermTime;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  void check() const {
    if (!firstFailed)
      return;
    const Child *cause = firstFailed;
    for (const Child *child : ended)
      if (child->failed() && !child->isConsequence) {
        cause = child;
        break;
      }
    std::string rank = "spawn: rank " + std::to_string(cause - children.data());
    if (WIFSIGNALED(cause->status))
      fail(ErrorKind::Distributed,
           rank + " (pid " + std::to_string(cause->id) + ") was ended by signal " +
               std::to_string(WTERMSIG(cause->status)) + " (" + strsignal(WTERMSIG(cause->status)) + ")",
           where);
    if (cause->message.empty())
      fail(ErrorKind::Distributed, rank + " ended with exit code " + std::to_string(WEXITSTATUS(cause->status)), where);
    fail(ErrorKind::Distributed, rank + " failed: " + cause->message, where);
  }

private:
  [[noreturn]] void failSystem(const char *what) const {
    fail(ErrorKind::Distributed, std::string("spawn: ") + what + " cannot be made: " + std::strerror(errno), where);
  }

  /// The child's life; never returns.
  [[noreturn]] void beRank(size_t rank, pid_t parent, const std::function<void(int64_t)> &function) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
    Pipe orders = std::move(children[rank].orders), report = std::move(children[rank].report);
    orders.closeWrite();
    children.clear(); // the others' pipes
    std::string port = readAll(orders.read);
    if (port.empty())
      _exit(1);
    int code = 1;
    try {
      describeJob(rank, port);
      function(static_cast<int64_t>(rank));
      if (is_initialized())
        shutdown();
      code = 0;
    } catch (const Error &error) {
      writeAll(report.write, (error.kind() == ErrorKind::Distributed ? "D" : "E") + cutShort(error.what()));
    } catch (const std::exception &error) {
      writeAll(report.write, "E" + cutShort(error.what()));
    } catch (...) {
      writeAll(report.write, "Ean exception that says nothing of itself");
    }
    std::cout.flush();
    std::fflush(nullptr);
    _exit(code); // what the parent does at its end is not the child's to do
  }

  /// The contract, as a launcher would give it.
  void describeJob(size_t rank, const std::string &port) const {
    auto set = [](const char *name, const std::string &value) { setenv(name, value.c_str(), 1); };
    set("MASTER_ADDR", "127.0.0.1");
    set("MASTER_PORT", port);
    set("DLC_STORE", "external");
    set("DLC_SECRET", secret);
    for (const char *name : {"RANK", "LOCAL_RANK"})
      set(name, std::to_string(rank));
    for (const char *name : {"WORLD_SIZE", "LOCAL_WORLD_SIZE"})
      set(name, std::to_string(total));
    for (const char *name : {"DLC_SECRET_FILE", "DLC_GENERATION"})
      unsetenv(name);
  }

  static std::string cutShort(const std::string &text) { return text.substr(0, kLongestMessage - 1); }

  /// Serves the store, from a thread that must not be there when processes are forked, and lets the ranks begin.
  void order() {
    runtime::TcpStoreOptions options;
    options.secret = secret;
    auto server = runtime::serveStore(options);
    record::check(server.status(), where);
    store = server.take();
    for (Child &child : children) {
      writeAll(child.orders.write, std::to_string(store->port()));
      child.orders.closeWrite();
    }
  }

  /// Notes who has ended; whether any still runs.
  bool collect() {
    bool any = false;
    for (Child &child : children) {
      if (!child.running)
        continue;
      pid_t done = waitpid(child.id, &child.status, WNOHANG);
      if (done == 0 || (done < 0 && errno == EINTR)) {
        any = true;
        continue;
      }
      child.running = false;
      if (done < 0)
        child.status = 1 << 8;                       // somebody else has waited for it: how it ended is not known
      fcntl(child.report.read, F_SETFL, O_NONBLOCK); // a process of its own may still hold the other end
      std::string text = readAll(child.report.read);
      child.isConsequence = text.starts_with('D');
      child.message = text.empty() ? text : text.substr(1);
      ended.push_back(&child);
      if (child.failed() && !firstFailed)
        firstFailed = &child;
    }
    return any;
  }

  void signalAll(int signal) {
    for (const Child &child : children)
      if (child.running)
        kill(child.id, signal);
  }

  void endAll() {
    signalAll(SIGKILL);
    for (Child &child : children)
      if (child.running)
        waitpid(child.id, &child.status, 0);
  }

  static std::string freshSecret() {
    std::random_device source;
    std::string text;
    for (int i = 0; i < 8; ++i)
      text += std::to_string(source());
    return text;
  }

  Where where;
  std::vector<Child> children;
  size_t total = children.size();
  std::string secret = freshSecret();
  std::unique_ptr<runtime::StoreServer> store;
  std::vector<const Child *> ended;
  const Child *firstFailed = nullptr;
};

int64_t threads() {
  std::error_code error;
  auto tasks = std::filesystem::directory_iterator("/proc/self/task", error);
  return error ? 1 : std::distance(begin(tasks), end(tasks));
}

} // namespace

void spawn(const std::function<void(int64_t)> &function, int64_t processes, Where where) {
  if (processes < 1)
    fail(ErrorKind::Value, "spawn: expected at least 1 process, got " + std::to_string(processes), where);
  if (int64_t count = threads(); count > 1)
    fail(ErrorKind::Distributed,
         "spawn: this process has " + std::to_string(count) +
             " threads already, which a forked process would lack; call it before anything has been computed, or start "
             "the ranks with dlc launch",
         where);
  Spawned ranks(processes, where);
  ranks.start(function);
  ranks.wait();
  ranks.check();
}

} // namespace dlc::distributed
