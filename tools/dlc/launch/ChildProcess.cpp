#include "launch/ChildProcess.h"

#include "launch/Signals.h"

#include "base/FileError.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace dlc::launch {
namespace {

bool isFile(const std::string &path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

bool canExecute(const std::string &path) { return isFile(path) && ::access(path.c_str(), X_OK) == 0; }

std::vector<char *> pointers(const std::vector<std::string> &texts) {
  std::vector<char *> result;
  result.reserve(texts.size() + 1);
  for (const std::string &text : texts)
    result.push_back(const_cast<char *>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// What the new process needs; all of it is ready before fork, as memory may be locked after it.
struct Birth {
  const char *file;
  char *const *arguments, *const *variables;
  int input, output, errors, report;
  pid_t parent;
  const Signals &signals;
};

/// Calls only what is safe between fork and exec.
[[noreturn]] void becomeProgram(const Birth &birth) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != birth.parent)
    ::_exit(127); // it died before the line above
  if (::dup2(birth.input, STDIN_FILENO) >= 0 && ::dup2(birth.output, STDOUT_FILENO) >= 0 &&
      ::dup2(birth.errors, STDERR_FILENO) >= 0) {
    birth.signals.restore();
    ::execve(birth.file, birth.arguments, birth.variables);
  }
  int error = errno;
  (void)!::write(birth.report, &error, sizeof error);
  ::_exit(127);
}

/// Returns errno of the exec that failed, or 0.
int errorOfStart(int report) {
  int error = 0;
  ssize_t size;
  do
    size = ::read(report, &error, sizeof error);
  while (size < 0 && errno == EINTR);
  return size == sizeof error ? error : 0;
}

Status cannotStart(const std::string &file, int error) {
  std::string message = "cannot start " + quote(file) + ": " + std::strerror(error);
  if (error == ENOENT)
    message += "; the interpreter or loader that it asks for is not here";
  if (error == ENOEXEC)
    message += "; expects a program for this machine, or a script whose first line names its interpreter (#!)";
  return {StatusCode::InvalidInput, message};
}

} // namespace

StatusOr<std::string> findProgram(const std::string &command, const std::string &path) {
  if (command.find('/') == std::string::npos) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');)
      if (std::string file = (folder.empty() ? "." : folder) + "/" + command; canExecute(file))
        return file;
    return Status(StatusCode::InvalidInput,
                  "no program " + quote(command) + " on the PATH" +
                      (isFile(command) ? "; there is one in this folder: ./" + command : std::string()));
  }
  struct stat facts{};
  if (::stat(command.c_str(), &facts) != 0)
    return systemError("no program " + quote(command));
  if (!S_ISREG(facts.st_mode))
    return Status(StatusCode::InvalidInput, "expects a program, got " + quote(command) + ", which is no file");
  if (::access(command.c_str(), X_OK) != 0)
    return Status(StatusCode::InvalidInput, quote(command) + " is not executable; run chmod +x " + command);
  return command;
}

StatusOr<std::pair<std::unique_ptr<FileDescriptor>, std::unique_ptr<FileDescriptor>>> makePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return systemError("cannot make a pipe");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return std::pair(std::make_unique<FileDescriptor>(ends[0]), std::make_unique<FileDescriptor>(ends[1]));
}

StatusOr<ChildProcess> startChild(const std::string &file, const std::vector<std::string> &arguments,
                                  const std::vector<std::string> &variables, const Signals &signals) {
  auto output = makePipe(), errors = makePipe();
  std::array<int, 2> report{};
  if (!output.ok() || !errors.ok() || ::pipe2(report.data(), O_CLOEXEC) != 0)
    return systemError("cannot make pipes for a rank; with many ranks, raise the limit of open files (ulimit -n)");
  FileDescriptor reading(report[0]), nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::vector<char *> argumentPointers = pointers(arguments), variablePointers = pointers(variables);
  Birth birth{file.c_str(),
              argumentPointers.data(),
              variablePointers.data(),
              nothing.get(),
              output->second->get(),
              errors->second->get(),
              report[1],
              ::getpid(),
              signals};
  pid_t pid = ::fork();
  if (pid == 0)
    becomeProgram(birth);
  ::close(report[1]);
  if (pid < 0)
    return systemError("cannot start a process for a rank");
  ::setpgid(pid, pid); // who comes first: signals to the group must find it
  if (int error = errorOfStart(report[0]); error != 0) {
    ::waitpid(pid, nullptr, 0);
    return cannotStart(file, error);
  }
  return ChildProcess{pid, std::move(output->first), std::move(errors->first)};
}

} // namespace dlc::launch
