#include "PartProcess.h"

#include "Clock.h"
#include "Parts.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dlc::gpucheck {

namespace {

/// One of the two streams of a process.
class Lines {
public:
  explicit Lines(int descriptor) : descriptor(descriptor) { ::fcntl(descriptor, F_SETFL, O_NONBLOCK); }
  ~Lines() { ::close(descriptor); }
  Lines(const Lines &) = delete;
  Lines &operator=(const Lines &) = delete;

  /// Negative at its end.
  int get() const { return ended ? -1 : descriptor; }

  /// Hands on what there is, line by line.
  template <typename OnLine>
  void read(const OnLine &onLine) {
    std::array<char, 4096> bytes{};
    ssize_t count;
    while ((count = ::read(descriptor, bytes.data(), bytes.size())) > 0)
      text.append(bytes.data(), size_t(count));
    ended = count == 0;
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      onLine(text.substr(begin, end - begin));
    text.erase(0, begin);
    if (ended && !text.empty())
      onLine(std::exchange(text, {}));
  }

private:
  int descriptor;
  bool ended = false;
  std::string text;
};

/// A process of this program, in a group of its own.
class Process {
public:
  Process(const std::vector<std::string> &arguments, int output, int errors) {
    std::vector<char *> pointers{const_cast<char *>("gpu-check-runner")};
    for (const std::string &argument : arguments)
      pointers.push_back(const_cast<char *>(argument.c_str()));
    pointers.push_back(nullptr);
    pid = ::fork();
    if (pid == 0) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(output, STDOUT_FILENO);
      ::dup2(errors, STDERR_FILENO);
      ::execv("/proc/self/exe", pointers.data());
      ::_exit(127);
    }
    if (pid > 0)
      ::setpgid(pid, pid); // who comes first: the group must be there before it is ended
  }

  bool started() const { return pid > 0; }

  /// Whether it has ended, and how.
  bool ended(int &how) {
    over = over || ::waitpid(pid, &how, WNOHANG) == pid;
    return over;
  }

  /// Ends it and what it has started. A process that waits inside the driver may stay a while: nobody waits for it.
  void end() {
    ::kill(-pid, SIGKILL);
    int how = 0;
    for (int tries = 0; tries < 50 && !ended(how); ++tries)
      ::usleep(20'000);
  }

private:
  pid_t pid = -1;
  bool over = false;
};

std::string describeEnd(int how) {
  if (WIFSIGNALED(how))
    return std::string("ended by signal ") + std::to_string(WTERMSIG(how)) + " (" + strsignal(WTERMSIG(how)) + ")";
  return "ended with code " + std::to_string(WEXITSTATUS(how));
}

PartEnd::How howOf(int how) {
  if (WIFSIGNALED(how))
    return PartEnd::How::Crashed;
  switch (WEXITSTATUS(how)) {
  case 0:
    return PartEnd::How::Done;
  case kPartFailed:
    return PartEnd::How::Failed;
  case kDeviceFailed:
    return PartEnd::How::DeviceFailed;
  default:
    return PartEnd::How::Crashed;
  }
}

/// What the lines of a part say so far.
class Listener {
public:
  Listener(PartEnd &end, const std::function<void(const Json &)> &onRow,
           const std::function<void(const std::string &)> &onItem)
      : end(end), onRow(onRow), onItem(onItem) {}

  void output(const std::string &text) {
    Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) {
      error(text);
    } else if (line.contains("row")) {
      onRow(line["row"]);
    } else if (line.contains("begin")) {
      end.item = line["begin"].get<long>();
      end.itemName = line.value("name", "");
      onItem(end.itemName);
    } else if (line.contains("none")) {
      end.none = line.value("none", "");
    }
  }

  void error(const std::string &text) {
    if (!text.empty())
      lastError = text.substr(0, 500);
  }

  /// The sentence, with the last error.
  std::string with(const std::string &sentence) const {
    return lastError.empty() ? sentence : sentence + "; it wrote: " + lastError;
  }

private:
  PartEnd &end;
  const std::function<void(const Json &)> &onRow;
  const std::function<void(const std::string &)> &onItem;
  std::string lastError;
};

std::string shortSeconds(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g s", seconds);
  return text.data();
}

} // namespace

PartEnd runPart(const std::vector<std::string> &arguments, const PartLimits &limits,
                const std::function<void(const Json &row)> &onRow,
                const std::function<void(const std::string &)> &onItem) {
  PartEnd end;
  std::array<int, 2> output{}, errors{};
  if (::pipe2(output.data(), O_CLOEXEC) != 0 || ::pipe2(errors.data(), O_CLOEXEC) != 0)
    return {PartEnd::How::Crashed, "cannot make a pipe", {}, -1, {}};
  Process process(arguments, output[1], errors[1]);
  ::close(output[1]);
  ::close(errors[1]);
  if (!process.started())
    return {PartEnd::How::Crashed, "cannot start a process", {}, -1, {}};
  Lines outputLines(output[0]), errorLines(errors[0]);
  Listener listener(end, onRow, onItem);
  double begin = now(), last = begin;
  auto readAll = [&] {
    errorLines.read([&](const std::string &line) { listener.error(line); });
    outputLines.read([&](const std::string &line) {
      last = now();
      listener.output(line);
    });
  };
  for (int how = 0;;) {
    std::array<pollfd, 2> waits{{{outputLines.get(), POLLIN, 0}, {errorLines.get(), POLLIN, 0}}};
    ::poll(waits.data(), waits.size(), 20);
    bool over = process.ended(how);
    readAll();
    if (over) {
      end.how = howOf(how);
      end.message = end.how == PartEnd::How::Done ? "" : listener.with(describeEnd(how));
      process.end(); // what it left behind
      return end;
    }
    if (now() - begin > limits.total || now() - last > limits.silence) {
      end.how = now() - begin > limits.total ? PartEnd::How::TimeOver : PartEnd::How::Silent;
      end.message =
          listener.with(end.how == PartEnd::How::TimeOver ? "not done within " + shortSeconds(limits.total)
                                                          : "nothing happened for " + shortSeconds(limits.silence));
      process.end();
      return end;
    }
  }
}

} // namespace dlc::gpucheck
