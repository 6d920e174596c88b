/// Our declarations of NVIDIA's management library against the vendor's header, where that is installed: all of this
/// happens while it compiles.
#include "../../SameSignature.h"
#include "drivers/cuda/Nvml.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <nvml.h>

namespace ours = dlc::runtime::nvml;

template <>
struct dlc::test::SameHandle<ours::Device_st, nvmlDevice_st> : std::true_type {};

namespace {

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define CHECK_ENTRY_POINT(result, name, parameters)                                                                    \
  static_assert(dlc::test::SameSignature<decltype(ours::Api::name), decltype(&::name)>::value, #name);
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
