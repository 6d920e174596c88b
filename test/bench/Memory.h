#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace dlc::bench {

/// What this process holds in memory, in bytes, as the kernel counts it.
struct Memory {
  int64_t anonymous = 0;    ///< heap, stacks, arenas, written pages of libraries
  int64_t file = 0;         ///< pages of files, shared with every process that maps them
  int64_t peakResident = 0; ///< the most both together have been

  static Memory now() {
    Memory memory;
    memory.anonymous = field("/proc/self/smaps_rollup", "Anonymous:");
    memory.file = field("/proc/self/smaps_rollup", "Rss:") - memory.anonymous;
    memory.peakResident = field("/proc/self/status", "VmHWM:");
    return memory;
  }

private:
  /// A line "<name> <number> kB".
  static int64_t field(const char *path, const std::string &name) {
    std::ifstream file(path);
    std::string word;
    while (file >> word)
      if (int64_t kilobytes = 0; word == name && file >> kilobytes)
        return kilobytes * 1024;
    return 0;
  }
};

} // namespace dlc::bench
