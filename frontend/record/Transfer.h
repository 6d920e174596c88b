#pragma once

#include "record/Storage.h"

namespace dlc::record {

/// The elements of a tensor in memory of the host, row-major.
struct HostBytes {
  const void *data = nullptr;
  /// What keeps them where they are not the tensor's own.
  ValueRef value;
  std::shared_ptr<Buffer> copy;
};
/// Runs what is pending. A view's elements are computed once and kept with the handle.
HostBytes readOnHost(const Tensor &tensor, const std::source_location &where);
/// The value of a storage, as it is now.
HostBytes readOnHost(Storage &storage, const std::source_location &where);

/// The value in a buffer at another place, once it has run. Gradients do not come back through it.
ValueRef transfer(const ValueRef &value, Place &to, const std::source_location &where);

} // namespace dlc::record
