#pragma once

#include "dlc/runtime/Communicator.h"
#include "dlc/runtime/Job.h"
#include "record/Job.h"

#include <functional>

namespace dlc::distributed {

/// Starts one operation between all members: on the channel and thread of each member of this process. An Error where
/// members fail.
using Start = std::function<StatusOr<runtime::WorkPtr>(runtime::Communicator &world, const runtime::Op &op, int local)>;
void together(const record::Job &job, const Start &start, const std::source_location &where);

/// An operation that needs values is met in a recorded function: it is traced at every call.
void needValues(const char *cause, const std::source_location &where);

/// Differs with all but certainty where the bytes do.
uint64_t hashOf(const void *data, int64_t bytes);

/// From now on batches are split.
void splitBatches();

} // namespace dlc::distributed
