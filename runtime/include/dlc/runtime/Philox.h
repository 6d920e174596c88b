#pragma once

#include <array>
#include <cstdint>

namespace dlc {

/// Four independent uniform words.
using PhiloxWords = std::array<uint32_t, 4>;

/// Philox 4x32-10, a counter-based generator: a keyed bijection of the counter, so that any draw is computed by itself.
/// J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
constexpr PhiloxWords philox4x32(PhiloxWords counter, std::array<uint32_t, 2> key) {
  constexpr uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
  constexpr uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = multiplier0 * counter[0], product1 = multiplier1 * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
    key = {key[0] + weyl0, key[1] + weyl1};
  }
  return counter;
}

/// The draw of element `index` by the random operation `offset` under `seed`: key = seed, counter = (index, offset),
/// each as (low word, high word).
constexpr PhiloxWords philox(uint64_t seed, uint64_t offset, uint64_t index) {
  return philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32U), static_cast<uint32_t>(offset),
                     static_cast<uint32_t>(offset >> 32U)},
                    {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32U)});
}

/// The upper 24 bits as a multiple of 2^-24 in [0, 1), exact in f32.
constexpr float uniform01(uint32_t word) { return static_cast<float>(word >> 8U) * 0x1p-24F; }

/// The upper 53 bits of (high, low) as a multiple of 2^-53 in [0, 1), exact in f64.
constexpr double uniform01(uint32_t high, uint32_t low) {
  return static_cast<double>((static_cast<uint64_t>(high) << 32U | low) >> 11U) * 0x1p-53;
}

/// Two independent standard normal numbers by Box and Muller's formula in f64: radius from words 0 and 1, angle from
/// words 2 and 3.
std::array<double, 2> normalPair(const PhiloxWords &words);

} // namespace dlc
