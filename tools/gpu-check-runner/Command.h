#pragma once

#include <cstdio>
#include <string>
#include <sys/types.h>
#include <vector>

namespace dlc::gpucheck {

/// Another program, in this process group; it ends with this process. What it writes comes line by line.
class Command {
public:
  /// A path, or a name on the PATH; `variables` ("NAME=value") are set for it. Its errors are these of this process.
  Command(const std::string &program, const std::vector<std::string> &arguments,
          const std::vector<std::string> &variables = {});
  ~Command();
  Command(const Command &) = delete;
  Command &operator=(const Command &) = delete;

  /// False at the end.
  bool next(std::string &line);
  /// How it ended, once its output is over: "ended with code 1".
  std::string wait();

private:
  pid_t pid = -1;
  FILE *output = nullptr;
};

} // namespace dlc::gpucheck
