#include "executor/Replay.h"

#include <algorithm>
#include <utility>

namespace dlc {

Status Replay::run(runtime::Stream &stream, Call call, const Give &give) {
  Given given;
  if (plain.contains(call.entry))
    return give(given, false);
  auto found = std::find_if(known.begin(), known.end(), [&](const Known &each) { return each.call == call; });
  if (found == known.end()) {
    Status status = give(given, false);
    // One launch is no more than one graph; who waits for the device cannot be captured.
    if (given.waited || given.pieces < 2)
      plain.insert(call.entry);
    else if (status.ok())
      known.push_front({std::move(call), nullptr});
    if (known.size() > kMost)
      known.pop_back();
    return status;
  }
  known.splice(known.begin(), known, found);
  if (found->graph)
    return stream.launch(*found->graph);
  return capture(stream, *found, give);
}

Status Replay::capture(runtime::Stream &stream, Known &known, const Give &give) {
  Given given;
  auto captured = stream.capture([&] { return give(given, true); });
  if (captured.ok() && *captured) {
    known.graph = captured.take();
    return stream.launch(*known.graph);
  }
  if (!captured.ok() && !given.waited)
    return captured.status();
  plain.insert(known.call.entry); // no graphs here, or this time it would have waited
  return give(given, false);
}

} // namespace dlc
