#include "rendezvous/FileStore.h"

#include "StoreTest.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace dlc;
using namespace dlc::runtime;
using namespace dlc::runtime::test;
using ::testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds limit{10000};

/// A path that is free, and is removed at the end.
struct FreePath {
  FreePath() {
    static std::atomic<int> count = 0;
    path = fs::temp_directory_path() / ("dlc-store-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    fs::remove_all(path);
  }
  ~FreePath() { fs::remove_all(path); }
  fs::path path;
};

std::unique_ptr<Store> openAt(const fs::path &path) {
  StatusOr<std::unique_ptr<Store>> store = openFileStore(path, limit);
  EXPECT_TRUE(store.ok()) << store.status().message();
  return store.ok() ? store.take() : nullptr;
}

std::function<std::unique_ptr<Store>()> files() {
  auto free = std::make_shared<FreePath>();
  return [free] { return openAt(free->path); };
}

} // namespace

INSTANTIATE_TEST_SUITE_P(File, StoreTest, ::testing::Values(StoreKind{"file", files}));

TEST(FileStore, TheLastOneLeavesNothing) {
  FreePath free;
  std::unique_ptr<Store> first = openAt(free.path), second = openAt(free.path);
  ASSERT_TRUE(first->set("k", "v").ok());
  struct stat facts{};
  ASSERT_EQ(::stat(free.path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
  first.reset();
  EXPECT_EQ(*second->get("k", within(0)), "v");
  second.reset();
  EXPECT_FALSE(fs::exists(free.path));
}

TEST(FileStore, OnlyItsOwnFilesAreRemoved) {
  FreePath free;
  ASSERT_EQ(::mkdir(free.path.c_str(), 0700), 0);
  std::ofstream(free.path / "mine") << "x";
  openAt(free.path)->set("k", "v").ok();
  EXPECT_TRUE(fs::exists(free.path / "mine"));
  EXPECT_EQ(std::distance(fs::directory_iterator(free.path), fs::directory_iterator()), 1);
}

TEST(FileStore, OpeningMeetsRemoving) {
  FreePath free;
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k)
        if (std::unique_ptr<Store> store = openAt(free.path); !store || !store->add("n", 1).ok())
          ++failures;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_FALSE(fs::exists(free.path));
}

TEST(FileStore, DirectoriesOfOthersAreRefused) {
  FreePath free;
  ASSERT_EQ(::mkdir(free.path.c_str(), 0755), 0);
  EXPECT_THAT(openFileStore(free.path, limit).status().message(), HasSubstr("run chmod 700"));
  fs::remove(free.path);
  fs::create_directory_symlink("/root", free.path);
  EXPECT_THAT(openFileStore(free.path, limit).status().message(), HasSubstr("cannot open the directory"));
  fs::remove(free.path);
  if (::geteuid() == 0) {
    ASSERT_EQ(::mkdir(free.path.c_str(), 0700), 0);
    ASSERT_EQ(::chown(free.path.c_str(), 12345, 12345), 0);
    EXPECT_THAT(openFileStore(free.path, limit).status().message(), HasSubstr("got one of user 12345"));
  }
}

TEST(FileStore, WhatNoStoreWritesIsRefused) {
  FreePath free;
  std::unique_ptr<Store> store = openAt(free.path);
  ASSERT_TRUE(store->set("k", "v").ok());
  for (const fs::directory_entry &entry : fs::directory_iterator(free.path))
    if (entry.path().filename().string().size() == 64)
      fs::resize_file(entry.path(), kLongestStoreValue + 1);
  EXPECT_THAT(store->get("k", within(0)).status().message(), HasSubstr("holds what no store writes"));
}
