#include "profile/Recorder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace dlc::runtime::profile {
namespace {

constexpr double kSecond = 1e9;

/// The time that spans given by begin cover together.
class Union {
public:
  void add(const Recorded &span) {
    if (span.end <= covered)
      return;
    total += span.end - std::max(covered, span.begin);
    covered = span.end;
  }
  double seconds() const { return static_cast<double>(total) / kSecond; }

private:
  int64_t covered = INT64_MIN, total = 0;
};

const char *text(Category category) {
  switch (category) {
  case Category::Compute:
    return "compute";
  case Category::Communication:
    return "communication";
  case Category::Wait:
    return "wait";
  case Category::Input:
    return "input";
  }
  return "";
}

/// Viewers need the spans of one line to lie apart or inside each other. Collectives of a channel overlap, as they wait
/// for their turn: those that do not fit go to a further line.
class Lines {
public:
  struct Line {
    Track track;
    size_t place; ///< among the lines of its track
  };

  size_t lineFor(const Recorded &span) {
    std::vector<Open> &open = opens[span.track];
    for (Open &line : open) {
      while (!line.ends.empty() && line.ends.back() <= span.begin)
        line.ends.pop_back();
      if (line.ends.empty() || span.end <= line.ends.back()) {
        line.ends.push_back(span.end);
        return line.number;
      }
    }
    open.push_back({lines.size(), {span.end}});
    lines.push_back({span.track, open.size()});
    return lines.size() - 1;
  }
  const std::vector<Line> &all() const { return lines; }

private:
  struct Open {
    size_t number;
    std::vector<int64_t> ends; ///< of the spans around the next one
  };
  std::map<Track, std::vector<Open>> opens;
  std::vector<Line> lines;
};

std::string jsonText(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
}

/// Microseconds with their nanoseconds.
std::string micros(int64_t nanoseconds) {
  std::array<char, 40> digits{};
  std::snprintf(digits.data(), digits.size(), "%lld.%03d", static_cast<long long>(nanoseconds / 1000),
                static_cast<int>(nanoseconds % 1000));
  return digits.data();
}

std::string metadata(const char *kind, const Identity &identity, size_t line, const std::string &value) {
  return std::string("{\"ph\":\"M\",\"name\":\"") + kind + "\",\"pid\":" + std::to_string(identity.rank) +
         ",\"tid\":" + std::to_string(line) + ",\"args\":{\"name\":" + jsonText(value) + "}}";
}

} // namespace

std::string Summary::str() const {
  std::array<char, 160> line{};
  std::snprintf(line.data(), line.size(), "%lld calls, compute %.4g s, communication %.4g s, of it exposed %.4g s",
                static_cast<long long>(calls), compute, communication, exposed);
  std::string result = line.data();
  return lost == 0 ? result : result + " (without the oldest " + std::to_string(lost) + " spans)";
}

Summary summarize(const Recording &recording) {
  Summary result;
  result.lost = recording.lost;
  Union communication;
  std::map<Track, Union> compute, wait, inside;
  for (const Recorded &span : recording.spans) {
    switch (span.category) {
    case Category::Compute:
      ++result.calls;
      compute[span.track].add(span);
      inside[span.track].add(span);
      break;
    case Category::Communication:
      communication.add(span);
      break;
    case Category::Wait:
      wait[span.track].add(span);
      inside[span.track].add(span);
      break;
    case Category::Input:
      break;
    }
  }
  result.communication = communication.seconds();
  for (const auto &[track, waited] : wait)
    result.exposed += waited.seconds();
  // Time of a line in either kind, less that of waits.
  for (const auto &[track, both] : inside)
    result.compute += both.seconds() - (wait.contains(track) ? wait[track].seconds() : 0);
  return result;
}

Summary summary() { return summarize(recorded()); }

std::string traceJson(const Recording &recording, const Identity &identity) {
  std::string events;
  auto add = [&](const std::string &event) { events += (events.empty() ? "\n" : ",\n") + event; };
  std::string pid = std::to_string(identity.rank);
  Lines lines;
  for (const Recorded &span : recording.spans) {
    size_t line = lines.lineFor(span);
    add("{\"ph\":\"X\",\"name\":" + jsonText(span.name()) + ",\"cat\":\"" + text(span.category) + "\",\"pid\":" + pid +
        ",\"tid\":" + std::to_string(line) + ",\"ts\":" + micros(span.begin) +
        ",\"dur\":" + micros(span.end - span.begin) + "}");
  }
  for (const Counted &counted : recording.counted)
    add("{\"ph\":\"C\",\"name\":" + jsonText(counted.name) + ",\"pid\":" + pid + ",\"ts\":" + micros(counted.time) +
        ",\"args\":{" + jsonText(counted.unit) + ":" + nlohmann::json(counted.value).dump() + "}}");
  add(metadata("process_name", identity, 0, "rank " + pid));
  for (size_t i = 0; i < lines.all().size(); ++i) {
    const Lines::Line &line = lines.all()[i];
    const std::string &track = recording.tracks[static_cast<size_t>(line.track)];
    add(metadata("thread_name", identity, i,
                 line.place == 1 ? track : track + " (" + std::to_string(line.place) + ")"));
  }
  Summary total = summarize(recording);
  nlohmann::json other = {{"rank", identity.rank},
                          {"worldSize", identity.worldSize},
                          {"calls", total.calls},
                          {"computeSeconds", total.compute},
                          {"communicationSeconds", total.communication},
                          {"exposedSeconds", total.exposed},
                          {"lostSpans", total.lost}};
  return "{\"displayTimeUnit\":\"ms\",\"otherData\":" + other.dump() + ",\"traceEvents\":[" + events + "\n]}\n";
}

} // namespace dlc::runtime::profile
