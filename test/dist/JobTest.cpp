#include "dlc/runtime/Job.h"
#include "../unit/TestFile.h"
#include "MeshProgram.h"
#include "dlc/runtime/Fill.h"
#include "dlc/runtime/Profile.h"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>

using testing::HasSubstr;
using testing::StartsWith;

namespace dlc::test {

namespace {

using runtime::Contract;
using runtime::Job;

testing::AssertionResult done(const Status &status) {
  return status.ok() ? testing::AssertionSuccess() : testing::AssertionFailure() << status.message();
}

std::unique_ptr<Job> jobOn(const std::string &devices) {
  if (devices.starts_with("cuda")) { // by the library that stands in for NVIDIA's
    setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 0);
    setenv("DLCFAKE_DEVICES", "4", 0);
  }
  auto job = Job::join(Contract(), {.devices = runtime::parseDevices(devices).take(), .seed = 3});
  EXPECT_TRUE(done(job.status()));
  return job.take();
}

/// Arguments and results of a step on all members.
struct Step {
  explicit Step(const MeshProgram &program)
      : x(size_t(program.members)), y(x.size()), index(x.size(), -1), arguments(x.size()), results(x.size()) {
    for (size_t m = 0; m < x.size(); ++m) {
      x[m].resize(size_t(program.count));
      std::iota(x[m].begin(), x[m].end(), float(1000 * m));
      y[m].resize(size_t(program.members * program.count), -1);
      arguments[m] = {{x[m].data(), 4 * program.count}};
      results[m] = {{y[m].data(), 4 * program.members * program.count}, {&index[m], 8}};
    }
  }
  std::vector<std::vector<float>> x, y;
  std::vector<int64_t> index;
  std::vector<std::vector<DlcBuffer>> arguments, results;
};

struct JobOn : testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(, JobOn,
                         testing::Values("cpu:1", "cpu:2", "cpu:3", "cpu:4", "sim:2", "sim:4", "cuda:1", "cuda:2",
                                         "cuda:4"),
                         [](const auto &info) {
                           std::string name = info.param;
                           return name.replace(name.find(':'), 1, "_");
                         });

TEST_P(JobOn, MembersComputeTogether) {
  std::unique_ptr<Job> job = jobOn(GetParam());
  MeshProgram program{.members = job->members()};
  auto programs = job->attach(program.make().take());
  ASSERT_TRUE(done(programs.status()));
  Step step(program);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(done(job->call(*programs, MeshProgram::kStep, step.arguments, step.results)));
  int n = job->members();
  for (int m = 0; m < n; ++m) {
    EXPECT_EQ(step.index[size_t(m)], m);
    std::vector<float> w(size_t(program.count));
    ASSERT_TRUE(done(job->session(m).read("w", std::as_writable_bytes(std::span(w)))));
    for (int64_t i = 0; i < program.count; ++i)
      ASSERT_EQ(w[size_t(i)], 500.0F * float(n * (n - 1)) + float(n * i));
    for (int64_t i = 0; i < n * program.count; ++i)
      ASSERT_EQ(step.y[size_t(m)][size_t(i)], step.x[size_t(i / program.count)][size_t(i % program.count)]);
  }
  EXPECT_TRUE(done(job->leave()));
}

TEST_P(JobOn, CoordinatesAreNoState) {
  std::unique_ptr<Job> job = jobOn(GetParam());
  MeshProgram program{.members = job->members()};
  ASSERT_TRUE(done(job->attach(program.make().take()).status()));
  EXPECT_EQ(job->session().find("mesh.data"), nullptr);
  EXPECT_EQ(job->session().variables().size(), 1U);
}

// The others wait for the collective that the failing member never comes to.
TEST_P(JobOn, AFailingMemberFailsAll) {
  std::unique_ptr<Job> job = jobOn(GetParam());
  MeshProgram program{.members = job->members()};
  auto programs = job->attach(program.make().take());
  ASSERT_TRUE(done(programs.status()));
  Step step(program);
  size_t last = size_t(job->members() - 1);
  Status status = job->forEachMember([&](int m) {
    if (size_t(m) == last)
      return (*programs)[last]->call(MeshProgram::kBroken, {}, {});
    Status failed =
        (*programs)[size_t(m)]->call(MeshProgram::kStep, step.arguments[size_t(m)], step.results[size_t(m)]);
    EXPECT_EQ(failed.code(), StatusCode::PeerFailed);
    return failed;
  });
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(job->failure().ok());
  EXPECT_EQ(job->call(*programs, MeshProgram::kStep, step.arguments, step.results).message(), job->failure().message());
}

// Its name is in the reason, also where others fail first, of it.
TEST_P(JobOn, TheFailureOfAllIsTheFirstOnes) {
  std::unique_ptr<Job> job = jobOn(GetParam());
  if (job->members() == 1)
    return;
  Status status = job->forEachMember([&](int m) -> Status {
    if (m == 1)
      return {StatusCode::InvalidInput, "no such file"};
    auto world = job->world(m);
    if (!world.ok())
      return world.status();
    runtime::Op op{.id = {.index = 7}, .label = "barrier of the test"};
    return job->wait(m, (*world)->barrier(op));
  });
  EXPECT_EQ(status.code(), StatusCode::InvalidInput);
  EXPECT_EQ(status.message(), job->memberName(1) + ": no such file");
  EXPECT_THAT(job->failure().message(), StartsWith(job->memberName(1) + " failed: no such file"));
}

// A thread cannot be ended: the others are told who it is, and the call returns with it.
TEST(Job, AStuckMemberIsNamed) {
  Contract contract;
  contract.timeout = std::chrono::milliseconds(2500);
  auto job = Job::join(contract, {.devices = runtime::parseDevices("cpu:3").take()}).take();
  MeshProgram program{.members = 3};
  auto programs = job->attach(program.make().take());
  ASSERT_TRUE(done(programs.status()));
  Step step(program);
  std::atomic<int> waiting = 2;
  std::array<std::string, 3> reasons;
  Status status = job->forEachMember([&](int m) {
    while (m == 1 && waiting)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    size_t i = size_t(m);
    Status failed = (*programs)[i]->call(MeshProgram::kStep, step.arguments[i], step.results[i]);
    reasons[i] = failed.message();
    --waiting;
    return failed;
  });
  EXPECT_EQ(status.code(), StatusCode::PeerFailed);
  for (const std::string &reason : reasons)
    EXPECT_THAT(reason, HasSubstr("), cpu:1 is slow or stuck: for "));
}

// What it was in, and what it had done; and all of it in a file, with an operation a line.
TEST(Job, AFailureShowsTheLastCollectives) {
  TemporaryFolder folder;
  std::string records = folder.file("records");
  ASSERT_EQ(::setenv("DLC_FLIGHT_RECORDER", records.c_str(), 1), 0);
  std::unique_ptr<Job> job = jobOn("cpu:2");
  Status status = job->forEachMember([&](int m) -> Status {
    auto world = job->world(m);
    if (!world.ok())
      return world.status();
    for (uint32_t i = 0; i < 70; ++i) {
      runtime::Op op{.id = {.executable = 1, .index = i, .step = 9}, .label = i == 69 ? "the \"last\" one" : ""};
      if (m == 1 && i == 69)
        return {StatusCode::InvalidInput, "enough"};
      if (Status failed = job->wait(m, (*world)->barrier(op)); !failed.ok())
        return failed;
    }
    return {};
  });
  ASSERT_EQ(::unsetenv("DLC_FLIGHT_RECORDER"), 0);
  EXPECT_FALSE(status.ok());
  std::string message = job->failure().message(), text = readFile(records + "/rank0.json");
  EXPECT_THAT(message, HasSubstr("\n  last collectives of this rank: " + records + "/rank0.json"));
  EXPECT_THAT(text, HasSubstr("\"executable\":1,\"index\":68,"));
  EXPECT_THAT(text, Not(HasSubstr("\"index\":4,"))); // 64 are kept, of 69 or 70
  EXPECT_THAT(text, HasSubstr("\"index\":6,"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + 2 + 2 * 64);
}

TEST(Job, AProgramForOtherMembersIsRefused) {
  MeshProgram program{.members = 4};
  EXPECT_EQ(Session::create().take()->attach(program.make().take()).status().message(),
            "the program is compiled for 4 members (data = 4); run it with dlc launch -n 4, or with --devices=cpu:4");
  EXPECT_THAT(jobOn("cpu:2")->attach(program.make().take()).status().message(),
              StartsWith("the program is compiled for 4 members (data = 4), the job has 2"));
}

TEST(Job, MembersHaveNames) {
  std::unique_ptr<Job> job = jobOn("cpu:2");
  EXPECT_THAT(job->memberName(1), StartsWith("rank 0 (host "));
  EXPECT_THAT(job->memberName(1), HasSubstr(", cpu:1)"));
}

TEST(Job, DevicesAreAKindAndHowMany) {
  EXPECT_EQ(runtime::parseDevices("cpu:3").take(), std::vector<DeviceId>(3));
  EXPECT_EQ(runtime::parseDevices("sim:2").take(), (std::vector<DeviceId>{{"sim", 0}, {"sim", 1}}));
  for (const char *wrong : {"", "cpu:", "cpu:0", "cpu:-1", "cpu:2x", "tpu:2", "cpu:9999"})
    EXPECT_THAT(runtime::parseDevices(wrong).status().message(), StartsWith("expected devices such as")) << wrong;
}

// Where there are enough of them; simulated ones are each process's own.
TEST(Job, RanksOfAHostShareOutItsGpus) {
  setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 0);
  setenv("DLCFAKE_DEVICES", "4", 0);
  runtime::Contract second;
  second.localRank = 1;
  second.localWorldSize = 2;
  EXPECT_EQ(runtime::parseDevices("cuda:2", second).take(), (std::vector<DeviceId>{{"cuda", 2}, {"cuda", 3}}));
  EXPECT_EQ(runtime::parseDevices("sim:2", second).take(), (std::vector<DeviceId>{{"sim", 0}, {"sim", 1}}));
  EXPECT_EQ(runtime::parseDevices("cpu", second).take(), std::vector<DeviceId>(1));
  second.localWorldSize = 0; // not told
  EXPECT_EQ(runtime::parseDevices("cuda:1", second).take(), (std::vector<DeviceId>{{"cuda", 1}}));
  second.localWorldSize = 3;
  EXPECT_EQ(runtime::parseDevices("cuda:2", second).take(), (std::vector<DeviceId>{{"cuda", 0}, {"cuda", 1}}));
}

TEST(Job, ATraceShowsCollectivesAndWaits) {
  namespace profile = runtime::profile;
  TemporaryFolder folder;
  std::unique_ptr<Job> job = jobOn("cpu:2");
  MeshProgram program{.members = 2};
  auto programs = job->attach(program.make().take());
  ASSERT_TRUE(done(programs.status()));
  Step step(program);
  ASSERT_TRUE(done(profile::start(folder.file("trace.json"))));
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(done(job->call(*programs, MeshProgram::kStep, step.arguments, step.results)));
  profile::Summary summary = profile::summary();
  ASSERT_TRUE(done(profile::stop()));
  EXPECT_EQ(summary.calls, 6);
  EXPECT_GT(summary.communication, 0);
  EXPECT_GT(summary.exposed, 0);
  std::string trace = readFile(folder.file("trace.json"));
  EXPECT_THAT(trace, HasSubstr("all_reduce #0 of fc1.weight … fc1.bias (model.cpp:10: dl.add)"));
  EXPECT_THAT(trace, HasSubstr(", cpu:1), data, channel 1"));
}

// Variables made with other seeds take member 0's values.
TEST(Job, StateStartsEqualOnAllMembers) {
  std::unique_ptr<Job> job = jobOn("cpu:3");
  MeshProgram program{.members = 3};
  std::vector<std::unique_ptr<Session>> sessions;
  sessions.reserve(3);
  for (int m = 0; m < 3; ++m)
    sessions.push_back(
        Session::create({.threads = 1, .seed = uint64_t(m == 1 ? 9 : 3), .job = job.get(), .member = m}).take());
  testing::internal::CaptureStderr();
  std::shared_ptr<const Executable> executable = program.make().take();
  std::vector<std::shared_ptr<Session::Program>> programs(3);
  ASSERT_TRUE(done(job->forEachMember([&](int m) {
    auto attached = sessions[size_t(m)]->attach(executable);
    if (attached.ok())
      programs[size_t(m)] = attached.take();
    return attached.status();
  })));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("variables differ between members at the start"));
  std::vector<float> expected(size_t(program.count)), w(expected.size());
  InitialValue uniform{InitialValue::Kind::Uniform, -1, 1, 3, nullptr};
  ASSERT_TRUE(done(fill(expected.data(), DType::F32, program.count, uniform, 3)));
  for (auto &session : sessions) {
    ASSERT_TRUE(done(session->read("w", std::as_writable_bytes(std::span(w)))));
    EXPECT_EQ(w, expected);
  }
}

} // namespace

} // namespace dlc::test
