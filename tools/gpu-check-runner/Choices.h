#pragma once

#include "Rows.h"

#include <string>
#include <vector>

namespace dlc::gpucheck {

/// Lines for codegen/library/Choices.inc: from how many multiply-adds on the library was the faster way in all that was
/// measured, by op and type. Rows have {"choice": {"op", "type", "way", "multiply-adds", "us"}}, two for each size.
std::vector<std::string> choiceLines(const Json &rows, const std::string &target);

} // namespace dlc::gpucheck
