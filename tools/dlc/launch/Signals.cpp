#include "launch/Signals.h"

#include <initializer_list>
#include <sys/signalfd.h>
#include <unistd.h>

namespace dlc::launch {

Signals::Signals() {
  sigset_t heard;
  sigemptyset(&heard);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    struct sigaction action{};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) // nohup, and background jobs of scripts
      sigaddset(&heard, signal);
  }
  sigaddset(&heard, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &heard, &before_);
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, &pipe_);
  action.sa_handler = SIG_DFL; // ignored, children would leave no status
  ::sigaction(SIGCHLD, &action, &child_);
  descriptor_ = ::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
}

Signals::~Signals() {
  ::close(descriptor_);
  restore();
}

int Signals::next() {
  signalfd_siginfo info;
  return ::read(descriptor_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void Signals::restore() const {
  ::sigaction(SIGPIPE, &pipe_, nullptr);
  ::sigaction(SIGCHLD, &child_, nullptr);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

} // namespace dlc::launch
