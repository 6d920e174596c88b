#pragma once

#include <csignal>

namespace dlc::launch {

/// The signals that the launcher hears of by reading, while it lives: those that it forwards, and SIGCHLD. What was
/// ignored before stays so. SIGPIPE is ignored: a reader that has gone is an error of a write.
class Signals {
public:
  Signals();
  ~Signals();
  Signals(const Signals &) = delete;
  Signals &operator=(const Signals &) = delete;

  /// Readable when there is one.
  int descriptor() const { return descriptor_; }
  /// The next one, 0 if there is none.
  int next();

  /// Signals as they were, for a new process between fork and exec.
  void restore() const;

private:
  sigset_t before_;
  struct sigaction pipe_, child_;
  int descriptor_;
};

} // namespace dlc::launch
