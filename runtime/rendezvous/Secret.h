#pragma once

#include "dlc/runtime/Rendezvous.h"

#include <string>

namespace dlc::runtime {

/// The contract's secret, from its file if it names one; may be empty. InvalidInput: a file that others can read, or
/// that holds none.
StatusOr<std::string> readSecret(const Contract &contract);

} // namespace dlc::runtime
