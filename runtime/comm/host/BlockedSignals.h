#pragma once

#include <csignal>

namespace dlc::runtime {

/// Threads started while it lives never run the program's signal handlers, nor die of SIGPIPE with a peer: Gloo writes
/// to sockets without MSG_NOSIGNAL. The program's own disposition stays as it is.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  /// A SIGPIPE of this thread's own writes meanwhile is dropped.
  ~BlockedSignals() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    timespec now{};
    while (!sigismember(&before, SIGPIPE) && sigtimedwait(&pipe, nullptr, &now) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
  sigset_t before;
};

} // namespace dlc::runtime
