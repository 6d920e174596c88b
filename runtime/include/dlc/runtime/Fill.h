#pragma once

#include "dlc/runtime/DType.h"
#include "dlc/runtime/Status.h"

#include <cstdint>

namespace dlc {

/// How a variable's first values are made.
struct InitialValue {
  enum class Kind : uint8_t {
    Zeros,
    Constant, ///< a, which the element type must be able to hold (floating types round it)
    Uniform,  ///< floating types: a + (b - a) u with u in [0, 1), at least a and below b
    Normal,   ///< floating types: a + b z with z standard normal; a mean, b standard deviation
    Data,     ///< `data` copied
  };
  Kind kind = Kind::Zeros;
  double a = 0, b = 0;
  uint64_t offset = 0;        ///< ordinal of the random operation
  const void *data = nullptr; ///< `count` elements, not owned
};

/// Writes `count` elements to `target`. A random element depends only on (seed, value.offset, its index), where the
/// first one's index is `firstIndex`: parts filled separately equal the whole filled at once, for Data too, whose
/// pointer stays that of element 0.
Status fill(void *target, DType dtype, int64_t count, const InitialValue &value, uint64_t seed, int64_t firstIndex = 0);

} // namespace dlc
