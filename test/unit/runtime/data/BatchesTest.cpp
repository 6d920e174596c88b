#include "dlc/runtime/Data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace dlc;
using Order = std::vector<int64_t>;

namespace {

Batches batches(int64_t size, const BatchOptions &options) { return Batches::create(size, options).take(); }

/// All batches up to the end of the epoch.
std::vector<Order> restOfEpoch(Batches &source) {
  std::vector<Order> result;
  for (std::span<const int64_t> batch = source.next(); !batch.empty(); batch = source.next())
    result.emplace_back(batch.begin(), batch.end());
  return result;
}

Order joined(const std::vector<Order> &parts) {
  Order all;
  for (const Order &part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

Order upTo(int64_t size) {
  Order all(static_cast<size_t>(size));
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

} // namespace

TEST(Batches, DATA_01_OrderDiffersByEpochAndRepeats) {
  BatchOptions options{.batchSize = 4, .shuffle = true};
  Batches first = batches(8, options), second = batches(8, options);
  std::set<Order> seen;
  for (int epoch = 0; epoch < 4; ++epoch) {
    Order order = joined(restOfEpoch(first));
    EXPECT_THAT(order, testing::UnorderedElementsAreArray(upTo(8)));
    EXPECT_EQ(order, joined(restOfEpoch(second)));
    EXPECT_EQ(order, shuffledOrder(8, 0, static_cast<uint64_t>(epoch)));
    seen.insert(order);
  }
  EXPECT_EQ(seen.size(), 4U);
  EXPECT_NE(shuffledOrder(8, 1, 0), shuffledOrder(8, 0, 0));
  Batches resumed = batches(8, options);
  resumed.startEpoch(1);
  EXPECT_EQ(joined(restOfEpoch(resumed)), shuffledOrder(8, 0, 1));
}

TEST(Batches, ResumesAtTheSample) {
  BatchOptions options{.batchSize = 3, .shuffle = true, .seed = 5};
  Batches original = batches(10, options);
  restOfEpoch(original);
  original.next();
  BatchState state = original.state();
  EXPECT_EQ(state.epoch, 1U);
  EXPECT_EQ(state.consumed, 3);
  std::vector<Order> rest = restOfEpoch(original), following = restOfEpoch(original);
  Batches same = batches(10, {.batchSize = 3, .shuffle = true});
  ASSERT_TRUE(same.restore(state).ok());
  EXPECT_EQ(restOfEpoch(same), rest);
  EXPECT_EQ(restOfEpoch(same), following);
  Batches larger = batches(10, {.batchSize = 5, .shuffle = true});
  ASSERT_TRUE(larger.restore(state).ok());
  EXPECT_EQ(joined(restOfEpoch(larger)), joined(rest));
}

TEST(Batches, ResumesAtTheEndOfAnEpoch) {
  BatchOptions options{.batchSize = 5, .shuffle = true};
  Batches original = batches(10, options), resumed = batches(10, options);
  original.next();
  original.next();
  ASSERT_TRUE(resumed.restore(original.state()).ok());
  EXPECT_TRUE(resumed.next().empty());
  EXPECT_EQ(joined(restOfEpoch(resumed)), shuffledOrder(10, 0, 1));
}

TEST(Batches, LastBatchIsShortOrDropped) {
  Batches all = batches(10, {.batchSize = 4});
  EXPECT_EQ(all.batchesPerEpoch(), 3);
  EXPECT_EQ(restOfEpoch(all), (std::vector<Order>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
  Batches whole = batches(10, {.batchSize = 4, .dropLast = true});
  EXPECT_EQ(whole.batchesPerEpoch(), 2);
  EXPECT_EQ(restOfEpoch(whole), (std::vector<Order>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(whole.state().epoch, 1U);
  Batches even = batches(8, {.batchSize = 4, .dropLast = true});
  EXPECT_EQ(even.batchesPerEpoch(), 2);
  EXPECT_EQ(restOfEpoch(even).size(), 2U);
  Batches none = batches(0, {.batchSize = 4, .shuffle = true});
  EXPECT_EQ(none.batchesPerEpoch(), 0);
  EXPECT_TRUE(none.next().empty());
}

TEST(Batches, RefusesBadNumbers) {
  EXPECT_EQ(Batches::create(10, {.batchSize = 0}).status().message(), "expected a batch size > 0, found 0");
  EXPECT_EQ(Batches::create(-1, {}).status().message(), "expected a data set size >= 0, found -1");
  Batches source = batches(10, {});
  EXPECT_EQ(source.restore({.size = 9}).message(),
            "expected the loader state of a data set of 10 samples, found one of 9");
  EXPECT_EQ(source.restore({.consumed = 11, .size = 10}).message(), "expected 0 to 10 samples consumed, found 11");
}

// Chi-squared over all 24 orders of 4 samples; 23 degrees of freedom exceed 58 with probability 7e-5.
TEST(ShuffledOrder, AllOrdersAreEquallyLikely) {
  constexpr int epochs = 24000;
  std::map<Order, int> counts;
  for (uint64_t epoch = 0; epoch < epochs; ++epoch)
    ++counts[shuffledOrder(4, 3, epoch)];
  ASSERT_EQ(counts.size(), 24U);
  double statistic = 0;
  for (const auto &[order, count] : counts)
    statistic += (count - epochs / 24.0) * (count - epochs / 24.0) / (epochs / 24.0);
  EXPECT_LT(statistic, 58);
  EXPECT_TRUE(shuffledOrder(0, 0, 0).empty());
  EXPECT_EQ(shuffledOrder(1, 0, 0), Order{0});
}

// From the definition, written again in Python: a saved loader state means the same order in every version.
TEST(ShuffledOrder, StaysAsDefined) {
  EXPECT_EQ(shuffledOrder(8, 0, 0), (Order{3, 4, 5, 1, 6, 0, 7, 2}));
  EXPECT_EQ(shuffledOrder(8, 0, 1), (Order{1, 7, 4, 6, 2, 3, 5, 0}));
  EXPECT_EQ(shuffledOrder(8, uint64_t{1} << 40U, 5), (Order{1, 7, 2, 3, 0, 4, 5, 6}));
}
