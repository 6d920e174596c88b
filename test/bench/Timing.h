#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace dlc::bench {

using Clock = std::chrono::steady_clock;

inline double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Of steps, in seconds: the first, cold one; median and the tenth and ninetieth percentile of those after the tenth.
struct Times {
  double first, median, low, high;

  std::string json() const {
    char text[200];
    std::snprintf(text, sizeof text, "\"first\": %.9f, \"median\": %.9f, \"low\": %.9f, \"high\": %.9f", first, median,
                  low, high);
    return text;
  }
};

/// Steps for a while; `step` must wait for its result. `goOn` has the last word every ten steps, outside the times.
template <typename Step, typename GoOn>
Times timeSteps(double seconds, Step step, GoOn goOn) {
  std::vector<double> times;
  for (auto begin = Clock::now(); times.size() % 10 || goOn(secondsSince(begin) < seconds || times.size() < 20);) {
    auto start = Clock::now();
    step();
    times.push_back(secondsSince(start));
  }
  double first = times.front();
  times.erase(times.begin(), times.begin() + 10);
  std::sort(times.begin(), times.end());
  auto at = [&](double share) { return times[size_t(share * double(times.size() - 1))]; };
  return {first, at(0.5), at(0.1), at(0.9)};
}

} // namespace dlc::bench
