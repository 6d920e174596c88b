#include "profile/Recorder.h"

#include "../../TestFile.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <thread>

using namespace dlc::runtime::profile;
using dlc::Status;
using dlc::test::readFile;
using dlc::test::TemporaryFolder;
using nlohmann::json;

namespace {

constexpr int64_t second = 1'000'000'000;

class Profile : public testing::Test {
protected:
  ~Profile() override { (void)stop(); }

  void begin() { ASSERT_TRUE(start(path).ok()); }
  json end() {
    Status status = stop();
    EXPECT_TRUE(status.ok()) << status.message();
    return json::parse(readFile(path));
  }
  /// Events with a duration.
  static std::vector<json> spans(const json &trace) {
    std::vector<json> found;
    for (const json &event : trace["traceEvents"])
      if (event["ph"] == "X")
        found.push_back(event);
    return found;
  }
  static std::string lineName(const json &trace, const json &span) {
    for (const json &event : trace["traceEvents"])
      if (event["name"] == "thread_name" && event["tid"] == span["tid"])
        return event["args"]["name"];
    return "none";
  }

  TemporaryFolder folder;
  std::string path = folder.file("trace.json");
};

TEST_F(Profile, RecordsNothingWhenOff) {
  {
    Span span(Category::Compute, "step");
  }
  record(Category::Wait, "wait", 0, second);
  begin();
  EXPECT_EQ(recorded().spans.size(), 0u);
  EXPECT_EQ(spans(end()).size(), 0u);
  EXPECT_TRUE(stop().ok()) << "when off";
}

TEST_F(Profile, ASpanThatStartedBeforeTheProfileIsNotInIt) {
  {
    Span span(Category::Compute, "step");
    begin();
  }
  EXPECT_EQ(recorded().spans.size(), 0u);
}

TEST_F(Profile, WritesChromeEvents) {
  begin();
  record(Category::Compute, "train \"step\"\n", 5'000'001, 7'500'000);
  record(Category::Communication, "bucket \xff", 6'000'000, 6'000'000, track("channel 1"));
  json trace = end();
  std::vector<json> found = spans(trace);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["name"], "train \"step\"\n");
  EXPECT_EQ(found[0]["cat"], "compute");
  EXPECT_EQ(found[0]["pid"], 0);
  EXPECT_DOUBLE_EQ(found[0]["ts"], 5000.001);
  EXPECT_DOUBLE_EQ(found[0]["dur"], 2499.999);
  EXPECT_EQ(found[1]["cat"], "communication");
  EXPECT_EQ(found[1]["dur"], 0);
  EXPECT_THAT(lineName(trace, found[0]), testing::StartsWith("thread "));
  EXPECT_EQ(lineName(trace, found[1]), "channel 1");
}

TEST_F(Profile, SummaryIsUnionsAndDifferences) {
  begin();
  Track first = track("channel 0"), other = track("channel 1");
  // Two calls; the first waits from 2 to 3 and, inside another wait, from 2.5 to 2.75; the second is wholly a wait.
  record(Category::Compute, "step", 0, 4 * second);
  record(Category::Wait, "outer", 2 * second, 3 * second);
  record(Category::Wait, "inner", 5 * second / 2, 11 * second / 4);
  record(Category::Compute, "step", 10 * second, 12 * second);
  record(Category::Wait, "all", 10 * second, 12 * second);
  // Together they cover 1 to 3 and 10 to 11.
  record(Category::Communication, "a", 1 * second, 5 * second / 2, first);
  record(Category::Communication, "b", 2 * second, 3 * second, other);
  record(Category::Communication, "c", 10 * second, 11 * second, first);
  Summary total = summary();
  EXPECT_EQ(total.calls, 2);
  EXPECT_DOUBLE_EQ(total.compute, 3);
  EXPECT_DOUBLE_EQ(total.communication, 3);
  EXPECT_DOUBLE_EQ(total.exposed, 3);
  EXPECT_EQ(total.str(), "2 calls, compute 3 s, communication 3 s, of it exposed 3 s");
  json other_ = end()["otherData"];
  EXPECT_EQ(other_["calls"], 2);
  EXPECT_DOUBLE_EQ(other_["computeSeconds"], 3);
  EXPECT_DOUBLE_EQ(other_["communicationSeconds"], 3);
  EXPECT_DOUBLE_EQ(other_["exposedSeconds"], 3);
  EXPECT_EQ(other_["worldSize"], 1);
}

TEST_F(Profile, OverlappingSpansOfATrackGetLinesOfTheirOwn) {
  begin();
  Track channel = track("channel 0");
  record(Category::Communication, "a", 0, 10, channel);
  record(Category::Communication, "inside a", 2, 10, channel);
  record(Category::Communication, "beside a", 5, 20, channel);
  record(Category::Communication, "after a", 10, 30, channel);
  json trace = end();
  std::vector<json> found = spans(trace);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0]["tid"], found[1]["tid"]);
  EXPECT_NE(found[0]["tid"], found[2]["tid"]);
  EXPECT_EQ(found[0]["tid"], found[3]["tid"]);
  EXPECT_EQ(lineName(trace, found[2]), "channel 0 (2)");
}

TEST_F(Profile, ThreadsHaveTracksAndOutliveThemselves) {
  begin();
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int call = 0; call < 100; ++call)
        Span span(Category::Compute, "step");
    });
  for (std::thread &thread : threads)
    thread.join();
  json trace = end();
  std::set<int> lines;
  for (const json &span : spans(trace))
    lines.insert(span["tid"].get<int>());
  EXPECT_EQ(spans(trace).size(), 400u);
  EXPECT_EQ(lines.size(), 4u);
}

TEST_F(Profile, KeepsTheLastSpans) {
  begin();
  for (size_t i = 0; i < kSpansKept + 3; ++i)
    record(Category::Compute, "step", int64_t(i), int64_t(i) + 1);
  Recording all = recorded();
  EXPECT_EQ(all.spans.size(), kSpansKept);
  EXPECT_EQ(all.spans.front().begin, 3);
  EXPECT_EQ(summary().lost, 3);
  EXPECT_THAT(summary().str(), testing::EndsWith("(without the oldest 3 spans)"));
  begin();
  EXPECT_EQ(recorded().spans.size(), 0u);
  EXPECT_EQ(summary().lost, 0);
}

TEST_F(Profile, LongNamesAreCutBetweenCharacters) {
  begin();
  std::string name(Recorded::kLongestName - 1, 'x');
  record(Category::Compute, name + "é", 0, 1);
  EXPECT_EQ(recorded().spans.at(0).name(), name);
}

TEST_F(Profile, EachRankHasAFile) {
  setRank(2, 4);
  begin();
  record(Category::Compute, "step", 0, 1);
  ASSERT_TRUE(stop().ok());
  json trace = json::parse(readFile(folder.file("trace.rank2.json")));
  EXPECT_EQ(spans(trace).at(0)["pid"], 2);
  EXPECT_EQ(trace["otherData"]["worldSize"], 4);
  ASSERT_TRUE(start(folder.file("no.dots.in/../trace")).code() == dlc::StatusCode::InvalidInput);
  ASSERT_TRUE(start(folder.path() + "/./trace").ok());
  ASSERT_TRUE(stop().ok());
  EXPECT_TRUE(std::filesystem::exists(folder.file("trace.rank2")));
  setRank(0, 1);
}

TEST_F(Profile, RefusesAPathThatCannotBeWritten) {
  Status status = start(folder.file("none/trace.json"));
  EXPECT_EQ(status.code(), dlc::StatusCode::InvalidInput);
  EXPECT_EQ(status.message(), folder.file("none/trace.json") + ": cannot write the trace: No such file or directory");
  EXPECT_FALSE(on());
  ASSERT_TRUE(start("/dev/full").ok());
  EXPECT_EQ(stop().message(), "/dev/full: cannot write the trace: No space left on device");
  EXPECT_FALSE(on());
}

} // namespace
