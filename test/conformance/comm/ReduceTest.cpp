#include "Members.h"
#include "Values.h"

#include <cmath>
#include <limits>

namespace dlc::test {

namespace {

template <typename T>
std::vector<Reduce> reductionsOf() {
  if constexpr (std::is_same_v<T, Bit>)
    return {Reduce::Max, Reduce::Min};
  return {Reduce::Sum, Reduce::Max, Reduce::Min};
}

/// Calls `body(value, count, reduce, seed)` for each type, size and reduction.
template <typename Body>
void forEachReduction(Body body) {
  uint64_t seed = 0;
  forEachType([&](auto value) {
    for (int64_t count : sizes())
      for (Reduce reduce : reductionsOf<decltype(value)>())
        body(value, count, reduce, ++seed);
  });
}

} // namespace

TEST_P(EngineOfSize, AllReduceIsTheSerialTree) {
  runMembers(engine(), size(), [&](Communicator &end) {
    forEachReduction([&](auto value, int64_t count, Reduce reduce, uint64_t seed) {
      using T = decltype(value);
      std::vector<T> values = valuesOf<T>(end.rank(), count, seed);
      ASSERT_TRUE(done(finish(end.allReduce(op(uint32_t(seed)), elements(values), reduce))));
      EXPECT_TRUE(sameBits(values, reducedOf<T>(reduce, size(), 0, count, seed)))
          << name(kType<T>) << " x " << count << ", reduction " << int(reduce);
    });
  });
}

TEST_P(EngineOfSize, ReduceScatterIsTheSerialTree) {
  runMembers(engine(), size(), [&](Communicator &end) {
    forEachReduction([&](auto value, int64_t count, Reduce reduce, uint64_t seed) {
      using T = decltype(value);
      std::vector<T> given = valuesOf<T>(end.rank(), count * size(), seed), values = given, part;
      std::vector<T> expected = reducedOf<T>(reduce, size(), count * end.rank(), count, seed);
      part.resize(size_t(count));
      ASSERT_TRUE(done(finish(end.reduceScatter(op(uint32_t(seed)), elements(values), elements(part), reduce))));
      EXPECT_TRUE(sameBits(part, expected)) << name(kType<T>) << " x " << count << ", reduction " << int(reduce);
      EXPECT_TRUE(sameBits(values, given)) << "the input changed";
      Elements own{values.data() + count * end.rank(), count, kType<T>};
      ASSERT_TRUE(done(finish(end.reduceScatter(op(uint32_t(seed)), elements(values), own, reduce))));
      part.assign(values.begin() + count * end.rank(), values.begin() + count * (end.rank() + 1));
      EXPECT_TRUE(sameBits(part, expected)) << name(kType<T>) << " x " << count << " in place";
    });
  });
}

// Without a fixed order: all members have the same bits; integers are exact, and floating-point sums as near to the
// exact one as any order of n - 1 additions, each off by half a unit in the last place.
TEST_P(EngineOfSize, AnyOrderGivesAllMembersTheSameBits) {
  runMembers(engine(), size(), CommunicatorOptions(), [&](Communicator &end) {
    forEachReduction([&](auto value, int64_t count, Reduce reduce, uint64_t seed) {
      using T = decltype(value);
      std::vector<T> values = valuesOf<T>(end.rank(), count, seed), all(size_t(count * size()));
      ASSERT_TRUE(done(finish(end.allReduce(op(uint32_t(seed)), elements(values), reduce))));
      ASSERT_TRUE(done(finish(end.allGather(op(uint32_t(seed)), elements(values), elements(all)))));
      for (int m = 0; m < size(); ++m)
        EXPECT_TRUE(sameBits(values, {all.begin() + m * count, all.begin() + (m + 1) * count}))
            << name(kType<T>) << " x " << count << ", reduction " << int(reduce) << ", member " << m;
      if constexpr (std::is_floating_point_v<T>) {
        for (int64_t i = 0; reduce == Reduce::Sum && i < count; ++i) {
          long double sum = 0, sizes = 0;
          for (int m = 0; m < size(); ++m) {
            sum += valueOf<T>(m, i, seed);
            sizes += std::fabs(valueOf<T>(m, i, seed));
          }
          ASSERT_LE(std::fabs(values[size_t(i)] - sum), (size() - 1) * sizes * std::numeric_limits<T>::epsilon())
              << "element " << i << " of " << count;
        }
      }
      if (!std::is_floating_point_v<T> || reduce != Reduce::Sum) {
        EXPECT_TRUE(sameBits(values, reducedOf<T>(reduce, size(), 0, count, seed))) << name(kType<T>) << " x " << count;
      }
    });
  });
}

// More than engines move at a time, to no even border.
TEST_P(EngineOfSize, LargeOnesAreTheSerialTree) {
  constexpr int64_t kCount = 300'001;
  runMembers(engine(), size(), [&](Communicator &end) {
    std::vector<float> values = valuesOf<float>(end.rank(), kCount, 9), small = valuesOf<float>(end.rank(), 10, 8);
    WorkPtr first = end.allReduce(op(0), elements(values), Reduce::Sum).take();
    ASSERT_TRUE(done(finish(end.allReduce(op(1), elements(small), Reduce::Sum))));
    ASSERT_TRUE(done(first->wait(ample())));
    EXPECT_TRUE(sameBits(values, reducedOf<float>(Reduce::Sum, size(), 0, kCount, 9)));
    EXPECT_TRUE(sameBits(small, reducedOf<float>(Reduce::Sum, size(), 0, 10, 8)));
  });
}

// NaN of any member wins, -0 is below +0, whatever the order.
TEST_P(EngineOfSize, MaxAndMinOfSpecialValues) {
  float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  auto member = [&](Communicator &end) {
    bool last = end.rank() == size() - 1;
    for (Reduce reduce : {Reduce::Max, Reduce::Min})
      for (bool first : {false, true}) {
        bool special = first ? end.rank() == 0 : last;
        std::vector<float> values = special ? std::vector<float>{nan, -0.0F, 0.0F, -infinity, 2}
                                            : std::vector<float>{1, 0.0F, -0.0F, infinity, -3};
        ASSERT_TRUE(done(finish(end.allReduce(op(0), elements(values), reduce))));
        bool max = reduce == Reduce::Max;
        EXPECT_TRUE(std::isnan(values[0]));
        if (size() == 1)
          continue;
        EXPECT_EQ(std::signbit(values[1]), !max);
        EXPECT_EQ(std::signbit(values[2]), !max);
        EXPECT_EQ(values[3], max ? infinity : -infinity);
        EXPECT_EQ(values[4], max ? 2 : -3);
      }
  };
  runMembers(engine(), size(), fixedOrder(), member);
  runMembers(engine(), size(), CommunicatorOptions(), member);
}

INSTANTIATE_TEST_SUITE_P(
    On, EngineOfSize,
    testing::Combine(testing::ValuesIn(engines()),
                     testing::ValuesIn(slow() ? std::vector<int>{1, 2, 3, 4, 8} : std::vector<int>{1, 2, 3, 4})),
    [](const auto &info) { return std::get<0>(info.param) + "_" + std::to_string(std::get<1>(info.param)); });
INSTANTIATE_TEST_SUITE_P(On, Engine, testing::ValuesIn(engines()), [](const auto &info) { return info.param; });

} // namespace dlc::test
