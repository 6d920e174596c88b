#pragma once

#include "drivers/cuda/CudnnApi.h"
#include "drivers/cuda/LibraryKernel.h"

#include <type_traits>

namespace dlc::runtime::cudnn {

/// A descriptor that is given back.
template <typename Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, int (*)(Handle)>;

/// A convolution as cuDNN sees it. It has two spatial axes at least: one of one place is put in front of a single one.
struct Descriptors {
  Owned<TensorDesc> input, output;
  Owned<FilterDesc> weight;
  Owned<ConvDesc> convolution;
};

/// Refused, with what to do, where the library has no such convolution.
StatusOr<Descriptors> describe(const Api &api, const ConvCall &call);

/// cuDNN on the device of the thread's context.
StatusOr<std::shared_ptr<DeviceLibrary>> open();

} // namespace dlc::runtime::cudnn
