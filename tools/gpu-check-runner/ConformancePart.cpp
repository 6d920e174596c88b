// The conformance suite of test/conformance, a program of the bundle. After a test that fails or ends its process the
// rest runs in a new one.
#include "Parts.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace dlc::gpucheck {

namespace {

/// The suite in a process of this group; its output, line by line.
class Suite {
public:
  Suite(const Context &context, const std::vector<std::string> &arguments) {
    std::string program = context.bundle + "/bin/conformance_tests";
    std::vector<char *> pointers{program.data()};
    for (const std::string &argument : arguments)
      pointers.push_back(const_cast<char *>(argument.c_str()));
    pointers.push_back(nullptr);
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0)
      return;
    pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execv(program.c_str(), pointers.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output = ::fdopen(ends[0], "r");
  }
  ~Suite() {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    if (output)
      std::fclose(output);
  }
  Suite(const Suite &) = delete;
  Suite &operator=(const Suite &) = delete;

  /// False at the end.
  bool next(std::string &line) {
    std::array<char, 4096> text{};
    if (!output || !std::fgets(text.data(), int(text.size()), output))
      return false;
    line = text.data();
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
      line.pop_back();
    return true;
  }

  /// How it ended, once its output is over.
  std::string wait() {
    int how = 0;
    if (pid <= 0 || ::waitpid(pid, &how, 0) != pid)
      return "was not started";
    pid = -1;
    return WIFSIGNALED(how) ? "ended by signal " + std::to_string(WTERMSIG(how))
                            : "ended with code " + std::to_string(WEXITSTATUS(how));
  }

private:
  pid_t pid = -1;
  FILE *output = nullptr;
};

/// "On/Conformance.AStreamKeepsItsOrder/cuda_0" of GoogleTest's list.
std::vector<std::string> listTests(const Context &context) {
  std::string device = context.device.kind + "_" + std::to_string(context.device.index), suite, line;
  std::vector<std::string> names;
  Suite list(context, {"--gtest_list_tests", "--gtest_filter=*/" + device});
  while (list.next(line)) {
    line = line.substr(0, line.find("  #"));
    if (line.starts_with("  "))
      names.push_back(suite + line.substr(2));
    else
      suite = line;
  }
  return names;
}

std::string shortName(const std::string &name) {
  size_t dot = name.find('.');
  return name.substr(dot + 1, name.rfind('/') - dot - 1);
}

/// Runs the tests from `from` on until one is not right; the first that was not run.
size_t runFrom(const Context &context, const std::vector<std::string> &names, size_t from) {
  std::string filter;
  for (size_t i = from; i < names.size(); ++i)
    filter += (filter.empty() ? "" : ":") + names[i];
  Suite suite(context, {"--gtest_color=no", "--gtest_filter=" + filter});
  size_t at = from;
  bool inTest = false;
  std::string line, message;
  while (suite.next(line)) {
    if (line.starts_with("[ RUN ")) {
      begin(at, shortName(names[at]));
      inTest = true;
      message.clear();
    } else if (inTest && (line.starts_with("[       OK ]") || line.starts_with("[  SKIPPED ]"))) {
      report({shortName(names[at++]), true, line.starts_with("[  SKIPPED ]") ? "skipped: " + message : ""});
      inTest = false;
    } else if (inTest && line.starts_with("[  FAILED  ]")) {
      report({shortName(names[at++]), false, message});
      return at;
    } else if (inTest) {
      message += (message.empty() ? "" : " ") + line;
    }
  }
  std::string how = suite.wait();
  if (at < names.size())
    report({shortName(names[at++]), false, how + (message.empty() ? "" : "; it wrote: " + message)});
  return at;
}

} // namespace

Status checkConformance(const Context &context) {
  std::vector<std::string> names = listTests(context);
  if (names.empty())
    return {StatusCode::InvalidInput, "bin/conformance_tests lists no tests of " + context.device.str()};
  for (size_t at = context.from; at < names.size();)
    at = runFrom(context, names, at);
  return {};
}

} // namespace dlc::gpucheck
