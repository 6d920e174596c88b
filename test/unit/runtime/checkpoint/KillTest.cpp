#include "Members.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The runtime's calls of the system come here first, and the process dies at the one that a test has chosen.
namespace {
constexpr int kNever = 1 << 20;
int dieAt = -1; // -1: calls are not counted
std::atomic<int> calls{0};

void count() {
  if (dieAt >= 0 && calls++ == dieAt)
    kill(getpid(), SIGKILL);
}
} // namespace

extern "C" {
int rename(const char *from, const char *to) noexcept {
  count();
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}
// What a process wrote outlives it without this, and tests are faster.
int fsync(int) {
  count();
  return 0;
}
int mkdir(const char *path, mode_t mode) noexcept {
  count();
  return mkdirat(AT_FDCWD, path, mode);
}
int unlink(const char *path) noexcept {
  count();
  return unlinkat(AT_FDCWD, path, 0);
}
int rmdir(const char *path) noexcept {
  count();
  return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}
ssize_t write(int file, const void *bytes, size_t size) {
  count();
  return syscall(SYS_write, file, bytes, size);
}
}

using namespace dlc;
using namespace dlc::runtime;
using namespace dlc::runtime::test;

namespace {

CheckpointGroup alone() { return {}; }

std::vector<TestTensor> valuesOf(uint64_t seed) {
  return {{"fc.weight", DType::F32, {30, 40}, seed}, {"fc.bias", DType::F32, {40}, seed + 1}};
}

/// How many calls a save makes when nothing kills it; else it died.
std::optional<int> saveInChild(int killedAt, int members, const std::string &directory, int64_t step, uint64_t seed,
                               int keep) {
  pid_t child = fork();
  if (child == 0) {
    std::vector<Status> all = runMembers(members, [&](const CheckpointGroup &group) {
      CheckpointOptions options;
      options.keep = keep;
      std::vector<TestTensor> tensors = valuesOf(seed);
      dieAt = killedAt;
      return saveTensors(group, directory, step, tensors, {}, options);
    });
    dieAt = -1;
    bool good = true;
    for (const Status &status : all)
      good &= status.ok();
    _exit(good ? calls.load() : 255);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return std::nullopt;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 255) << "the save failed";
  return WEXITSTATUS(status);
}

/// The seed of the values that are loaded; all of them must be of one save.
std::optional<uint64_t> loadedSeed(const std::string &directory) {
  StatusOr<std::optional<Checkpoint>> found = Checkpoint::latest(alone(), directory);
  if (!found.ok() || !*found) {
    ADD_FAILURE() << (found.ok() ? "no checkpoint" : found.status().message());
    return std::nullopt;
  }
  for (uint64_t seed : {10, 20, 30})
    if (readTensors(alone(), **found, valuesOf(seed)).ok())
      return seed;
  ADD_FAILURE() << "values of no save";
  return std::nullopt;
}

/// Nothing half written, nothing that an index does not name.
void expectTidy(const std::string &directory, int members) {
  for (const std::string &name : namesIn(directory)) {
    if (name == "LATEST")
      continue;
    std::string path = directory;
    path.append("/").append(name);
    std::vector<std::string> files = namesIn(path);
    EXPECT_EQ(files.size(), size_t(members) + 1) << name;
    EXPECT_EQ(files.front(), "index.json") << name;
  }
}

struct Case {
  int members;
  int64_t step; ///< after one of step 1
  int keep;
};

class Killed : public testing::TestWithParam<Case> {};

// Step 1 is there, another save dies at its n-th call of the system, for each n.
TEST_P(Killed, TheCheckpointBeforeStaysLoadable) {
  Case how = GetParam();
  bool sawNew = false, sawOld = false;
  for (int n = 0;; ++n) {
    TemporaryFolder folder;
    std::string directory = folder.file("checkpoints");
    ASSERT_TRUE(saveInChild(kNever, how.members, directory, 1, 10, 0).has_value());
    bool done = saveInChild(n, how.members, directory, how.step, 20, how.keep).has_value();
    std::optional<uint64_t> seed = loadedSeed(directory);
    ASSERT_TRUE(seed.has_value()) << "died at call " << n;
    ASSERT_NE(*seed, 30u);
    sawNew |= *seed == 20;
    sawOld |= *seed == 10;
    // The next save, by as many members, cleans up and is complete.
    ASSERT_TRUE(saveInChild(kNever, how.members, directory, 3, 30, 0).has_value()) << "after death at call " << n;
    EXPECT_EQ(loadedSeed(directory), 30u);
    expectTidy(directory, how.members);
    if (done) {
      EXPECT_EQ(*seed, 20u);
      EXPECT_GT(n, 12) << "a save makes more calls than that";
      break;
    }
  }
  EXPECT_TRUE(sawNew && sawOld);
}

INSTANTIATE_TEST_SUITE_P(Save, Killed, testing::Values(Case{1, 2, 0}, Case{1, 2, 1}, Case{1, 1, 0}, Case{2, 2, 1}),
                         [](const auto &info) {
                           return std::to_string(info.param.members) + "_members_" +
                                  (info.param.step == 1 ? "same" : "next") + "_step_keep_" +
                                  std::to_string(info.param.keep);
                         });

} // namespace
