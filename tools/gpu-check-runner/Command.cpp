#include "Command.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dlc::gpucheck {

Command::Command(const std::string &program, const std::vector<std::string> &arguments,
                 const std::vector<std::string> &variables) {
  std::vector<char *> pointers{const_cast<char *>(program.c_str())};
  for (const std::string &argument : arguments)
    pointers.push_back(const_cast<char *>(argument.c_str()));
  pointers.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return;
  pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(ends[1], STDOUT_FILENO);
    for (const std::string &variable : variables)
      ::putenv(const_cast<char *>(variable.c_str()));
    ::execvp(program.c_str(), pointers.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  output = ::fdopen(ends[0], "r");
}

Command::~Command() {
  if (pid > 0) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  if (output)
    (void)std::fclose(output);
}

bool Command::next(std::string &line) {
  line.clear();
  std::array<char, 4096> text{};
  while (output && std::fgets(text.data(), int(text.size()), output)) {
    line += text.data();
    if (!line.ends_with('\n'))
      continue;
    line.pop_back();
    return true;
  }
  return !line.empty();
}

std::string Command::wait() {
  int how = 0;
  if (pid <= 0 || ::waitpid(pid, &how, 0) != pid)
    return "was not started";
  pid = -1;
  return WIFSIGNALED(how) ? "ended by signal " + std::to_string(WTERMSIG(how))
                          : "ended with code " + std::to_string(WEXITSTATUS(how));
}

} // namespace dlc::gpucheck
