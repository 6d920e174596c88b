#include "Progress.h"

#include <cstdio>
#include <string>
#include <unistd.h>

Progress::Progress(int64_t steps, int64_t examples)
    : steps(steps), totalExamples(examples), terminal(isatty(STDOUT_FILENO) != 0) {}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }

void Progress::update(double loss, int64_t examples) {
  ++step;
  seen += examples;
  auto now = Clock::now();
  if (now - last < (terminal ? std::chrono::milliseconds(50) : std::chrono::milliseconds(10'000)))
    return;
  last = now;
  print(loss);
}

void Progress::print(double loss) const {
  constexpr int kWidth = 30;
  double rate = double(seen) / seconds();
  double left = double(totalExamples - seen) / rate;
  if (!terminal) {
    std::printf("step %lld of %lld  loss %.4f  %.0f examples/s  %.0f s left\n", (long long)step, (long long)steps, loss,
                rate, left);
    return;
  }
  auto done = size_t(kWidth * step / steps);
  std::printf("\r\033[K[%s%s] step %lld/%lld  loss %.4f  %.0f examples/s  %.0f s left", std::string(done, '#').c_str(),
              std::string(kWidth - done, '.').c_str(), (long long)step, (long long)steps, loss, rate, left);
  std::fflush(stdout);
}

void Progress::clear() {
  if (terminal)
    std::printf("\r\033[K");
}
