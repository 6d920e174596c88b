#include "dlc/runtime/Philox.h"

#include <cmath>
#include <numbers>

namespace dlc {

std::array<double, 2> normalPair(const PhiloxWords &words) {
  double positive = 1.0 - uniform01(words[0], words[1]); // (0, 1]: the logarithm stays finite
  double radius = std::sqrt(-2.0 * std::log(positive));
  double angle = 2.0 * std::numbers::pi * uniform01(words[2], words[3]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

} // namespace dlc
