#pragma once

#include "dlc/frontend/Error.h"
#include "dlc/runtime/Status.h"
#include "trace/Program.h"

namespace dlc::record {

using trace::Site;

[[noreturn]] void fail(ErrorKind kind, const std::string &message, const std::source_location &line);
[[noreturn]] void fail(ErrorKind kind, const std::string &message, const Site &site);
/// An Error of the status, unless it is ok.
void check(const Status &status, const std::source_location &line);
void remark(const std::string &text, const Site &site);

} // namespace dlc::record
