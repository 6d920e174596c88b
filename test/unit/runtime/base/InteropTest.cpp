// Files of ours in NumPy's and safetensors' own readers, and theirs in ours; skipped where Python lacks the packages.

#include "dlc/runtime/Npy.h"
#include "dlc/runtime/Safetensors.h"

#include "../../TestFile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sys/wait.h>

using namespace dlc;
using namespace dlc::test;

namespace {

constexpr int packageMissing = 77;

/// Exit code of `interop.py <command> <folder>`; DLC_PYTHON names another interpreter than python3.
int runPython(const std::string &command, const TemporaryFolder &folder) {
  const char *python = std::getenv("DLC_PYTHON");
  std::string line = std::string(python ? python : "python3") + " " + DLC_TEST_FOLDER "/unit/runtime/base/interop.py " +
                     command + " " + folder.path();
  int status = std::system(line.c_str()); // NOLINT(bugprone-command-processor): the line is the test's own
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The same values as in interop.py.
constexpr float floats[]{1.5F, -2.25F, 3e-40F, 0.1F, 1e30F, -0.0F};
constexpr int64_t longs[]{int64_t{1} << 62U, -1};
constexpr uint8_t booleans[]{1, 0, 1};
constexpr double doubles[]{0.1};
constexpr int8_t bytes[]{-128, 127};
constexpr int32_t integers[]{-5, 6};

std::vector<TensorView> expectedTensors() {
  return {{"layer.weight", DType::F32, {2, 3}, floats}, {"labels", DType::I64, {2}, longs},
          {"mask", DType::I1, {3}, booleans},           {"scale", DType::F64, {}, doubles},
          {"bytes", DType::I8, {2, 1}, bytes},          {"integers", DType::I32, {1, 2}, integers}};
}

void expectEqual(const TensorView &expected, const TensorView *found) {
  ASSERT_NE(found, nullptr) << expected.name;
  EXPECT_EQ(found->dtype, expected.dtype) << expected.name;
  ASSERT_EQ(found->shape, expected.shape) << expected.name;
  EXPECT_EQ(contentOf(*found), contentOf(expected)) << expected.name;
}

} // namespace

TEST(Interop, Safetensors) {
  TemporaryFolder folder;
  ASSERT_TRUE(writeSafetensors(folder.file("ours.safetensors"), expectedTensors(), {{"made by", "dlc \"é\""}}).ok());
  int code = runPython("safetensors", folder);
  if (code == packageMissing)
    GTEST_SKIP() << "python3 has no packages numpy and safetensors";
  ASSERT_EQ(code, 0);
  StatusOr<Safetensors> read = Safetensors::open(folder.file("theirs.safetensors"));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->tensors().size(), 6U);
  EXPECT_EQ(read->metadata(), (SafetensorsMetadata{{"made by", "python"}}));
  for (const TensorView &expected : expectedTensors())
    expectEqual(expected, read->find(expected.name));
}

TEST(Interop, Npy) {
  TemporaryFolder folder;
  for (const TensorView &view : expectedTensors())
    ASSERT_TRUE(writeNpy(folder.file("ours." + view.name + ".npy"), view).ok());
  int code = runPython("npy", folder);
  if (code == packageMissing)
    GTEST_SKIP() << "python3 has no package numpy";
  ASSERT_EQ(code, 0);
  for (const TensorView &expected : expectedTensors()) {
    StatusOr<Npy> read = Npy::open(folder.file("theirs." + expected.name + ".npy"));
    ASSERT_TRUE(read.ok()) << read.status().message();
    expectEqual(expected, &read->array());
  }
}
