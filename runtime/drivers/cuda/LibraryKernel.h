#pragma once

#include "dlc/runtime/LibraryCall.h"
#include "drivers/cuda/CudaApi.h"

#include <memory>

namespace dlc::runtime {

/// A launch that is a call of a vendor's library. All that the host does about it is done when it is made, so that
/// running it can be captured. Any thread may run it.
class LibraryKernel {
public:
  virtual ~LibraryKernel() = default;

  /// Puts the call into a stream of the thread's context. `pointers` are the launch's operands, of the manifest's
  /// sizes.
  virtual Status run(CUstream stream, void *const *pointers) = 0;
};

/// A vendor's library with its handle of one device, which is given back with the last kernel.
class DeviceLibrary : public std::enable_shared_from_this<DeviceLibrary> {
public:
  virtual ~DeviceLibrary() = default;

  /// Refused where the library cannot do it.
  virtual StatusOr<std::unique_ptr<LibraryKernel>> prepare(const LibraryCall &call) = 0;
};

/// How the operands of library calls lie in memory: at multiples of so many bytes, as for generated kernels.
inline constexpr int64_t kOperandAlignment = 16;

/// A call's own memory, at a multiple of 256 bytes as the libraries want it.
struct LibraryWorkspace {
  static constexpr int64_t kAlignment = 256;

  explicit LibraryWorkspace(const LibraryCall &call)
      : operand(call.workspace), offset(call.workspaceOffset), planned(operand < 0 ? 0 : call.workspaceBytes) {}

  /// Bytes that are there wherever the operand lies.
  int64_t bytes() const { return planned < kAlignment ? 0 : planned - kAlignment + 1; }
  void *address(void *const *pointers) const {
    if (bytes() == 0)
      return nullptr;
    char *first = static_cast<char *>(pointers[operand]) + offset;
    return first + (-reinterpret_cast<uintptr_t>(first) & uintptr_t(kAlignment - 1));
  }

  int64_t operand, offset, planned;
};

/// Fails where an operand's address is no multiple of `alignment`.
Status checkAlignment(const void *address, int64_t alignment, int64_t operand);

} // namespace dlc::runtime
