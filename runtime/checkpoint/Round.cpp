#include "checkpoint/Round.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace dlc::runtime {
namespace {

// Meetings of one call.
constexpr int64_t kMostMeetings = 4;
// A failure is a sentence; the store refuses what is much larger.
constexpr size_t kLongestMessage = 4096;

// One key of each member, written again in each meeting: nobody comes to the next before it has read this one's answer.
std::string keyOf(const CheckpointGroup &group, const std::string &name) {
  return "generation/" + std::to_string(group.generation) + "/checkpoint/" + name;
}

/// "<number> <code> <text>".
std::string encode(int64_t number, const StatusOr<std::string> &value) {
  std::string text = std::to_string(number) + " " + std::to_string(static_cast<int>(value.status().code())) + " ";
  return text + (value.ok() ? *value : value.status().message().substr(0, kLongestMessage));
}

int64_t takeNumber(std::string_view &text) {
  int64_t number = -1;
  const char *last = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  text.remove_prefix(std::min(text.size(), static_cast<size_t>(last - text.data()) + 1));
  return number;
}

StatusOr<std::string> decode(std::string_view text) {
  int64_t code = takeNumber(text);
  if (code == static_cast<int64_t>(StatusCode::Ok))
    return std::string(text);
  bool known = code > 0 && code <= static_cast<int64_t>(StatusCode::Internal);
  return Status(known ? static_cast<StatusCode>(code) : StatusCode::Internal, std::string(text));
}

/// One failure of all members': the first, with its rank unless all say the same.
Status combine(const std::vector<StatusOr<std::string>> &texts) {
  auto failed = std::find_if(texts.begin(), texts.end(), [](const auto &text) { return !text.ok(); });
  if (failed == texts.end())
    return {};
  Status first = failed->status();
  bool all = std::all_of(texts.begin(), texts.end(), [&](const StatusOr<std::string> &text) {
    return !text.ok() && text.status().message() == first.message();
  });
  return all ? first : first.withContext("rank " + std::to_string(failed - texts.begin()));
}

std::string limitText(std::chrono::milliseconds limit) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g s", static_cast<double>(limit.count()) / 1000);
  return text.data();
}

Status checkGroup(const CheckpointGroup &group) {
  if (group.worldSize < 1 || group.rank < 0 || group.rank >= group.worldSize)
    return {StatusCode::InvalidInput,
            "expects a rank from 0 to " + std::to_string(group.worldSize - 1) + ", got " + std::to_string(group.rank)};
  if (group.worldSize > 1 && !group.store)
    return {StatusCode::InvalidInput, "expects a store for " + std::to_string(group.worldSize) + " members, got none"};
  return {};
}

} // namespace

Round::Round(const CheckpointGroup &group, std::string what)
    : group(group), what(std::move(what)), fault(checkGroup(group)) {
  if (!fault.ok() || group.worldSize == 1)
    return;
  StatusOr<int64_t> call = group.store->add(keyOf(group, "calls/" + std::to_string(group.rank)), 1);
  fault = call.status();
  number = call.ok() ? *call * kMostMeetings : 0;
}

StatusOr<std::string> Round::waitFor(const std::string &key, Deadline deadline, const std::string &who) {
  std::string known;
  while (true) {
    StatusOr<std::string> value = group.store->watch(key, known, deadline);
    if (!value.ok() && value.status().code() != StatusCode::LimitExceeded)
      return value;
    if (!value.ok())
      return Status(StatusCode::PeerFailed, who + " did not come to " + what + " within " + limitText(group.timeout));
    std::string_view text = *value;
    int64_t theirs = takeNumber(text);
    if (theirs == number)
      return std::string(text);
    if (theirs > number)
      return Status(StatusCode::PeerFailed, who + " is past " + what + ", which this rank has not done");
    known = value.take(); // of an earlier meeting
  }
}

StatusOr<std::string> Round::decideForAll(const StatusOr<std::string> &mine, const Decide &decide) {
  Deadline deadline = std::chrono::steady_clock::now() + group.timeout;
  std::vector<StatusOr<std::string>> texts = {mine};
  Status lost;
  for (int rank = 1; rank < group.worldSize; ++rank) {
    std::string name = std::to_string(rank);
    StatusOr<std::string> text = waitFor(keyOf(group, name), deadline, "rank " + name);
    if (!text.ok() && lost.ok())
      lost = text.status();
    texts.push_back(text.ok() ? decode(*text) : StatusOr<std::string>(std::string()));
  }
  // A failure may be why another member did not come.
  if (Status failure = combine(texts); !failure.ok())
    return failure;
  if (!lost.ok())
    return lost;
  std::vector<std::string> all;
  all.reserve(texts.size());
  for (StatusOr<std::string> &text : texts)
    all.push_back(text.take());
  return decide(all);
}

StatusOr<std::string> Round::meet(const StatusOr<std::string> &mine, const Decide &decide) {
  if (!fault.ok())
    return fault;
  if (group.worldSize == 1)
    return mine.ok() ? decide({*mine}) : mine;
  ++number;
  std::string answerKey = keyOf(group, "answer");
  if (group.rank == 0) {
    StatusOr<std::string> answer = decideForAll(mine, decide);
    Status told = group.store->set(answerKey, encode(number, answer));
    return told.ok() ? answer : StatusOr<std::string>(told);
  }
  std::string text = encode(number, mine);
  if (text.size() > kLongestStoreValue)
    text = encode(number,
                  Status(StatusCode::LimitExceeded, "expects at most " + std::to_string(kLongestStoreValue) +
                                                        " bytes about its pieces, has " + std::to_string(text.size())));
  if (Status status = group.store->set(keyOf(group, std::to_string(group.rank)), text); !status.ok())
    return status;
  // Member 0 says who is missing, at its own limit: somewhat later than a wait that began here.
  StatusOr<std::string> answer =
      waitFor(answerKey, std::chrono::steady_clock::now() + group.timeout + group.timeout / 4, "rank 0");
  return answer.ok() ? decode(*answer) : answer;
}

Status Round::agree(const Status &mine) {
  StatusOr<std::string> text = mine.ok() ? StatusOr<std::string>(std::string()) : StatusOr<std::string>(mine);
  return meet(text, [](const std::vector<std::string> &) { return StatusOr<std::string>(std::string()); }).status();
}

Status agree(const CheckpointGroup &group, const std::string &what, const Status &mine) {
  return Round(group, what).agree(mine);
}

} // namespace dlc::runtime
