#pragma once

#include "dlc/runtime/Status.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

/// Where the time of this process goes: spans that threads record and that a trace shows.
///
/// A trace also has curves of how busy NVIDIA's GPUs are, where there are any.
///
/// Off, a span costs one load. On, each thread keeps its last kSpansKept spans. Any thread may call anything here.
namespace dlc::runtime::profile {

/// What a span's time is: Compute, a call of an entry, with what it waits for inside; Communication, a collective from
/// start to done, whoever waits for it; Wait, a caller held up by a collective; Input, a batch made ready beside calls.
enum class Category : uint8_t { Compute, Communication, Wait, Input };

constexpr size_t kSpansKept = size_t{1} << 16;

namespace detail {
extern std::atomic<bool> recording;
} // namespace detail

inline bool on() { return detail::recording.load(std::memory_order_relaxed); }

/// Nanoseconds of the steady clock, as spans count them.
int64_t now();

/// A line of the trace: one for each thread, others by name. The same name is the same track.
enum class Track : uint32_t { Thread = 0 };
Track track(std::string_view name);

/// Records what has ended; nothing when off. Of a name the first 70 bytes are kept.
void record(Category category, std::string_view name, int64_t begin, int64_t end, Track track = Track::Thread);

/// Records the time from here to its end. `name` must outlive it.
class Span {
public:
  Span(Category category, std::string_view name, Track track = Track::Thread)
      : name(name), begin(on() ? now() : 0), category(category), track(track) {}
  ~Span() {
    if (begin != 0)
      record(category, name, begin, now(), track);
  }
  Span(const Span &) = delete;
  Span &operator=(const Span &) = delete;

private:
  std::string_view name;
  int64_t begin;
  Category category;
  Track track;
};

/// Seconds, from the spans that are kept.
struct Summary {
  int64_t calls = 0;        ///< Compute spans
  double compute = 0;       ///< time inside Compute spans without the waits
  double communication = 0; ///< time in which at least one collective ran
  double exposed = 0;       ///< time inside Wait spans: communication that nothing hid
  int64_t lost = 0;         ///< spans that newer ones replaced

  /// "12 calls, compute 1.25 s, communication 0.5 s, of it exposed 0.125 s".
  std::string str() const;
};
Summary summary();

/// Begins with no spans. The trace goes to `path`; in a job of several ranks `trace.json` becomes `trace.rank2.json`.
/// InvalidInput when it cannot be written there.
Status start(const std::string &path);

/// Which rank this is, where the environment does not tell it; before `start`.
void setRank(int rank, int worldSize);

/// Ends recording and writes the spans as a Chrome trace, for chrome://tracing and Perfetto: `pid` is the rank, and
/// `otherData` has the summary. Nothing when off.
Status stop();

/// Starts once when DLC_PROFILE names a path, and stops at the program's end, with the summary on standard error. A
/// path that cannot be written is said there too and changes nothing else.
void startFromEnvironment();

} // namespace dlc::runtime::profile
