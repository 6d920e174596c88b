#include "Members.h"

#include "comm/host/Host.h"
#include "comm/shm/Segment.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dlc::test {

using runtime::Segment;

namespace {

/// Temporary files go to a folder of this test's own.
class ShmFiles : public testing::Test {
protected:
  void SetUp() override {
    std::string made = (std::filesystem::temp_directory_path() / "dlc-shm-XXXXXX").string();
    folder = mkdtemp(made.data());
    setenv("TMPDIR", folder.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    std::filesystem::remove_all(folder);
  }
  std::filesystem::path folder;
};

} // namespace

// Not after a success, nor after a failure, nor while members work.
TEST_F(ShmFiles, NothingNamedStays) {
  FolderStore store; // in the folder, until the test's end
  auto left = [&] { return std::distance(std::filesystem::directory_iterator(folder), {}); };
  ASSERT_EQ(left(), 1);
  StatusOr<std::unique_ptr<Communicator>> other = Status();
  std::thread member([&] { other = create("shm", store, 1, 2); });
  StatusOr<std::unique_ptr<Communicator>> end = create("shm", store, 0, 2);
  member.join();
  ASSERT_TRUE(done(end.status()) && done(other.status()));
  EXPECT_EQ(left(), 1);
  EXPECT_TRUE(failsWith(create("shm", store, 0, 2, 1, in(0.1)).status(), {"still without rank 1"}));
  EXPECT_EQ(left(), 1);
}

// The folder is closed to others while members meet.
TEST_F(ShmFiles, OthersCannotEnter) {
  FolderStore store;
  Status status;
  std::thread member([&] { status = create("shm", store, 0, 2, 0, in(1)).status(); });
  std::string place = store.get("comm/1/data/0/shm", ample()).take();
  std::filesystem::path meeting = place.substr(place.find('\n') + 1);
  EXPECT_EQ(std::filesystem::status(meeting.parent_path()).permissions(), std::filesystem::perms::owner_all);
  EXPECT_TRUE(done(create("shm", store, 1, 2).status()));
  member.join();
  EXPECT_TRUE(done(status));
}

TEST_F(ShmFiles, AnotherHostIsNamed) {
  FolderStore store;
  ASSERT_TRUE(done(store.set("comm/1/data/0/shm", "elsewhere 1234 pid:[1]\n/tmp/nothing")));
  Status status = create("shm", store, 1, 2).status();
  EXPECT_EQ(status.code(), StatusCode::InvalidInput);
  EXPECT_EQ(status.message(),
            "group 'data': expects all members on one host to share memory, got elsewhere for rank 0 (host h0)");
  EXPECT_EQ(runtime::hostIdentity(), runtime::hostIdentity());
}

// Memory of another size, or whose size can change, would end the program at some access.
TEST(ShmSegment, TakesSealedMemoryAlone) {
  FileDescriptor good, loose(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_TRUE(done(Segment::create(3, good).status()));
  EXPECT_TRUE(done(Segment::map(good, 3).status()));
  EXPECT_FALSE(Segment::map(good, 300).ok());
  off_t size = lseek(good.get(), 0, SEEK_END);
  EXPECT_NE(ftruncate(good.get(), size - 4096), 0);
  EXPECT_NE(ftruncate(good.get(), size + 4096), 0);
  ASSERT_EQ(ftruncate(loose.get(), size), 0);
  EXPECT_FALSE(Segment::map(loose, 3).ok());
}

} // namespace dlc::test
