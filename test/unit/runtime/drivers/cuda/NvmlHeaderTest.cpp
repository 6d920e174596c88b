/// Our declarations of NVIDIA's management library against the vendor's header, where that is installed: all of this
/// happens while it compiles.
#include "drivers/cuda/Nvml.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <nvml.h>
#include <type_traits>

namespace ours = dlc::runtime::nvml;

namespace {

/// Whether two types pass through a call alike: numbers by size and sign, structs by size and alignment.
template <typename Ours, typename Theirs>
constexpr bool isAlike() {
  if constexpr (std::is_same_v<Ours, Theirs> ||
                (std::is_same_v<Ours, ours::Device_st> && std::is_same_v<Theirs, nvmlDevice_st>))
    return true;
  else if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>)
    return isAlike<std::remove_pointer_t<Ours>, std::remove_pointer_t<Theirs>>();
  else if constexpr (std::is_class_v<Ours> && std::is_class_v<Theirs>)
    return sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs);
  else if constexpr (std::is_integral_v<Ours> && std::is_enum_v<Theirs>)
    return sizeof(Ours) == sizeof(Theirs);
  else
    return false;
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

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define CHECK_ENTRY_POINT(result, name, parameters)                                                                    \
  static_assert(Alike<decltype(ours::Api::name), decltype(&::name)>::value, #name);
DLC_NVML_ENTRY_POINTS(CHECK_ENTRY_POINT)

#define CHECK_MEMBER(type, theirs, member)                                                                             \
  static_assert(offsetof(ours::type, member) == offsetof(theirs, member) &&                                            \
                sizeof(ours::type::member) == sizeof(theirs::member))
CHECK_MEMBER(Utilization, nvmlUtilization_t, gpu);
CHECK_MEMBER(Memory, nvmlMemory_t, total);
CHECK_MEMBER(Memory, nvmlMemory_t, used);
CHECK_MEMBER(ProcessInfo, nvmlProcessInfo_t, pid);
CHECK_MEMBER(ProcessInfo, nvmlProcessInfo_t, usedGpuMemory);
CHECK_MEMBER(PciInfo, nvmlPciInfo_t, bus);
CHECK_MEMBER(PciInfo, nvmlPciInfo_t, busId);

static_assert(ours::kSuccess == NVML_SUCCESS && ours::kNotSupported == NVML_ERROR_NOT_SUPPORTED &&
              ours::kNoPermission == NVML_ERROR_NO_PERMISSION &&
              ours::kInsufficientSize == NVML_ERROR_INSUFFICIENT_SIZE &&
              ours::kFunctionNotFound == NVML_ERROR_FUNCTION_NOT_FOUND && ours::kGpuIsLost == NVML_ERROR_GPU_IS_LOST &&
              ours::kNoData == NVML_ERROR_NO_DATA);
static_assert(ours::kTemperatureGpu == NVML_TEMPERATURE_GPU);
static_assert(ours::kNotAvailable == static_cast<unsigned long long>(NVML_VALUE_NOT_AVAILABLE));

TEST(NvmlHeader, IsTheVendors) { SUCCEED() << "compared while this was compiled"; }

} // namespace
