// The conformance suite of test/conformance, a program of the bundle. After a test that fails or ends its process the
// rest runs in a new one.
#include "Command.h"
#include "Parts.h"

#include <vector>

namespace dlc::gpucheck {

namespace {

std::string programOf(const Context &context) { return context.bundle + "/bin/conformance_tests"; }

/// "On/Conformance.AStreamKeepsItsOrder/cuda_0" of GoogleTest's list.
std::vector<std::string> listTests(const Context &context) {
  std::string device = context.device.kind + "_" + std::to_string(context.device.index), suite, line;
  std::vector<std::string> names;
  Command list(programOf(context), {"--gtest_list_tests", "--gtest_filter=*/" + device});
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
  Command suite(programOf(context), {"--gtest_color=no", "--gtest_filter=" + filter});
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
