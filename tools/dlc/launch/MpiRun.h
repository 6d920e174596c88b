#pragma once

#include "launch/ChildProcess.h"
#include "launch/Launch.h"
#include "launch/Round.h"

#include <memory>
#include <string>
#include <vector>

namespace dlc::launch {

/// Ranks that mpirun starts on this host. Each takes the writing ends of its pipes from the launcher, so that its lines
/// come apart from the others' and stay whole.
class MpiRun {
public:
  /// Makes the pipes and has `round` relay them. InvalidInput: no mpirun.
  static StatusOr<std::unique_ptr<MpiRun>> prepare(Round &round, const Arguments &arguments, const std::string &path);

  const std::string &file() const { return file_; }
  const std::vector<std::string> &command() const { return command_; }

  /// What mpirun says, where it names the rank that failed first.
  void look(std::string_view lines);
  /// Names that rank instead of mpirun.
  void explain(Failure &failure, const std::string &host);

private:
  std::string file_;
  std::vector<std::string> command_;
  std::vector<std::unique_ptr<FileDescriptor>> ends_; ///< writing, of each rank output and errors
  std::unique_ptr<FileDescriptor> births_;            ///< "<rank> <pid>", a line each
  int failedRank_ = -1;
};

/// Becomes the program, as a rank that mpirun started: Arguments::mpiOutput says where its lines go. Returns only if
/// that fails.
Status becomeMpiRank(const Arguments &arguments);

} // namespace dlc::launch
