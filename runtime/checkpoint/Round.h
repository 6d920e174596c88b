#pragma once

#include "dlc/runtime/Checkpoint.h"

#include <functional>

namespace dlc::runtime {

/// Meetings of a group's members, one after another: each brings a text or a failure, member 0 makes one answer of all
/// texts, and all members get it, or one failure.
class Round {
public:
  using Decide = std::function<StatusOr<std::string>(const std::vector<std::string> &)>;

  /// Takes the next number of this member's calls, which pairs it with the same call of the others. `what` it is for,
  /// as messages say it: "the save of step 3".
  Round(const CheckpointGroup &group, std::string what);

  /// Only member 0 decides.
  StatusOr<std::string> meet(const StatusOr<std::string> &mine, const Decide &decide);

  /// A meeting that only asks whether all succeeded.
  Status agree(const Status &mine);

private:
  /// What the key says in this meeting, as it was encoded.
  StatusOr<std::string> waitFor(const std::string &key, Deadline deadline, const std::string &who);
  StatusOr<std::string> decideForAll(const StatusOr<std::string> &mine, const Decide &decide);

  CheckpointGroup group;
  std::string what;
  Status fault;       ///< of the group itself
  int64_t number = 0; ///< of the last meeting
};

} // namespace dlc::runtime
