#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace dlc {

/// A C++ number of an expression; like a Python number it takes part in type promotion by kind only.
struct Number {
  enum class Kind : uint8_t { Bool, Integer, Real };
  Kind kind = Kind::Real;
  int64_t integer = 0;
  double real = 0;

  Number() = default;
  template <typename T>
    requires std::is_arithmetic_v<T>
  Number(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      real = static_cast<double>(value);
    } else {
      kind = std::is_same_v<T, bool> ? Kind::Bool : Kind::Integer;
      integer = static_cast<int64_t>(value);
      real = static_cast<double>(value);
    }
  }
};

} // namespace dlc
