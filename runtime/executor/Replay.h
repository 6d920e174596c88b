#pragma once

#include "dlc/runtime/Device.h"
#include "dlc/runtime/Manifest.h"
#include "executor/Segment.h"

#include <functional>
#include <list>
#include <optional>
#include <vector>

namespace dlc::runtime {
class Collectives;
}

namespace dlc {

/// Gives a program's work to a stream: each segment that comes again as a graph, at the cost of one call.
///
/// An entry's code calls `launch` and `copy`, and `boundary` before it waits for anything. What it gives between two
/// boundaries is done at once and noted when it is new; later it is held back while it is the same as noted, and given
/// at the boundary: captured the first time, launched from then on. An entry without boundaries is one segment, and its
/// code is not run again for the same pointers.
class Replay {
public:
  /// What an entry's code can depend on before the first boundary.
  struct Call {
    size_t entry = 0;
    std::vector<const void *> pointers;
    friend bool operator==(const Call &, const Call &) = default;
  };

  /// All three must stay.
  Replay(runtime::Stream &stream, runtime::Kernels &kernels, const Manifest &manifest)
      : stream(stream), kernels(kernels), manifest(manifest) {}

  /// Does a call; `enter` runs the entry's code.
  Status run(Call call, const std::function<Status()> &enter);

  /// Of the program, which has some.
  void use(runtime::Collectives &all) { collectives = &all; }

  Status launch(uint32_t kernel, void *const *operands);
  Status copy(void *to, const void *from, int64_t bytes);
  /// Of a collective; boundaries where the host has work with it.
  Status start(uint32_t collective, const void *from, void *to);
  Status wait(uint32_t collective);
  /// Gives what was held back; what comes now is another segment.
  Status boundary();

private:
  /// Work that came at a place before.
  struct Known {
    Segment work;
    bool closed = true;       ///< work.isClosed()
    std::optional<Call> call; ///< whose whole work it is
    std::unique_ptr<runtime::Graph> graph;
  };
  using Place = std::list<Known>; ///< the latest first

  /// How the segment that is under way is given.
  enum class Mode {
    Direct, ///< at once
    Noted,  ///< at once, and noted
    Held,   ///< not yet: it is the same as `same` so far
  };

  void begin(size_t boundary);
  Status give(const Piece &piece);
  Status giveNow(const Piece &piece);
  Status giveHeld();
  bool isSame(const std::function<bool(const Segment &)> &fits);
  Status finish(Call *whole);
  Status play(Place::iterator known);
  Status capture(Known &known);
  Status giveAll(const Known &known);

  // Graphs are for work that comes again: of other work the memory would grow.
  static constexpr size_t kMostAtPlace = 8; ///< branches and pointers that take turns
  static constexpr size_t kMostPlaces = 256;

  runtime::Stream &stream;
  runtime::Kernels &kernels;
  const Manifest &manifest;
  runtime::Collectives *collectives = nullptr;
  bool graphs = true;                     ///< the device has them, as far as is known
  std::vector<std::vector<Place>> places; ///< by entry, and number of boundaries before

  // Of the call that runs.
  size_t entry = 0, boundaries = 0;
  Place *place = nullptr;
  Mode mode = Mode::Direct;
  Place::iterator same;
  size_t position = 0; ///< how far it is the same
  Segment noted;
};

} // namespace dlc
