#pragma once

#include "dlc/runtime/Executable.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace dlc::runtime {

/// Which kernels may still run on a device. The driver reports a kernel's failure later, from any call, without its
/// name: this says which it can have been.
class LaunchLog {
public:
  struct Launch {
    std::shared_ptr<const Executable> executable;
    uint32_t kernel = 0;
    std::string entry;
    /// "step: model.cpp:10: dl.add: kernel 'k0'".
    std::string str() const;
  };

  void add(const void *stream, Launch launch);
  /// The stream's kernels have all run.
  void done(const void *stream);
  /// Those of all streams have.
  void clear();
  /// The one kernel since the last wait, or from where to where; empty: none.
  std::string suspects() const;

private:
  struct Span {
    Launch first, last;
    int64_t count = 0;
  };
  mutable std::mutex lock;
  std::map<const void *, Span> streams;
};

} // namespace dlc::runtime
