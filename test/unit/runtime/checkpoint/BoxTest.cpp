#include "checkpoint/Box.h"
#include "checkpoint/Deal.h"

#include <gmock/gmock.h>

#include <numeric>
#include <random>

using namespace dlc;
using namespace dlc::runtime;
using testing::HasSubstr;

namespace {

std::string coverage(std::vector<int64_t> shape, std::vector<Box> boxes) {
  return checkCoverage(shape, std::move(boxes)).message();
}

TEST(Box, CoverageIsExact) {
  EXPECT_EQ(coverage({4}, {{{0}, {2}}, {{2}, {2}}}), "");
  EXPECT_EQ(coverage({4}, {{{2}, {2}}, {{0}, {2}}, {{3}, {0}}}), "");
  EXPECT_EQ(coverage({}, {{{}, {}}}), "");
  EXPECT_EQ(coverage({0, 3}, {}), "");
  EXPECT_EQ(coverage({2, 2}, {{{0, 0}, {1, 2}}, {{1, 0}, {1, 1}}, {{1, 1}, {1, 1}}}), "");
  EXPECT_EQ(coverage({4}, {{{0}, {2}}, {{2}, {1}}}), "has a hole: its pieces hold 3 of 4 elements");
  EXPECT_EQ(coverage({}, {}), "has a hole: its pieces hold 0 of 1 elements");
  EXPECT_EQ(coverage({}, {{{}, {}}, {{}, {}}}), "has pieces that overlap: [] and []");
  // As many elements as the whole, but one twice and one not at all.
  EXPECT_EQ(coverage({2, 2}, {{{0, 0}, {2, 1}}, {{0, 0}, {1, 1}}, {{1, 1}, {1, 1}}}),
            "has pieces that overlap: [0:2, 0:1] and [0:1, 0:1]");
  EXPECT_EQ(coverage({4}, {{{1}, {4}}}), "has a piece that is not inside");
  EXPECT_EQ(coverage({4}, {{{-1}, {2}}}), "has a piece that is not inside");
  EXPECT_EQ(coverage({4}, {{{INT64_MAX}, {INT64_MAX}}}), "has a piece that is not inside");
  EXPECT_EQ(coverage({4}, {{{0, 0}, {4, 1}}}), "has a piece that is not inside");
  EXPECT_THAT(coverage({5000}, std::vector<Box>(5000, Box{{0}, {1}})), HasSubstr("more than 4096"));
}

// Each tensor is covered once, whatever the sizes; and members write about the same number of bytes.
TEST(Deal, CoversAndBalances) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    int members = 1 + int(random() % 9);
    std::vector<CheckpointTensor> tensors;
    int64_t total = 0, largestRow = 0;
    for (unsigned i = 0, count = random() % 12; i < count; ++i) {
      std::vector<int64_t> shape;
      for (unsigned d = 0, rank = random() % 4; d < rank; ++d)
        shape.push_back(int64_t(random() % (round % 2 ? 100 : 6)));
      CheckpointTensor tensor{
          "t" + std::to_string(i), "parameter", random() % 2 ? DType::F64 : DType::I8, shape, {}, {}};
      if (random() % 5 == 0)
        tensor.start = tensor.extent = shape; // not replicated
      int64_t bytes = Box::whole(shape).volume() * byteSize(tensor.dtype);
      if (isReplicated(tensor)) {
        total += bytes;
        largestRow = std::max(largestRow, bytes <= 65536 || shape[0] < 2 ? bytes : bytes / shape[0]);
      }
      tensors.push_back(tensor);
    }
    std::vector<std::vector<Box>> boxes(tensors.size());
    std::vector<int64_t> bytes(size_t(members), 0);
    for (const Dealt &dealt : dealOut(tensors, members)) {
      ASSERT_TRUE(dealt.member >= 0 && dealt.member < members);
      boxes[dealt.tensor].push_back(dealt.box);
      bytes[size_t(dealt.member)] += dealt.box.volume() * byteSize(tensors[dealt.tensor].dtype);
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (isReplicated(tensors[i]))
        EXPECT_EQ(coverage(tensors[i].shape, boxes[i]), "");
      else
        EXPECT_TRUE(boxes[i].empty());
    }
    EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), int64_t{0}), total);
    // A border lies at most half of what is not cut away from its ideal place.
    for (int64_t own : bytes)
      EXPECT_LE(own, total / members + largestRow + 1);
  }
}

TEST(Deal, LargeTensorsAreCutAtRows) {
  std::vector<CheckpointTensor> tensors = {{"w", "parameter", DType::F32, {10, 16384}, {}, {}}};
  std::vector<Dealt> dealt = dealOut(tensors, 4);
  ASSERT_EQ(dealt.size(), 4u);
  EXPECT_EQ(dealt[0].box, (Box{{0, 0}, {3, 16384}})); // 2.5 rows each, rounded up
  EXPECT_EQ(dealt[1].box, (Box{{3, 0}, {2, 16384}}));
  EXPECT_EQ(dealt[2].box, (Box{{5, 0}, {3, 16384}}));
  EXPECT_EQ(dealt[3].box, (Box{{8, 0}, {2, 16384}}));
}

} // namespace
