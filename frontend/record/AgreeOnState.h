#pragma once

#include "record/Variable.h"

#include <span>

namespace dlc::record {

/// From now on the arenas of all ranks hold the same values of the variables: rank 0's, with a remark where another's
/// differ. Those that were compared before are taken to be equal. All ranks call this.
void agreeOnState(std::span<const std::shared_ptr<Variable>> variables, const std::source_location &where);

} // namespace dlc::record
