#pragma once

#include "dlc/runtime/SimAbi.h"

#include <string>

namespace dlc {

/// " at file:line:column" of a kernel's code, or nothing where that is unknown.
std::string describeSite(const DlcSimSite *site);

} // namespace dlc
