#pragma once

#include "dlc/runtime/Job.h"

#include <string>
#include <vector>

namespace dlc::runtime {

/// Variables that were just started have one value on all members: where a hash differs, member 0's is sent to all,
/// with a remark. All members call this with the same names.
Status agreeOnStart(Job &job, int local, Session &session, const std::vector<std::string> &variables);

} // namespace dlc::runtime
