#include "Members.h"
#include "Values.h"

#include <thread>

namespace dlc::test {

namespace {

double seconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

} // namespace

TEST(EmulatedNetwork, IsReadFromText) {
  runtime::EmulatedNetwork network = *runtime::parseEmulatedNetwork("latency_us=50,gbps=1");
  EXPECT_DOUBLE_EQ(network.latencySeconds, 50e-6);
  EXPECT_DOUBLE_EQ(network.bytesPerSecond, 125e6);
  EXPECT_DOUBLE_EQ(runtime::parseEmulatedNetwork("gbps=0.5")->bytesPerSecond, 62.5e6);
  EXPECT_DOUBLE_EQ(runtime::parseEmulatedNetwork("latency_us=3")->bytesPerSecond, 0);
  for (const char *wrong :
       {"latency=1", "gbps", "gbps=", "gbps=0", "gbps=x", "latency_us=-1", "gbps=1x", "=", "gbps=nan"})
    EXPECT_EQ(runtime::parseEmulatedNetwork(wrong).status().code(), StatusCode::InvalidInput) << wrong;
}

// 4 members, 1 MB at 10 MB/s: 2 * 3/4 * 1 MB take 150 ms; a second one waits for the first.
TEST_P(Engine, AnEmulatedNetworkTakesItsTime) {
  CommunicatorOptions options = fixedOrder();
  options.network = {0.01, 10e6};
  runMembers(GetParam(), 4, options, [&](Communicator &end) {
    std::vector<float> values = valuesOf<float>(end.rank(), 250'000, 1);
    std::vector<float> others(250'000);
    ASSERT_TRUE(done(finish(end.barrier(op(0)))));
    auto start = std::chrono::steady_clock::now();
    WorkPtr first = end.allReduce(op(1), elements(values), Reduce::Sum).take();
    WorkPtr second = end.broadcast(op(2), elements(others), 0).take();
    EXPECT_LT(seconds(std::chrono::steady_clock::now() - start), 0.16);
    ASSERT_TRUE(done(first->wait(ample())));
    EXPECT_GE(seconds(std::chrono::steady_clock::now() - start), 0.16);
    ASSERT_TRUE(done(second->wait(ample())));
    EXPECT_GE(seconds(std::chrono::steady_clock::now() - start), 0.27);
    EXPECT_TRUE(sameBits(values, reducedOf<float>(Reduce::Sum, 4, 0, 250'000, 1)));
  });
}

TEST_P(Engine, AnEmulatedNetworkEndsWithAnAbort) {
  CommunicatorOptions options = fixedOrder();
  options.network = {100, 0};
  runMembers(GetParam(), 2, options, [&](Communicator &end) {
    WorkPtr work = end.barrier(op(0)).take();
    auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(failsWith(work->wait(in(0.05)), {"barrier #0"}));
    EXPECT_LT(seconds(std::chrono::steady_clock::now() - start), 1);
  });
}

} // namespace dlc::test
