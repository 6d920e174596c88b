#include "dlc/runtime/Data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
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

// Each sample once an epoch, whatever the sizes, with another batch size and another number of members after any batch.
TEST(Batches, MembersTogetherHaveEverySampleOnce) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    int64_t size = int64_t(random() % 23);
    BatchOptions options{.batchSize = 1 + int64_t(random() % 9), .shuffle = random() % 4 != 0, .seed = random()};
    Order given, expected = options.shuffle ? shuffledOrder(size, options.seed, 0) : upTo(size);
    std::unique_ptr<Batches> source = std::make_unique<Batches>(batches(size, options));
    int64_t members = 1 + int64_t(random() % 6);
    for (std::span<const int64_t> batch = source->next(); !batch.empty(); batch = source->next()) {
      int64_t next = 0;
      for (int64_t member = 0; member < members; ++member) {
        RowRange rows = memberRows(std::ssize(batch), member, members);
        ASSERT_EQ(rows.begin, next);
        ASSERT_TRUE(rows.size() >= 0 && rows.size() <= (std::ssize(batch) + members - 1) / members);
        next = rows.end;
        for (int64_t row = rows.begin; row < rows.end; ++row)
          given.push_back(batch[size_t(row)]);
      }
      ASSERT_EQ(next, std::ssize(batch));
      if (random() % 3 != 0)
        continue;
      StatusOr<BatchState> state = BatchState::parse(source->state().toJson());
      ASSERT_TRUE(state.ok()) << state.status().message();
      ASSERT_EQ(*state, source->state());
      members = 1 + int64_t(random() % 6);
      options.batchSize = 1 + int64_t(random() % 9);
      options.seed = random(); // the state's counts
      source = std::make_unique<Batches>(batches(size, options));
      ASSERT_TRUE(source->restore(*state).ok());
    }
    ASSERT_EQ(given, expected);
  }
}

TEST(Batches, MembersHaveBlocks) {
  auto rows = [](int64_t count, int64_t members) {
    std::vector<int64_t> ends;
    ends.reserve(static_cast<size_t>(members));
    for (int64_t member = 0; member < members; ++member)
      ends.push_back(memberRows(count, member, members).end);
    return ends;
  };
  EXPECT_EQ(rows(8, 4), (Order{2, 4, 6, 8}));
  EXPECT_EQ(rows(10, 4), (Order{3, 6, 9, 10}));
  EXPECT_EQ(rows(5, 4), (Order{2, 4, 5, 5}));
  EXPECT_EQ(rows(1, 3), (Order{1, 1, 1}));
  EXPECT_EQ(rows(0, 2), (Order{0, 0}));
  EXPECT_EQ(memberRows(INT64_MAX, 1, 2).end, INT64_MAX);
  // Whole leaves: 10 rows in 8 leaves of 2.
  EXPECT_EQ(memberRows(10, 0, 2, 8).end, 8);
  EXPECT_EQ(memberRows(10, 1, 2, 8).end, 10);
  EXPECT_EQ(memberRows(10, 0, 1, 8).end, 10);
  EXPECT_EQ(memberRows(10, 3, 4, 8).begin, 10);
}

// Dropped, not lost: what a smaller batch gives after the change is the rest of the epoch.
TEST(Batches, DropLastLooksAtTheBatchSizeOfNow) {
  Batches source = batches(10, {.batchSize = 4, .dropLast = true});
  source.next();
  source.next();
  Batches smaller = batches(10, {.batchSize = 2, .dropLast = true});
  ASSERT_TRUE(smaller.restore(source.state()).ok());
  EXPECT_EQ(restOfEpoch(smaller), (std::vector<Order>{{8, 9}}));
}

TEST(BatchState, IsCheckedWhenRead) {
  BatchState state{UINT64_MAX, 3, 7, 10, UINT64_MAX - 1};
  EXPECT_EQ(BatchState::parse(state.toJson()).value(), state);
  EXPECT_EQ(BatchState::parse("[]").status().message(), "loader state: expected a JSON object");
  for (const char *text : {R"({})", R"({"seed":-1,"epoch":0,"consumed":0,"size":0,"fingerprint":0})",
                           R"({"seed":1,"epoch":0,"consumed":9223372036854775808,"size":0,"fingerprint":0})",
                           R"({"seed":1,"epoch":0.5,"consumed":0,"size":0,"fingerprint":0})",
                           R"({"seed":1,"epoch":"0","consumed":0,"size":0,"fingerprint":0})"})
    EXPECT_EQ(BatchState::parse(text).status().message(),
              "loader state: expected whole numbers >= 0 as seed, epoch, consumed, size and fingerprint");
}

TEST(BatchState, KnowsItsDataSet) {
  std::vector<float> values(1001, 1.0F);
  auto of = [&](DType dtype, std::vector<int64_t> shape) {
    TensorView view{"x", dtype, std::move(shape), values.data()};
    return fingerprintOf({&view, 1});
  };
  uint64_t known = of(DType::F32, {1001});
  EXPECT_EQ(of(DType::F32, {1001}), known);
  std::set<uint64_t> all = {known, of(DType::I32, {1001}), of(DType::F32, {7, 143}), of(DType::F32, {1000}), 0};
  for (size_t i : {size_t{0}, size_t{500}, size_t{1000}}) {
    values[i] = 2;
    all.insert(of(DType::F32, {1001}));
    values[i] = 1;
  }
  EXPECT_EQ(all.size(), 8U);
  Batches source = batches(10, {.fingerprint = 5});
  EXPECT_TRUE(source.restore({.size = 10, .fingerprint = 5}).ok());
  EXPECT_TRUE(source.restore({.size = 10}).ok()) << "not known";
  EXPECT_EQ(source.restore({.size = 10, .fingerprint = 6}).message(),
            "expected the loader state of this data set, found one of another with as many samples (their content "
            "differs)");
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
