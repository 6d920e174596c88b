#include "record/HostInputs.h"

#include <cstring>

namespace dlc::record {

namespace {
/// Operands of kernels are read in pieces of this many bytes.
constexpr int64_t alignment = 64;
int64_t aligned(int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
} // namespace

HostInputs::HostInputs(Place &place, std::vector<size_t> which) : place(&place), which(std::move(which)) {}

std::span<const DlcBuffer> HostInputs::give(std::span<const DlcBuffer> arguments, const std::source_location &where) {
  if (which.empty())
    return arguments;
  int64_t bytes = 0;
  for (size_t i : which)
    bytes += aligned(arguments[i].bytes);
  if (!block || block->bytes != bytes) {
    block = Buffer::allocate(bytes, *place, where);
    packed = Buffer::allocate(bytes);
    std::memset(packed->data, 0, static_cast<size_t>(bytes));
  }
  given.assign(arguments.begin(), arguments.end());
  int64_t offset = 0;
  for (size_t i : which) {
    std::memcpy(static_cast<char *>(packed->data) + offset, arguments[i].data, static_cast<size_t>(arguments[i].bytes));
    given[i].data = static_cast<char *>(block->data) + offset;
    offset += aligned(arguments[i].bytes);
  }
  copyBytes(*place, block->data, Place::host(), packed->data, bytes, where);
  return given;
}

} // namespace dlc::record
