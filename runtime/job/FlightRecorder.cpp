#include "job/FlightRecorder.h"

#include "base/FileError.h"
#include "base/ReplaceFile.h"
#include "rendezvous/Meeting.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace dlc::runtime {

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMostLines = 4;

bool good(const OperationRecord &operation) { return operation.done && !operation.failed; }

const char *stateOf(const OperationRecord &operation) {
  return operation.failed ? "failed" : operation.done ? "done" : operation.started ? "under way" : "queued";
}

std::string textOf(const OperationRecord &operation) {
  if (operation.label.empty())
    return operation.name;
  return operation.label + ", step " + std::to_string(operation.id.step);
}

std::string lasted(const OperationRecord &operation, Clock::time_point now) {
  double seconds = std::chrono::duration<double>(operation.done.value_or(now) - *operation.enqueued).count();
  char text[64];
  std::snprintf(text, sizeof text, " %s %s %.1f s", stateOf(operation), operation.done ? "after" : "for", seconds);
  return text;
}

/// Nothing where all that was started is done.
std::string lineOf(const ChannelRecord &channel, Clock::time_point now) {
  const OperationRecord *last = nullptr;
  for (const OperationRecord &operation : channel.operations) {
    if (good(operation)) {
      last = &operation;
      continue;
    }
    return "\n  " + (channel.member.empty() ? "this rank" : channel.member) + ", " + channel.group + ", channel " +
           std::to_string(channel.channel) + ": " + textOf(operation) + lasted(operation, now) +
           (last ? "; done before: " + textOf(*last) : "");
  }
  return {};
}

/// Seconds of the system's clock, which the ranks' files have in common.
nlohmann::json timeOf(const std::optional<Clock::time_point> &time) {
  if (!time)
    return nullptr;
  auto system = std::chrono::system_clock::now() +
                std::chrono::duration_cast<std::chrono::system_clock::duration>(*time - Clock::now());
  return double(std::chrono::duration_cast<std::chrono::microseconds>(system.time_since_epoch()).count()) / 1e6;
}

nlohmann::json jsonOf(const OperationRecord &operation) {
  return {{"number", operation.number},
          {"name", operation.name},
          {"label", operation.label},
          {"executable", operation.id.executable},
          {"index", operation.id.index},
          {"step", operation.id.step},
          {"dtype", dlc::name(operation.type)},
          {"count", operation.count},
          {"state", stateOf(operation)},
          {"enqueued", timeOf(operation.enqueued)},
          {"started", timeOf(operation.started)},
          {"done", timeOf(operation.done)}};
}

std::string dump(const nlohmann::json &json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
}

/// An operation a line, to be read by people too.
std::string fileText(const Contract &contract, const std::vector<ChannelRecord> &channels, const Status &why) {
  nlohmann::json about = {
      {"rank", contract.rank},   {"world_size", contract.worldSize},  {"host", hostName()},
      {"pid", ::getpid()},       {"generation", contract.generation}, {"time", timeOf(Clock::now())},
      {"failure", why.message()}};
  std::string text = "{\"about\": " + dump(about) + ",\n \"communicators\": [";
  const char *separator = "";
  for (const ChannelRecord &channel : channels) {
    nlohmann::json which = {
        {"member", channel.member}, {"group", channel.group}, {"channel", channel.channel}, {"engine", channel.engine}};
    text += std::string(separator) + "\n  {\"communicator\": " + dump(which) + ", \"operations\": [";
    separator = ",";
    const char *inner = "\n   ";
    for (const OperationRecord &operation : channel.operations) {
      text += inner + dump(jsonOf(operation));
      inner = ",\n   ";
    }
    text += "]}";
  }
  return text + "]}\n";
}

Status write(const std::string &directory, const std::string &path, const std::string &text) {
  if (::mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST)
    return systemError("cannot make the directory").withContext(directory);
  std::span<const std::byte> chunk = std::as_bytes(std::span(text));
  return replaceFile(path, {&chunk, 1});
}

} // namespace

std::string reportChannels(const Contract &contract, const std::vector<ChannelRecord> &channels, const Status &why) {
  Clock::time_point now = Clock::now();
  std::string text;
  size_t lines = 0;
  for (const ChannelRecord &channel : channels)
    if (std::string line = lineOf(channel, now); !line.empty() && lines++ < kMostLines)
      text += line;
  const char *directory = std::getenv("DLC_FLIGHT_RECORDER");
  if (!directory || !*directory)
    return text;
  std::string path = std::string(directory) + "/rank" + std::to_string(contract.rank) +
                     (contract.generation ? ".generation" + std::to_string(contract.generation) : "") + ".json";
  Status written = write(directory, path, fileText(contract, channels, why));
  return text + (written.ok() ? "\n  last collectives of this rank: " + path
                              : "\n  no file of the last collectives (DLC_FLIGHT_RECORDER): " + written.message());
}

} // namespace dlc::runtime
