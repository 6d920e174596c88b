#pragma once

#include "record/Value.h"

#include <span>

namespace dlc::runtime {
class Communicator;
class Job;
} // namespace dlc::runtime

namespace dlc::record {

/// What this process knows of the job it is in, between distributed::init and shutdown. Members are the devices of all
/// processes, those of one process in a row.
struct Job {
  int rank = 0, worldSize = 1, localRank = 0;
  int members = 1, firstMember = 0, localMembers = 1;
  /// In which sums over rows are taken, 0: in any order.
  int64_t leaves = 0;
  /// Set by DataParallel: the rows of a batch are dealt out to the members.
  bool splitsBatches = false;
  runtime::Job *runtime = nullptr;

  /// How rows are dealt out.
  trace::Members dealt() const { return {members, leaves}; }
  /// Number of one of this process's members.
  size_t member(int local) const { return static_cast<size_t>(firstMember) + static_cast<size_t>(local); }
};
/// Null outside a job.
const Job *job();
/// Of this process, also after it has left the job.
int localMembers();

/// The elements of a split value in memory of the host, put together from all members: all ranks call this. Kept with
/// the value.
const void *wholeOf(Value &value, const std::source_location &where);
/// An Error that names the function unless this process is in a job.
const Job &requireJob(const char *function, const std::source_location &where);

} // namespace dlc::record
