#include "drivers/cuda/Nvml.h"

#include "dlc/runtime/Profile.h"
#include "profile/Recorder.h"

#include "../../../TestFile.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dlc;
using namespace dlc::runtime;

namespace {

constexpr int64_t kGiB = int64_t(1) << 30;

/// Two GPUs of the fake library; what each of them shows is told in test/fakegpu/Nvml.cpp. ctest runs each test in a
/// process of its own, yet variables are put back for those who do not.
class Nvml : public testing::Test {
protected:
  Nvml() {
    set("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY);
    set("DLCFAKE_DEVICES", "2");
  }
  ~Nvml() override {
    for (const auto &[name, value] : before) {
      if (value)
        ::setenv(name.c_str(), value->c_str(), 1);
      else
        ::unsetenv(name.c_str());
    }
  }
  void set(const std::string &name, const std::string &value) {
    const char *old = std::getenv(name.c_str());
    before.try_emplace(name, old ? std::optional<std::string>(old) : std::nullopt);
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  /// One sample of a new probe.
  static std::vector<DeviceUse> sample() {
    StatusOr<std::unique_ptr<UseProbe>> probe = nvml::watch();
    EXPECT_TRUE(probe.ok()) << probe.status().message();
    if (!probe.ok())
      return {};
    StatusOr<std::vector<DeviceUse>> uses = (*probe)->sample();
    EXPECT_TRUE(uses.ok()) << uses.status().message();
    return uses.ok() ? uses.take() : std::vector<DeviceUse>{};
  }
  static std::string whyNone() {
    StatusOr<std::unique_ptr<UseProbe>> probe = nvml::watch();
    EXPECT_FALSE(probe.ok());
    return probe.status().message();
  }

private:
  std::map<std::string, std::optional<std::string>> before;
};

TEST_F(Nvml, TellsOfEachDevice) {
  std::vector<DeviceUse> uses = sample();
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].device, "gpu 0");
  EXPECT_EQ(uses[0].name, "dlc fake GPU, 00000000:01:00.0");
  EXPECT_EQ(uses[1].device, "gpu 1");
  EXPECT_EQ(uses[1].name, "dlc fake GPU, 00000000:02:00.0");
  EXPECT_EQ(uses[1].busy, 50.0);
  EXPECT_EQ(uses[1].memoryUsed, 2 * kGiB);
  EXPECT_EQ(uses[1].memoryTotal, 80 * kGiB);
  EXPECT_EQ(uses[1].watts, 201.0) << "from milliwatts";
  EXPECT_EQ(uses[1].wattsLimit, 700.0);
  EXPECT_EQ(uses[1].celsius, 41.0);
  EXPECT_TRUE(uses[1].processes.empty());
  EXPECT_EQ(uses[0].failure + uses[1].failure, "");
}

TEST_F(Nvml, NamesProcesses) {
  std::vector<DeviceUse::Process> processes = sample().at(0).processes;
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].pid, ::getpid());
  EXPECT_EQ(processes[0].name, "nvml_tests");
  EXPECT_EQ(processes[0].bytes, kGiB / 2);
  EXPECT_EQ(processes[1].name, "") << "of a process that is not here";
  EXPECT_EQ(processes[1].bytes, std::nullopt);
}

TEST_F(Nvml, NamesCannotCommandATerminal) {
  ASSERT_EQ(::prctl(PR_SET_NAME, "a\033[2J\177b"), 0);
  EXPECT_EQ(sample().at(0).processes.at(0).name, "a?[2J?b");
  ::prctl(PR_SET_NAME, "nvml_tests");
}

TEST_F(Nvml, ListsMoreProcessesThanItExpected) {
  set("DLCFAKE_PROCESSES", "70");
  EXPECT_EQ(sample().at(0).processes.size(), 70u);
}

TEST_F(Nvml, WhatIsNotSupportedIsAbsent) {
  set("DLCFAKE_UNSUPPORTED", "nvmlDeviceGetUtilizationRates,nvmlDeviceGetMemoryInfo,nvmlDeviceGetPowerUsage,"
                             "nvmlDeviceGetEnforcedPowerLimit,nvmlDeviceGetTemperature,nvmlDeviceGetName,"
                             "nvmlDeviceGetComputeRunningProcesses_v3");
  for (const DeviceUse &use : sample()) {
    EXPECT_THAT(use.name, testing::StartsWith("00000000:0"));
    EXPECT_FALSE(use.busy || use.memoryUsed || use.memoryTotal || use.watts || use.wattsLimit || use.celsius);
    EXPECT_TRUE(use.processes.empty());
    EXPECT_EQ(use.failure, "");
  }
}

TEST_F(Nvml, AFailedQuestionIsToldAndHidesNothing) {
  // The second device's: one call a sample for each.
  set("DLCFAKE_FAIL", "nvmlDeviceGetPowerUsage:2");
  StatusOr<std::unique_ptr<UseProbe>> probe = nvml::watch();
  ASSERT_TRUE(probe.ok());
  std::vector<DeviceUse> uses = (*probe)->sample().take();
  EXPECT_EQ(uses.at(0).watts, 100.5);
  EXPECT_EQ(uses.at(0).failure, "");
  EXPECT_EQ(uses.at(1).watts, std::nullopt);
  EXPECT_EQ(uses.at(1).failure, "nvmlDeviceGetPowerUsage: GPU is lost");
  EXPECT_EQ(uses.at(1).celsius, 41.0);
  EXPECT_EQ((*probe)->sample().take().at(1).watts, 201.0) << "the next sample asks again";
}

TEST_F(Nvml, ALostDeviceLeavesTheOthers) {
  set("DLCFAKE_FAIL", "nvmlDeviceGetHandleByIndex_v2:1");
  std::vector<DeviceUse> uses = sample();
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].failure, "nvmlDeviceGetHandleByIndex_v2: GPU is lost");
  EXPECT_EQ(uses[0].busy, std::nullopt);
  EXPECT_EQ(uses[1].busy, 50.0);
}

// Either there is no probe and one sentence, or one device lacks an answer and says so; the next time all is well.
TEST_F(Nvml, EachEntryPointFailsOnce) {
  // What a device is called, and how the end went, nobody is told.
  const std::vector<std::string> silent = {"nvmlShutdown", "nvmlErrorString", "nvmlDeviceGetName",
                                           "nvmlDeviceGetPciInfo_v3"};
  for (const std::string name : {
#define DLC_NVML_NAME(result, name, parameters) #name,
           DLC_NVML_ENTRY_POINTS(DLC_NVML_NAME)
#undef DLC_NVML_NAME
       }) {
    SCOPED_TRACE(name);
    set("DLCFAKE_FAIL", name + ":1");
    std::string told;
    StatusOr<std::unique_ptr<UseProbe>> probe = nvml::watch();
    std::vector<DeviceUse> uses;
    if (probe.ok())
      uses = (*probe)->sample().take();
    else
      told = probe.status().message();
    for (const DeviceUse &use : uses)
      told += use.failure;
    bool expected = std::find(silent.begin(), silent.end(), name) == silent.end();
    EXPECT_EQ(told, expected ? name + ": GPU is lost" : "");
    set("DLCFAKE_FAIL", "");
    std::vector<DeviceUse> again = sample();
    ASSERT_EQ(again.size(), 2u);
    for (const DeviceUse &use : again) {
      EXPECT_EQ(use.failure, "");
      EXPECT_TRUE(use.busy && use.memoryUsed && use.watts && use.celsius);
    }
  }
}

TEST_F(Nvml, SaysWhyThereIsNone) {
  set("DLCFAKE_DEVICES", "0");
  EXPECT_EQ(whyNone(), "the NVIDIA driver is here, but it has no GPU");
  set("DLCFAKE_FAIL", "nvmlDeviceGetCount_v2:1");
  EXPECT_EQ(whyNone(), "nvmlDeviceGetCount_v2: GPU is lost");
  set("DLC_GPU_LIBRARY", "none.so");
  EXPECT_THAT(whyNone(), testing::StartsWith("DLC_GPU_LIBRARY: none.so: cannot open"));
  set("DLC_GPU_LIBRARY", "libz.so.1");
  EXPECT_EQ(whyNone(), "libz.so.1 is here, but does not have what NVIDIA's management library has");
}

TEST_F(Nvml, AFailedStartIsASentence) {
  set("DLCFAKE_FAIL", "nvmlInit_v2:1");
  EXPECT_EQ(whyNone(), "nvmlInit_v2: GPU is lost");
}

/// Curves of a trace: values by name, with the unit.
std::map<std::string, std::vector<double>> curves(const nlohmann::json &trace) {
  std::map<std::string, std::vector<double>> found;
  for (const nlohmann::json &event : trace["traceEvents"])
    if (event["ph"] == "C")
      for (const auto &[unit, value] : event["args"].items())
        found[event["name"].get<std::string>() + ", " + unit].push_back(value);
  return found;
}

TEST_F(Nvml, ProfilesHaveCounters) {
  set("DLCFAKE_UNSUPPORTED", "nvmlDeviceGetTemperature");
  test::TemporaryFolder folder;
  ASSERT_TRUE(profile::start(folder.file("trace.json")).ok());
  // At the start, at least once by the thread, and at the end.
  while (profile::recorded().counted.size() < 12)
    ::usleep(1000);
  ASSERT_TRUE(profile::stop().ok());
  auto found = curves(nlohmann::json::parse(test::readFile(folder.file("trace.json"))));
  EXPECT_EQ(found.size(), 6u);
  EXPECT_GE(found["gpu 0 use, %"].size(), 3u);
  EXPECT_THAT(found["gpu 0 use, %"], testing::Each(25.0));
  EXPECT_THAT(found["gpu 1 memory, GiB"], testing::Each(2.0));
  EXPECT_THAT(found["gpu 1 power, W"], testing::Each(201.0));
  // A new profile begins without them; here is no GPU to ask.
  set("DLC_GPU_LIBRARY", "none.so");
  ASSERT_TRUE(profile::start(folder.file("trace.json")).ok());
  ASSERT_TRUE(profile::stop().ok());
  EXPECT_TRUE(curves(nlohmann::json::parse(test::readFile(folder.file("trace.json")))).empty());
}

TEST_F(Nvml, AForkEndsAProfileItDidNotStart) {
  test::TemporaryFolder folder;
  ASSERT_TRUE(profile::start(folder.file("trace.json")).ok());
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(profile::stop().ok() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ASSERT_TRUE(profile::stop().ok());
}

} // namespace
