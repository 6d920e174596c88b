#pragma once

#include "dlc/runtime/Stream.h"

#include <functional>
#include <list>
#include <set>
#include <vector>

namespace dlc {

/// The graphs of a program's entries: a call with the pointers of an earlier one gives its work to the stream at once.
class Replay {
public:
  /// What of a call is in its work: the entry and every pointer.
  struct Call {
    size_t entry = 0;
    std::vector<const void *> pointers;
    friend bool operator==(const Call &, const Call &) = default;
  };
  /// Gives a call's work to the stream; how many pieces, and whether it waited for some of it.
  struct Given {
    int64_t pieces = 0;
    bool waited = false;
  };
  using Give = std::function<Status(Given &given, bool capturing)>;

  /// The first call does its work by itself, the second is captured, where that is worth it.
  Status run(runtime::Stream &stream, Call call, const Give &give);

private:
  struct Known {
    Call call;
    std::unique_ptr<runtime::Graph> graph;
  };
  Status capture(runtime::Stream &stream, Known &known, const Give &give);

  /// Graphs are for calls that come again: of others the memory would grow.
  static constexpr size_t kMost = 8;
  std::list<Known> known; ///< the latest first
  std::set<size_t> plain; ///< entries that are never captured
};

} // namespace dlc
