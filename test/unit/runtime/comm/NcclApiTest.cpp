// What the NCCL engine declares is what the vendor's header declares; all of it is compared while this is compiled.
#include "comm/nccl/NcclApi.h"
#include "../SameSignature.h"

#include <gtest/gtest.h>

#include <nccl.h>

namespace ours = dlc::runtime::nccl;

namespace {

#define DLC_CHECK_FUNCTION(result, name, ...)                                                                          \
  static_assert(dlc::test::SameSignature<decltype(ours::Api::name), decltype(&::name)>::value, #name);
DLC_NCCL_API(DLC_CHECK_FUNCTION)

#define DLC_CHECK_CONSTANT(mine, theirs, value) static_assert(int(ours::mine) == int(::theirs), #theirs);
DLC_NCCL_CONSTANTS(DLC_CHECK_CONSTANT)

#define DLC_CHECK_MEMBER(member)                                                                                       \
  static_assert(offsetof(ours::Config, member) == offsetof(ncclConfig_t, member), #member);
DLC_CHECK_MEMBER(size)
DLC_CHECK_MEMBER(magic)
DLC_CHECK_MEMBER(version)
DLC_CHECK_MEMBER(blocking)
DLC_CHECK_MEMBER(cgaClusterSize)
DLC_CHECK_MEMBER(minCTAs)
DLC_CHECK_MEMBER(maxCTAs)
DLC_CHECK_MEMBER(netName)
DLC_CHECK_MEMBER(splitShare)
DLC_CHECK_MEMBER(trafficClass)
DLC_CHECK_MEMBER(commName)
DLC_CHECK_MEMBER(collnetEnable)
DLC_CHECK_MEMBER(CTAPolicy)
DLC_CHECK_MEMBER(shrinkShare)
DLC_CHECK_MEMBER(nvlsCTAs)
DLC_CHECK_MEMBER(nChannelsPerNetPeer)
DLC_CHECK_MEMBER(nvlinkCentricSched)

} // namespace

TEST(NcclApi, IsTheHeadersOne) {
  ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  ours::Config mine;
  EXPECT_EQ(mine.size, theirs.size);
  EXPECT_EQ(mine.magic, theirs.magic);
  EXPECT_EQ(mine.version, theirs.version);
  EXPECT_EQ(mine.blocking, theirs.blocking);
  EXPECT_EQ(mine.nvlinkCentricSched, theirs.nvlinkCentricSched);
}
