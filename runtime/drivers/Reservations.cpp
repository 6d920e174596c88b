#include "drivers/Reservations.h"

#include <iterator>
#include <utility>

namespace dlc::runtime {

void Reservations::add(const char *base, std::string name, int64_t bytes) {
  std::lock_guard guard(lock);
  ranges.insert_or_assign(base, Range{std::move(name), bytes});
}

void Reservations::remove(const char *base) {
  std::lock_guard guard(lock);
  ranges.erase(base);
}

Status Reservations::check(const void *address, int64_t bytes) const {
  std::lock_guard guard(lock);
  const char *first = static_cast<const char *>(address);
  auto after = ranges.upper_bound(first);
  if (after == ranges.begin())
    return {StatusCode::InvalidInput, "not in the device's memory"};
  const auto &[base, range] = *std::prev(after);
  int64_t offset = first - base;
  if (offset <= range.bytes && bytes <= range.bytes - offset)
    return {};
  constexpr int64_t kNear = 4096; // further behind it nobody meant this one
  if (offset > range.bytes + kNear)
    return {StatusCode::InvalidInput, "not in the device's memory"};
  return {StatusCode::InvalidInput, std::to_string(bytes) + " bytes from byte " + std::to_string(offset) +
                                        " of arena '" + range.name + "', which has " + std::to_string(range.bytes)};
}

} // namespace dlc::runtime
