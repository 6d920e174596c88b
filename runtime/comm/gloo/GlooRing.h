#pragma once

#include "comm/gloo/GlooContext.h"

#include <functional>
#include <mutex>
#include <thread>

namespace dlc::runtime {

/// Spreads failures: each member watches the next one, and tells the one before how it ends. So every member hears of
/// a failure after as many hops as there are members, whatever it waits for, with one thread a channel.
class GlooRing {
public:
  /// `failed` is called on the ring's thread, once: the next member has failed with that text, or is lost.
  GlooRing(GlooContext &context, const Group &group, std::function<void(const std::string &text)> failed);
  /// Ends the thread; whoever is told nothing before sees a lost member.
  ~GlooRing();

  /// Tells the member before that this one leaves in peace (empty text) or has failed; the first time only. Waits
  /// some milliseconds at most.
  void tell(const std::string &text) noexcept;

private:
  static constexpr uint64_t kSlot = ~uint64_t(0);
  struct Notice {
    uint32_t failed = 0;
    char text[1020] = {};
  };

  void watch();

  GlooContext &context;
  const std::string nextName;
  const int size, before, next;
  std::function<void(const std::string &)> failed;
  Notice heard, told;
  std::mutex telling;
  bool hasTold = false;
  std::unique_ptr<gloo::transport::UnboundBuffer> watched;
  std::thread thread;
};

} // namespace dlc::runtime
