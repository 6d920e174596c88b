#include "memory/Packing.h"
#include <gtest/gtest.h>
#include <random>

using dlc::passes::Interval;
using dlc::passes::liveBound;
using dlc::passes::pack;
using dlc::passes::Packing;

static void expectApart(const std::vector<Interval> &intervals, const Packing &packing) {
  for (size_t i = 0; i < intervals.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      bool together = intervals[i].start <= intervals[j].end && intervals[j].start <= intervals[i].end;
      bool overlap = packing.offsets[i] < packing.offsets[j] + intervals[j].bytes &&
                     packing.offsets[j] < packing.offsets[i] + intervals[i].bytes;
      EXPECT_FALSE(together && overlap) << i << " and " << j;
    }
}

TEST(Packing, SharesBytesOfWhatIsNeverLiveTogether) {
  std::vector<Interval> intervals{{64, 0, 1}, {64, 2, 3}, {128, 1, 2}};
  Packing packing = pack(intervals);
  EXPECT_EQ(packing.bytes, 192);
  EXPECT_EQ(packing.offsets[0], packing.offsets[1]);
  expectApart(intervals, packing);
}

TEST(Packing, RoundsToSlots) {
  Packing packing = pack(std::vector<Interval>{{1, 0, 0}, {65, 0, 0}});
  EXPECT_EQ(packing.bytes, 64 + 128);
}

TEST(Packing, BoundNamesThePeak) {
  int64_t position = -1;
  EXPECT_EQ(liveBound(std::vector<Interval>{{64, 0, 5}, {64, 3, 4}, {128, 4, 9}}, &position), 256);
  EXPECT_EQ(position, 4);
}

TEST(Packing, RandomIntervalsNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<Interval> intervals;
    for (int i = 0; i < 80; ++i) {
      int64_t start = random() % 60;
      intervals.push_back({int64_t(random() % 4096), start, start + int64_t(random() % 12)});
    }
    Packing packing = pack(intervals);
    expectApart(intervals, packing);
    EXPECT_GE(packing.bytes, liveBound(intervals));
    EXPECT_LE(double(packing.bytes), 1.1 * double(liveBound(intervals)));
  }
}
