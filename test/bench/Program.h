#pragma once

#include "dlc/dlc.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace dlc::bench {

/// A program of `<name> <workload> [<seconds>]`: `run` takes the workload and how long (1). The exit code: 2 where
/// there is no such workload, 1 after an error.
template <typename Result, typename Run>
int runProgram(int argc, char **argv, const char *name, const std::map<std::string, Result (*)(double)> &workloads,
               const Run &run) {
  auto found = argc > 1 ? workloads.find(argv[1]) : workloads.end();
  if (found == workloads.end()) {
    std::string known;
    for (const auto &[workload, function] : workloads)
      known += (known.empty() ? "" : "|") + workload;
    std::fprintf(stderr, "usage: %s %s [SECONDS]\n", name, known.c_str());
    return 2;
  }
  try {
    run(found->second, argc > 2 ? std::strtod(argv[2], nullptr) : 1);
    return 0;
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

} // namespace dlc::bench
