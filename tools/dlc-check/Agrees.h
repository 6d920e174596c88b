#pragma once

#include <algorithm>
#include <cmath>

namespace dlc::check {

/// By how many times `tolerance * max(1, |expected|)` the two differ, at most 1 where they agree; NaN equals NaN, an
/// infinity equals itself.
inline double difference(double expected, double got, double tolerance) {
  if (std::isnan(expected) || std::isnan(got))
    return std::isnan(expected) && std::isnan(got) ? 0 : HUGE_VAL;
  if (std::isinf(expected) || std::isinf(got) || expected == got)
    return expected == got ? 0 : HUGE_VAL;
  return std::abs(got - expected) / (tolerance * std::max(1.0, std::abs(expected)));
}

} // namespace dlc::check
