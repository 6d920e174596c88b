// What the NCCL engine declares is what the vendor's header declares; all of it is compared while this is compiled.
#include "comm/nccl/NcclApi.h"

#include <gtest/gtest.h>

#include <nccl.h>

#include <type_traits>

namespace ours = dlc::runtime::nccl;

namespace {

/// Whether two types pass through a call alike: enums as ints, structs by size and alignment.
template <typename Ours, typename Theirs>
constexpr bool isAlike() {
  if constexpr (std::is_same_v<Ours, Theirs>)
    return true;
  else if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>)
    return isAlike<std::remove_pointer_t<Ours>, std::remove_pointer_t<Theirs>>();
  else if constexpr (std::is_class_v<Ours> && std::is_class_v<Theirs>)
    return sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs);
  else
    return std::is_same_v<Ours, int> && std::is_enum_v<Theirs> && sizeof(Theirs) == sizeof(int);
}

template <typename Ours, typename Theirs>
struct Alike : std::false_type {};
template <typename OurResult, typename... OurParameters, typename TheirResult, typename... TheirParameters>
struct Alike<OurResult (*)(OurParameters...), TheirResult (*)(TheirParameters...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(OurParameters) == sizeof...(TheirParameters))
      return isAlike<OurResult, TheirResult>() && (isAlike<OurParameters, TheirParameters>() && ...);
    else
      return false;
  }();
};

#define DLC_CHECK_FUNCTION(result, name, ...)                                                                          \
  static_assert(Alike<decltype(ours::Api::name), decltype(&::name)>::value, #name);
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
