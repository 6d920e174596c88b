#include "dlc/runtime/Philox.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace dlc;

// The known answers that come with the paper's reference implementation (Random123, kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (PhiloxWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (PhiloxWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, CounterIsIndexThenOffset) {
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
            (PhiloxWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformBounds) {
  EXPECT_EQ(uniform01(0), 0.0F);
  EXPECT_EQ(uniform01(0xffffffff), 1.0F - 0x1p-24F);
  EXPECT_EQ(uniform01(0x80000000), 0.5F);
  EXPECT_EQ(uniform01(0, 0), 0.0);
  EXPECT_EQ(uniform01(0xffffffff, 0xffffffff), 1.0 - 0x1p-53);
}

TEST(Philox, NormalIsFiniteAtTheEnds) {
  EXPECT_EQ(normalPair({0, 0, 0, 0})[0], 0.0); // radius of probability 1
  std::array<double, 2> farthest = normalPair({0xffffffff, 0xffffffff, 0, 0});
  EXPECT_NEAR(farthest[0], std::sqrt(2 * 53 * std::log(2.0)), 1e-12);
  EXPECT_EQ(farthest[1], 0.0);
}
