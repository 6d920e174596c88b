#include "../unit/TestFile.h"
#include "Ranks.h"

#include <filesystem>
#include <map>

using namespace dlc;
using namespace dlc::test;

// DLC_CACHE: a folder of compiled programs.
namespace {

using Files = std::map<std::string, std::filesystem::file_time_type>;

Files programsIn(const std::string &folder) {
  Files files;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".so")
      files.emplace(entry.path().filename(), entry.last_write_time());
  return files;
}

/// Sums of a split tensor and of one that each rank has, by ranks that keep programs there.
void compute(int64_t ranks, const std::string &folder) {
  asRanks(ranks, [&] {
    setenv("DLC_CACHE", folder.c_str(), 1);
    Tensor x = arange(12.0).reshape({6, 2});
    EXPECT_EQ((distributed::shard(x) * 2.0).sum().item(), 132);
    EXPECT_EQ((x * 3.0).sum().item(), 198);
  });
}

} // namespace

TEST(Cache, IsReadByLaterJobs) {
  TemporaryFolder folder;
  std::string programs = folder.file("programs");
  compute(3, programs);
  Files first = programsIn(programs);
  EXPECT_GE(first.size(), 2u);
  compute(3, programs);
  EXPECT_EQ(programsIn(programs), first);
  compute(2, programs);
  EXPECT_GT(programsIn(programs).size(), first.size()) << "a program of two members is another one";
}

TEST(Cache, WhatIsNoSoundProgramIsCompiledAnew) {
  TemporaryFolder folder;
  std::string programs = folder.file("programs");
  compute(2, programs);
  for (const auto &[name, time] : programsIn(programs))
    std::filesystem::resize_file(std::filesystem::path(programs) / name, 1000);
  compute(2, programs);
  for (const auto &[name, time] : programsIn(programs))
    EXPECT_GT(std::filesystem::file_size(std::filesystem::path(programs) / name), 1000u);
}

TEST(Cache, MustBeThisUsersAlone) {
  TemporaryFolder folder;
  std::string programs = folder.file("programs");
  std::filesystem::create_directory(programs);
  std::filesystem::permissions(programs, std::filesystem::perms::all);
  alone([&] {
    setenv("DLC_CACHE", programs.c_str(), 1);
    std::string message = errorOf([] { (arange(3.0) * 2.0).sum().item(); });
    EXPECT_NE(message.find("expected a folder of this user that nobody else can write to"), std::string::npos)
        << message;
  });
  EXPECT_TRUE(programsIn(programs).empty());
}
