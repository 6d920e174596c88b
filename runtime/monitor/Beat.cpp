#include "monitor/Beat.h"

#include <charconv>

namespace dlc::runtime {

namespace {

constexpr uint64_t kMostMembers = 65536;

/// Numbers separated by spaces.
class Numbers {
public:
  explicit Numbers(std::string_view text) : rest(text) {}

  template <typename Number>
  void read(Number &value) {
    const char *first = rest.begin(), *last = rest.end();
    auto [end, error] = std::from_chars(first, last, value);
    good &= error == std::errc() && (end == last || *end == ' ');
    rest.remove_prefix(good ? size_t(end - first) : rest.size());
    if (!rest.empty())
      rest.remove_prefix(1);
  }
  bool complete() const { return good && rest.empty(); }
  bool good = true;

private:
  std::string_view rest;
};

} // namespace

Beat::Member Beat::of(const Progress &progress) {
  Member member;
  member.step = progress.step();
  member.phase = progress.phase();
  member.program = progress.program();
  member.index = progress.index();
  member.milliseconds = progress.milliseconds();
  for (size_t c = 0; c < Progress::kChannels; ++c) {
    const Progress::Channel &channel = progress.channel(c);
    member.channels[c].started = channel.started.load(std::memory_order_acquire);
    for (size_t i = 0; i < Progress::kMarks; ++i)
      member.channels[c].marks[i] = channel.marks[i].load(std::memory_order_relaxed);
    // Marks of collectives that were started meanwhile would pass for older ones.
    if (channel.started.load(std::memory_order_acquire) != member.channels[c].started)
      member.channels[c].marks = {};
  }
  return member;
}

std::string Beat::text() const {
  std::string text = std::to_string(number) + " " + std::to_string(members.size());
  auto add = [&](auto value) { text += " " + std::to_string(value); };
  for (const Member &member : members) {
    add(member.step);
    add(int(member.phase));
    add(member.program);
    add(member.index);
    add(member.milliseconds);
    for (const Member::Channel &channel : member.channels) {
      add(channel.started);
      for (uint64_t mark : channel.marks)
        add(mark);
    }
  }
  return text;
}

std::optional<Beat> Beat::parse(std::string_view text) {
  Numbers numbers(text);
  Beat beat;
  uint64_t count = 0;
  numbers.read(beat.number);
  numbers.read(count);
  for (uint64_t i = 0; i < count && numbers.good && count <= kMostMembers; ++i) {
    Member &member = beat.members.emplace_back();
    unsigned phase = 0;
    numbers.read(member.step);
    numbers.read(phase);
    numbers.read(member.program);
    numbers.read(member.index);
    numbers.read(member.milliseconds);
    for (Member::Channel &channel : member.channels) {
      numbers.read(channel.started);
      for (uint64_t &mark : channel.marks)
        numbers.read(mark);
    }
    numbers.good &= phase <= unsigned(Phase::Leave) && member.milliseconds >= 0;
    member.phase = Phase(phase);
  }
  return numbers.complete() && count == beat.members.size() ? std::optional(beat) : std::nullopt;
}

} // namespace dlc::runtime
