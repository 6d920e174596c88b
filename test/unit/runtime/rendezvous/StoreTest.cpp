#include "StoreTest.h"

#include <gmock/gmock.h>

#include <set>
#include <thread>
#include <vector>

using namespace dlc;
using namespace dlc::runtime;
using namespace dlc::runtime::test;
using ::testing::HasSubstr;

TEST_P(StoreTest, AnotherViewSeesWhatWasSet) {
  ASSERT_TRUE(store->set("a/b", "one").ok());
  ASSERT_TRUE(store->set("a/b", std::string_view("t\0wo", 4)).ok());
  StatusOr<std::string> value = open()->get("a/b", within(5000));
  ASSERT_TRUE(value.ok()) << value.status().message();
  EXPECT_EQ(*value, std::string_view("t\0wo", 4));
}

TEST_P(StoreTest, GetWaitsUntilTheKeyIsThere) {
  std::thread later([this] {
    std::unique_ptr<Store> other = open();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(other->set("late", "").ok()); // an empty value is a value
  });
  StatusOr<std::string> value = store->get("late", within(10000));
  later.join();
  ASSERT_TRUE(value.ok()) << value.status().message();
  EXPECT_EQ(*value, "");
}

TEST_P(StoreTest, GetGivesUpAtTheDeadline) {
  auto start = std::chrono::steady_clock::now();
  StatusOr<std::string> value = store->get("never", within(100));
  auto waited = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(value.status().code(), StatusCode::LimitExceeded);
  EXPECT_THAT(value.status().message(), HasSubstr("'never'"));
  EXPECT_GE(waited, std::chrono::milliseconds(95));
  EXPECT_LT(waited, std::chrono::seconds(5));
  EXPECT_EQ(store->get("never", within(-1000)).status().code(), StatusCode::LimitExceeded);
  ASSERT_TRUE(store->set("never", "now").ok());
  EXPECT_TRUE(store->get("never", within(-1000)).ok()) << "a past deadline only looks";
}

TEST_P(StoreTest, WatchWaitsForAnotherValue) {
  ASSERT_TRUE(store->set("verdict", "old").ok());
  EXPECT_EQ(*store->watch("verdict", "", within(5000)), "old");
  EXPECT_EQ(store->watch("verdict", "old", within(50)).status().code(), StatusCode::LimitExceeded);
  EXPECT_EQ(store->watch("absent", "", within(50)).status().code(), StatusCode::LimitExceeded);
  std::thread later([this] { EXPECT_TRUE(open()->set("verdict", "new").ok()); });
  StatusOr<std::string> value = store->watch("verdict", "old", within(10000));
  later.join();
  ASSERT_TRUE(value.ok()) << value.status().message();
  EXPECT_EQ(*value, "new");
}

TEST_P(StoreTest, AddIsAtomic) {
  std::vector<std::thread> threads;
  std::vector<std::vector<int64_t>> sums(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this, i, &sums] {
      std::unique_ptr<Store> view = open();
      for (int k = 0; k < 25; ++k)
        if (StatusOr<int64_t> sum = view->add("count", 1); sum.ok())
          sums[i].push_back(*sum);
    });
  for (std::thread &thread : threads)
    thread.join();
  std::set<int64_t> all;
  for (const std::vector<int64_t> &some : sums)
    all.insert(some.begin(), some.end());
  EXPECT_EQ(all.size(), 100U);
  EXPECT_EQ(*all.rbegin(), 100);
  EXPECT_EQ(*store->add("count", -101), -1);
  EXPECT_EQ(*store->get("count", within(5000)), "-1");
}

TEST_P(StoreTest, AddRefusesWhatIsNoNumber) {
  ASSERT_TRUE(store->set("text", "12x").ok());
  EXPECT_THAT(store->add("text", 1).status().message(), HasSubstr("expects a number to add to, got '12x'"));
  ASSERT_TRUE(store->add("big", INT64_MAX).ok());
  EXPECT_EQ(store->add("big", 1).status().code(), StatusCode::InvalidInput);
  EXPECT_EQ(*store->add("big", -1), INT64_MAX - 1);
}

TEST_P(StoreTest, CompareSetLetsOneWin) {
  EXPECT_EQ(*store->compareSet("x", "absent", "a"), "");
  EXPECT_EQ(store->get("x", within(0)).status().code(), StatusCode::LimitExceeded);
  EXPECT_EQ(*store->compareSet("x", "", "a"), "a");
  EXPECT_EQ(*open()->compareSet("x", "", "b"), "a");
  EXPECT_EQ(*open()->compareSet("x", "a", "b"), "b");
}

TEST_P(StoreTest, LimitsHold) {
  EXPECT_EQ(store->set("", "v").code(), StatusCode::LimitExceeded);
  std::string longest(kLongestStoreKey, 'k');
  EXPECT_TRUE(store->set(longest, "v").ok());
  EXPECT_EQ(*store->get(longest, within(5000)), "v");
  EXPECT_EQ(store->set(longest + "k", "v").code(), StatusCode::LimitExceeded);
  EXPECT_EQ(store->get(longest + "k", within(0)).status().code(), StatusCode::LimitExceeded);
  std::string largest(kLongestStoreValue, 'v');
  ASSERT_TRUE(store->set("large", largest).ok());
  EXPECT_EQ(*store->get("large", within(5000)), largest);
  EXPECT_EQ(store->set("large", largest + "v").code(), StatusCode::LimitExceeded);
  EXPECT_EQ(store->compareSet("large2", "", largest + "v").status().code(), StatusCode::LimitExceeded);
}

TEST_P(StoreTest, AWaitDoesNotHoldUpOtherThreads) {
  std::thread waits([this] { EXPECT_TRUE(store->get("answer", within(10000)).ok()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(store->set("answer", "42").ok()); // the same view
  waits.join();
}

TEST_P(StoreTest, AValueForTheEndOfAViewComesWhenItIsGone) {
  if (GetParam().name == "memory")
    GTEST_SKIP() << "views of one process";
  std::unique_ptr<Store> other = open();
  ASSERT_TRUE(other->setWhenLost("life", "lost").ok());
  EXPECT_EQ(store->get("life", within(0)).status().code(), StatusCode::LimitExceeded);
  ASSERT_TRUE(other->set("life", "beats").ok());
  EXPECT_EQ(*store->get("life", within(5000)), "beats");
  std::thread ends([&] { other.reset(); });
  EXPECT_EQ(*store->watch("life", "beats", within(10000)), "lost");
  ends.join();
  EXPECT_EQ(*store->get("life", within(0)), "lost");
}

namespace {

/// Passes every call on to a store that several views share.
class View final : public Store {
public:
  explicit View(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  Status set(std::string_view key, std::string_view value) override { return store_->set(key, value); }
  StatusOr<std::string> get(std::string_view key, Deadline deadline) override { return store_->get(key, deadline); }
  StatusOr<std::string> watch(std::string_view key, std::string_view known, Deadline deadline) override {
    return store_->watch(key, known, deadline);
  }
  StatusOr<int64_t> add(std::string_view key, int64_t delta) override { return store_->add(key, delta); }
  StatusOr<std::string> compareSet(std::string_view key, std::string_view expected, std::string_view desired) override {
    return store_->compareSet(key, expected, desired);
  }
  Status setWhenLost(std::string_view key, std::string_view value) override { return store_->setWhenLost(key, value); }

private:
  std::shared_ptr<Store> store_;
};

std::function<std::unique_ptr<Store>()> viewsOfMemory() {
  std::shared_ptr<Store> store = createMemoryStore();
  return [store] { return std::make_unique<View>(store); };
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Memory, StoreTest, ::testing::Values(StoreKind{"memory", viewsOfMemory}));

TEST(MemoryStore, HoldsAtMostItsCapacity) {
  std::unique_ptr<Store> store = createMemoryStore();
  std::string value(kLongestStoreValue, 'v');
  for (int i = 0; i < 63; ++i)
    ASSERT_TRUE(store->set(std::to_string(i), value).ok());
  EXPECT_EQ(store->set("63", value).code(), StatusCode::LimitExceeded);
  EXPECT_TRUE(store->set("0", "").ok());
  EXPECT_TRUE(store->set("63", value).ok());
}
