#pragma once

#include "dlc/runtime/Executable.h"

namespace dlc::test {

/// A program as a compiler would write it, for the cpu, for sim, and PTX for CUDA devices.
///
/// Variables w: f32[kCount], uniform in [-1, 1); b: f32[4] = 1, 2, 3, 4. A constant c = 2. Entries:
///   step(x: f32[kCount]) -> (y: f32[kCount])   w += x; y = c * w, over scratch
///   reverse(x: i8[odd]) -> (y: i8[odd])        y backwards
///   refused()                                  fails at the site of line 30
///   stuck(x: f32[4])                           on devices: its kernel fails when it runs
///   outside()                                  on devices: a kernel's operand ends behind its arena
///   branch(x: f32[kCount]) -> (y: f32[kCount]) w += x; where w[0] > 0: w = c * w, else: w += x; y = w
struct Program {
  static constexpr int64_t kCount = 1000, kOdd = 1237;
  enum Entry : size_t { kStep, kReverse, kRefused, kStuck, kOutside, kBranch };

  /// What is in the image: entries of the cpu, and those of devices with kernels for sim or PTX.
  struct Targets {
    bool cpu = true, sim = true, cuda = true;
  };
  static StatusOr<std::shared_ptr<const Executable>> make() { return make({}); }
  static StatusOr<std::shared_ptr<const Executable>> make(Targets targets);
};

} // namespace dlc::test
