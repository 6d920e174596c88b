#pragma once

#include "comm/shm/Segment.h"

#include <vector>

namespace dlc::runtime {

/// What a member has of the others once all have met; its own places are empty.
struct Meeting {
  std::vector<Segment> segments;         ///< by rank, its own one too
  std::vector<FileDescriptor> lifelines; ///< by rank: the other end is closed when that process is gone
};

/// Gives every member all members' memory and a connection to each. Members find each other at a socket in a folder
/// that only this user may enter, which member 0 makes, names in the store, and removes when all have come; a process
/// of another user is refused. InvalidInput where a member is on another host.
StatusOr<Meeting> meetOnHost(Store &store, const std::string &key, const Group &group, Deadline deadline);

} // namespace dlc::runtime
