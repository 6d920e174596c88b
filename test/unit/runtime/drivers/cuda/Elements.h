#pragma once

#include "dlc/runtime/DType.h"
#include "dlc/runtime/Float16.h"

#include <cstring>
#include <random>
#include <vector>

namespace dlc::test {

/// Elements of a tensor in memory, as numbers: each is one that its type has.
struct Elements {
  DType dtype = DType::F32;
  std::vector<double> values;

  static double rounded(DType dtype, double value) {
    return dtype == DType::F16    ? double(Float16(value))
           : dtype == DType::BF16 ? double(BFloat16(value))
                                  : double(float(value));
  }

  /// Uniform in [-1, 1).
  static Elements random(DType dtype, int64_t count, unsigned seed) {
    std::mt19937 generator(seed);
    Elements made{dtype, std::vector<double>(size_t(count))};
    for (double &each : made.values)
      each = rounded(dtype, double(generator()) / 2147483648.0 - 1);
    return made;
  }
  static Elements filled(DType dtype, int64_t count, double value) {
    return {dtype, std::vector<double>(size_t(count), value)};
  }

  int64_t bytes() const { return int64_t(values.size()) * byteSize(dtype); }

  std::vector<char> toBytes() const {
    std::vector<char> memory(values.size() * size_t(byteSize(dtype)));
    for (size_t i = 0; i < values.size(); ++i) {
      char *at = memory.data() + i * size_t(byteSize(dtype));
      if (dtype == DType::F32) {
        auto value = float(values[i]);
        std::memcpy(at, &value, 4);
      } else {
        uint16_t value = dtype == DType::F16 ? Float16(values[i]).bits : BFloat16(values[i]).bits;
        std::memcpy(at, &value, 2);
      }
    }
    return memory;
  }

  void fromBytes(const std::vector<char> &memory) {
    for (size_t i = 0; i < values.size(); ++i) {
      const char *at = memory.data() + i * size_t(byteSize(dtype));
      if (dtype == DType::F32) {
        float value;
        std::memcpy(&value, at, 4);
        values[i] = value;
      } else {
        uint16_t value;
        std::memcpy(&value, at, 2);
        values[i] = dtype == DType::F16 ? double(Float16::fromBits(value)) : double(BFloat16::fromBits(value));
      }
    }
  }

  /// What a sum of up to a hundred terms in f32, rounded once to this type, may differ from the exact one.
  static double tolerance(DType dtype) { return dtype == DType::F32 ? 1e-5 : dtype == DType::F16 ? 1e-3 : 8e-3; }
};

} // namespace dlc::test
