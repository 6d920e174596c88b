#pragma once

#include "HostBuffer.h"
#include "Parts.h"

#include "dlc/runtime/Session.h"

#include <memory>
#include <string>
#include <vector>

namespace dlc::gpucheck {

/// A program of the bundle on the device, with memory there for the arguments and results of one entry.
class DeviceProgram {
public:
  /// `file` as in the plan; of several entries the one of that name. Floats of arguments are uniform in [-1, 1),
  /// integers 0.
  static StatusOr<std::unique_ptr<DeviceProgram>> load(const Context &context, const std::string &file,
                                                       const std::string &entry);
  ~DeviceProgram();

  const EntryInfo &entry() const { return executable->manifest().entries[index]; }
  Session &session() const { return *session_; }
  /// Of all arguments and results.
  int64_t bytes() const;

  /// Of the argument's size.
  Status setArgument(size_t argument, const void *data);
  /// One call; its work is in the stream then.
  Status start();
  /// A call's first result, as a number; waits for it.
  StatusOr<double> result();

  /// Seconds of one call: calls are given without waiting for the one before, for `seconds` in all; the least of three
  /// rounds. So what the host needs to give a call shows only where that is longer than its work.
  StatusOr<double> secondsOfCall(double seconds);

private:
  Status prepare();

  std::shared_ptr<const Executable> executable;
  size_t index = 0;
  std::unique_ptr<Session> session_;
  std::shared_ptr<Session::Program> program;
  std::vector<runtime::Arena> memory; ///< of arguments, then of results
  std::vector<DlcBuffer> arguments, results;
};

} // namespace dlc::gpucheck
