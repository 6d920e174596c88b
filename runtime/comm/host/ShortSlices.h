#pragma once

#include <cstdint>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dlc::runtime {

/// While it lives this thread, and threads it starts from then on, have time slices of 0.1 ms. For threads that share a
/// processor with one that computes and mostly wait: Linux (6.12 and later) then lets them run as soon as they have
/// something to do, and not milliseconds later. Other systems ignore it.
class ShortSlices {
public:
  ShortSlices() : before(setSlice(100'000)) {}
  ~ShortSlices() { setSlice(before); }
  ShortSlices(const ShortSlices &) = delete;
  ShortSlices &operator=(const ShortSlices &) = delete;

private:
  /// In ns, 0 as the system likes; returns what it was.
  static uint64_t setSlice(uint64_t nanoseconds) {
    struct { // sched_attr of the kernel, whose header cannot stand beside the C library's
      uint32_t size, policy;
      uint64_t flags;
      int32_t nice;
      uint32_t priority;
      uint64_t runtime, deadline, period;
    } attributes{};
    if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 || attributes.policy != SCHED_OTHER)
      return 0;
    uint64_t had = attributes.runtime;
    attributes.runtime = nanoseconds;
    (void)::syscall(SYS_sched_setattr, 0, &attributes, 0);
    return had;
  }

  uint64_t before;
};

} // namespace dlc::runtime
