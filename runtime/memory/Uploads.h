#pragma once

#include "dlc/runtime/Device.h"

#include <array>

namespace dlc::runtime {

/// Copies to a device for which nobody waits: bytes go through memory here that the device's copies read directly. One
/// thread at a time, one stream.
class Uploads {
public:
  Uploads(Device &device, Stream &stream) : device(device), stream(stream) {}
  /// Waits for its copies.
  ~Uploads();
  Uploads(const Uploads &) = delete;
  Uploads &operator=(const Uploads &) = delete;

  /// The bytes are there for work given to the stream from now on; `from` is the caller's again.
  Status copy(void *to, const void *from, int64_t bytes);

private:
  struct Piece {
    HostMemory memory;
    int64_t bytes = 0;
    std::unique_ptr<Event> done; ///< the copy out of it
  };
  Status ready(Piece &piece, int64_t bytes);

  Device &device;
  Stream &stream;
  std::array<Piece, 2> pieces; ///< one is filled while the other is copied
  size_t next = 0;
};

} // namespace dlc::runtime
