#include "memory/Uploads.h"

#include <algorithm>
#include <cstring>

namespace dlc::runtime {

// More than this at once is no faster.
static constexpr int64_t kLargestPiece = int64_t(4) << 20, kSmallestPiece = int64_t(64) << 10;

Uploads::~Uploads() {
  for (Piece &piece : pieces)
    if (piece.done)
      (void)stream.waitFor(*piece.done); // a device that failed reads no more
}

Status Uploads::ready(Piece &piece, int64_t bytes) {
  if (!piece.done) {
    StatusOr<std::unique_ptr<Event>> event = device.createEvent();
    if (!event.ok())
      return event.status();
    piece.done = event.take();
  }
  if (Status status = stream.waitFor(*piece.done); !status.ok() || piece.bytes >= bytes)
    return status;
  int64_t size = std::clamp(bytes, kSmallestPiece, kLargestPiece);
  StatusOr<HostMemory> memory = device.allocateHost(size);
  if (!memory.ok())
    return memory.status();
  piece.memory = memory.take();
  piece.bytes = size;
  return {};
}

Status Uploads::copy(void *to, const void *from, int64_t bytes) {
  if (device.isHost())
    return stream.copyToDevice(to, from, bytes);
  for (int64_t at = 0; at < bytes; at += kLargestPiece) {
    int64_t size = std::min(bytes - at, kLargestPiece);
    Piece &piece = pieces[next];
    next = (next + 1) % pieces.size();
    if (Status status = ready(piece, size); !status.ok())
      return status;
    std::memcpy(piece.memory.get(), static_cast<const char *>(from) + at, size_t(size));
    Status status = stream.copyToDevice(static_cast<char *>(to) + at, piece.memory.get(), size);
    if (status.ok())
      status = stream.record(*piece.done);
    if (!status.ok())
      return status;
  }
  return {};
}

} // namespace dlc::runtime
