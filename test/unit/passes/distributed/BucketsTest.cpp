#include "distributed/Buckets.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace dlc::passes;

namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr Link kLink = {200e-6, 1e9};

using Ends = std::vector<size_t>;

TEST(Buckets, BySizeTheFirstIsFullAtOneMiB) {
  std::vector<BucketItem> items(8, {kMiB / 2, 0});
  EXPECT_EQ(cutBySize(items, 2 * kMiB), (Ends{2, 6, 8}));
  EXPECT_EQ(cutBySize(items, kMiB / 4), (Ends{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(cutBySize(items, 100 * kMiB), (Ends{2, 8}));
  EXPECT_EQ(cutBySize({}, kMiB), Ends());
  EXPECT_EQ(cutBySize({{9 * kMiB, 0}}, kMiB), Ends{1});
}

/// When the last bucket is reduced: each starts when it is ready and the one before is done.
double endOf(const std::vector<BucketItem> &items, const Ends &ends) {
  double at = 0;
  size_t item = 0;
  for (size_t end : ends) {
    double bytes = 0;
    for (; item < end; ++item) {
      bytes += double(items[item].bytes);
      at = std::max(at, items[item].ready);
    }
    at += 200e-6 + bytes / 1e9;
  }
  return at;
}

TEST(Buckets, ByModelNoOtherCutsEndEarlier) {
  std::vector<BucketItem> items;
  for (int i = 0; i < 9; ++i)
    items.push_back({(i * 7 % 5 + 1) * kMiB / 4, i * 1e-3 + (i % 3) * 2e-4});
  double best = 1;
  for (unsigned cuts = 0; cuts < 256; ++cuts) {
    Ends ends;
    for (size_t i = 1; i < items.size(); ++i)
      if (cuts >> (i - 1) & 1)
        ends.push_back(i);
    ends.push_back(items.size());
    best = std::min(best, endOf(items, ends));
  }
  Ends ends = cutByModel(items, kLink);
  EXPECT_EQ(ends.back(), items.size());
  EXPECT_NEAR(endOf(items, ends), best, 1e-12);
}

TEST(Buckets, ByModelSmallOnesThatAreReadyTogetherAreOne) {
  EXPECT_EQ(cutByModel(std::vector<BucketItem>(20, {1000, 1e-3}), kLink), Ends{20});
  EXPECT_EQ(cutByModel({}, kLink), Ends());
}

// A bias that is ready before its weight is no bucket of its own.
TEST(Buckets, ByModelWhatIsSmallGoesWithItsNeighbour) {
  std::vector<BucketItem> items;
  for (int i = 0; i < 4; ++i) {
    items.push_back({2048, 4e-3 * i});
    items.push_back({kMiB, 4e-3 * i + 2e-3});
  }
  EXPECT_EQ(cutByModel(items, kLink), (Ends{2, 4, 6, 8}));
}

// The slower the link and the cheaper a start, the smaller are buckets.
TEST(Buckets, ByModelTheLinkDecides) {
  std::vector<BucketItem> items(6, {20'000, 0});
  for (int i = 0; i < 6; ++i)
    items[size_t(i)].ready = 1e-3 * i;
  EXPECT_EQ(cutByModel(items, kLink), Ends{6});
  EXPECT_EQ(cutByModel(items, {100e-6, 50e6}), (Ends{1, 2, 3, 4, 5, 6}));
}

// What is ready long before the rest is reduced meanwhile.
TEST(Buckets, ByModelLayersOverlapTheNext) {
  std::vector<BucketItem> layers;
  for (int i = 0; i < 8; ++i)
    layers.push_back({kMiB, 2e-3 * (i + 1)});
  Ends ends = cutByModel(layers, kLink);
  EXPECT_EQ(ends[ends.size() - 2], 7U); // only the last layer's is exposed
  EXPECT_NEAR(endOf(layers, ends), 16e-3 + 200e-6 + kMiB / 1e9, 1e-9);
}

} // namespace
