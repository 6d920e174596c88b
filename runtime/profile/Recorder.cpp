#include "profile/Recorder.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <memory>
#include <mutex>
#include <tuple>

namespace dlc::runtime::profile {

std::atomic<bool> detail::recording{false};

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

namespace {

/// A thread's last spans. Its lock is free but while a trace is written.
struct Ring {
  std::mutex lock;
  std::vector<Recorded> spans; // grows to kSpansKept, then the oldest is replaced
  size_t next = 0;
  int64_t lost = 0;
  Track thread = Track::Thread;
};

/// Rings outlive their threads, and this outlives all: threads may record while the program ends.
struct Registry {
  std::mutex lock;
  std::vector<std::shared_ptr<Ring>> rings;
  std::vector<std::string> tracks = {""};
  std::deque<Counted> counted;
};

Registry &registry() {
  static auto *instance = new Registry;
  return *instance;
}

Track named(Registry &registry, std::string_view name) {
  std::vector<std::string> &tracks = registry.tracks;
  auto known = std::find(tracks.begin() + 1, tracks.end(), name);
  auto index = static_cast<uint32_t>(known - tracks.begin());
  if (known == tracks.end())
    tracks.emplace_back(name);
  return Track(index);
}

Ring &ringOfThread() {
  thread_local std::shared_ptr<Ring> ring = [] {
    auto made = std::make_shared<Ring>();
    Registry &all = registry();
    std::lock_guard guard(all.lock);
    all.rings.push_back(made);
    made->thread = named(all, "thread " + std::to_string(all.rings.size()));
    return made;
  }();
  return *ring;
}

/// The longest part that does not end inside a UTF-8 character.
std::string_view cutName(std::string_view name) {
  if (name.size() <= Recorded::kLongestName)
    return name;
  size_t size = Recorded::kLongestName;
  while (size > 0 && (static_cast<unsigned char>(name[size]) & 0xC0U) == 0x80U)
    --size;
  return name.substr(0, size);
}

} // namespace

Track track(std::string_view name) {
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  return named(all, name);
}

void record(Category category, std::string_view name, int64_t begin, int64_t end, Track track) {
  if (!on())
    return;
  Ring &ring = ringOfThread();
  Recorded span;
  span.begin = begin;
  span.end = std::max(begin, end);
  span.track = track == Track::Thread ? ring.thread : track;
  span.category = category;
  name = cutName(name);
  span.nameSize = static_cast<uint8_t>(name.size());
  std::copy(name.begin(), name.end(), span.text.begin());
  std::lock_guard guard(ring.lock);
  if (ring.spans.size() < kSpansKept) {
    ring.spans.push_back(span);
    return;
  }
  ring.spans[ring.next] = span;
  ring.next = (ring.next + 1) % kSpansKept;
  ++ring.lost;
}

void count(std::vector<Counted> values) {
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  std::move(values.begin(), values.end(), std::back_inserter(all.counted));
  while (all.counted.size() > kCountedKept)
    all.counted.pop_front();
}

Recording recorded() {
  Recording result;
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  result.tracks = all.tracks;
  result.counted.assign(all.counted.begin(), all.counted.end());
  for (const std::shared_ptr<Ring> &ring : all.rings) {
    std::lock_guard ringGuard(ring->lock);
    result.spans.insert(result.spans.end(), ring->spans.begin(), ring->spans.end());
    result.lost += ring->lost;
  }
  std::sort(result.spans.begin(), result.spans.end(), [](const Recorded &left, const Recorded &right) {
    return std::tie(left.begin, right.end) < std::tie(right.begin, left.end);
  });
  return result;
}

void clear() {
  Registry &all = registry();
  std::lock_guard guard(all.lock);
  all.counted.clear();
  for (const std::shared_ptr<Ring> &ring : all.rings) {
    std::lock_guard ringGuard(ring->lock);
    ring->spans.clear();
    ring->next = 0;
    ring->lost = 0;
  }
}

} // namespace dlc::runtime::profile
