#pragma once

#include "comm/host/Operation.h"

namespace dlc::runtime {

/// What an engine on the host implements: one operation at a time, on the channel's progress thread.
class HostEngine {
public:
  virtual ~HostEngine() = default;

  virtual std::string_view name() const = 0;

  /// Does the operation and returns when it is done. After interrupt it returns soon, and by then nobody uses the
  /// operation's memory, whatever it returns.
  virtual Status run(const Operation &operation) = 0;

  /// From any thread, more than once: the channel has failed. Ends what run waits for and tells the other members.
  virtual void interrupt(const Status &why) noexcept = 0;

  /// The members that the running operation waits for, by rank. From any thread.
  virtual std::vector<int> awaited() const = 0;

  /// See Communicator.
  virtual DeviceCollectives *onDevice() { return nullptr; }
};

/// A member of a group, with a function for each kind of operation.
class KindsEngine : public HostEngine {
protected:
  explicit KindsEngine(const Group &group) : groupName(group.name), names(group.members), rank(group.rank) {}

  int size() const { return int(names.size()); }
  const std::string &nameOf(int member) const { return names[size_t(member)]; }

  /// Calls the function of the operation's kind.
  Status dispatch(const Operation &operation);

  virtual Status allReduce(const Operation &operation) = 0;
  virtual Status reduceScatter(const Operation &operation) = 0;
  virtual Status allGather(const Operation &operation) = 0;
  virtual Status broadcast(const Operation &operation) = 0;
  virtual Status allToAll(const Operation &operation) = 0;
  virtual Status send(const Operation &operation) = 0;
  virtual Status receive(const Operation &operation) = 0;
  virtual Status barrier(const Operation &operation) = 0;

  const std::string groupName;
  const std::vector<std::string> names;
  const int rank;
};

} // namespace dlc::runtime
