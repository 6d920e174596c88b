// The vendor's libraries where they are installed: all that is looked up is there. Nothing here needs a GPU.
#include "drivers/cuda/VendorLibrary.h"
#include "drivers/cuda/CublasLtApi.h"
#include "drivers/cuda/CudnnApi.h"

#include <gmock/gmock.h>

#include <cstdlib>

using namespace dlc;
using namespace dlc::runtime;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

/// A library that is not there is no failure of the test; one that lacks something is.
template <typename Api>
void expectWhole() {
  unsetenv("DLC_GPU_LIBRARY");
  StatusOr<const Api *> api = Api::load();
  if (!api.ok() && api.status().message().find("was not found") != std::string::npos)
    GTEST_SKIP() << api.status().message();
  EXPECT_TRUE(api.ok()) << api.status().message();
}

TEST(VendorLibrary, CublasLtHasWhatIsLookedUp) { expectWhole<cublaslt::Api>(); }
TEST(VendorLibrary, CudnnHasWhatIsLookedUp) { expectWhole<cudnn::Api>(); }

TEST(VendorLibrary, WhatIsMissingIsOneSentence) {
  unsetenv("DLC_GPU_LIBRARY");
  void *found = nullptr;
  VendorLibrary none = {"no such thing: ", "libdlc_none.so.1", "libdlc_none.so.0", "; install it", "; renew it"};
  EXPECT_EQ(none.load({}).message(), "no such thing: libdlc_none.so.1 was not found; install it");
  VendorLibrary other = {"", "libdlc_none.so.1", "libdl.so.2", "; install it", "; renew it"};
  EXPECT_EQ(other.load({{&found, "cuNothing"}}).message(), "libdl.so.2 has no cuNothing; renew it");
  other.partial = true;
  EXPECT_TRUE(other.load({{&found, "cuNothing"}}).ok());
  EXPECT_EQ(found, nullptr);
  setenv("DLC_GPU_LIBRARY", "/nowhere.so", 1);
  EXPECT_THAT(none.load({}).message(), AllOf(StartsWith("DLC_GPU_LIBRARY: /nowhere.so: "), Not(HasSubstr("\n"))));
  EXPECT_STREQ(VendorLibrary::replacement(), "/nowhere.so");
  unsetenv("DLC_GPU_LIBRARY");
  EXPECT_EQ(VendorLibrary::replacement(), nullptr);
}

} // namespace
