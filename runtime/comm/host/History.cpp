#include "comm/host/History.h"

namespace dlc::runtime {

using Clock = std::chrono::steady_clock;

uint64_t History::add(const Operation &operation, Time when) {
  Entry &entry = ring[next % kKept];
  entry.kind = operation.kind;
  entry.id = operation.op.id;
  entry.count = operation.count;
  entry.type = operation.type;
  entry.label = operation.op.label; // into memory that the ring has
  entry.enqueued = when;
  entry.started = entry.done = {};
  entry.failed = false;
  return next++;
}

History::Entry *History::find(uint64_t number) { return next - number <= kKept ? &ring[number % kKept] : nullptr; }

void History::start(uint64_t number) {
  if (Entry *entry = find(number))
    entry->started = Clock::now();
}

void History::end(uint64_t number, bool good) {
  if (Entry *entry = find(number)) {
    entry->done = Clock::now();
    entry->failed = !good;
  }
}

std::vector<OperationRecord> History::list() const {
  auto reached = [](Time time) { return time == Time() ? std::nullopt : std::optional(time); };
  std::vector<OperationRecord> records;
  for (uint64_t number = next < kKept ? 0 : next - kKept; number < next; ++number) {
    const Entry &entry = ring[number % kKept];
    records.push_back({number, describe(entry.kind, entry.id), entry.label, entry.id, entry.count, entry.type,
                       reached(entry.enqueued), reached(entry.started), reached(entry.done), entry.failed});
  }
  return records;
}

} // namespace dlc::runtime
