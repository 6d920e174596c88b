#pragma once

#include "base/FileDescriptor.h"

#include "dlc/runtime/Status.h"

#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace dlc::launch {

class Signals;

/// A process in a group of its own, that the kernel kills with the launcher.
struct ChildProcess {
  pid_t pid;
  std::unique_ptr<FileDescriptor> output, errors; ///< reading ends; they do not block
};

/// The file that a command names: a path, or a name on PATH. InvalidInput: none, or it cannot be executed.
StatusOr<std::string> findProgram(const std::string &command, const std::string &path);

/// Starts `file` with these arguments (the first is its name) and variables ("NAME=value"), without standard input.
/// Only from the main thread: the kernel ties a child to the thread that made it. InvalidInput: it cannot be executed.
StatusOr<ChildProcess> startChild(const std::string &file, const std::vector<std::string> &arguments,
                                  const std::vector<std::string> &variables, const Signals &signals);

/// A pipe whose ends do not outlive exec; only the reading one does not block. {reading, writing}
StatusOr<std::pair<std::unique_ptr<FileDescriptor>, std::unique_ptr<FileDescriptor>>> makePipe();

} // namespace dlc::launch
