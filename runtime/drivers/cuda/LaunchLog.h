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

  /// Launches one after another.
  struct Span {
    Launch first, last;
    int64_t count = 0;
    /// One launch, or "… to …"; empty: none.
    std::string str() const;
  };

  void add(const void *stream, Launch launch);
  /// All those of a graph.
  void add(const void *stream, const Span &span);
  /// From here on, and up to `endNote`, the stream's launches are only noted.
  void beginNote(const void *stream);
  /// Those.
  Span endNote(const void *stream);
  /// The stream's kernels have all run.
  void done(const void *stream);
  /// Those of all streams have.
  void clear();
  /// The one kernel since the last wait, or from where to where; empty: none.
  std::string suspects() const;

private:
  mutable std::mutex lock;
  std::map<const void *, Span> streams, noted;
};

} // namespace dlc::runtime
