#include "job/ProgramCheck.h"

#include "job/Lines.h"
#include "rendezvous/Digest.h"
#include "rendezvous/Meeting.h"

#include <algorithm>
#include <vector>

namespace dlc::runtime {

namespace {

constexpr size_t kMostText = kLongestStoreValue / 2;

/// In one line whatever a name holds.
std::string oneLine(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

std::string valueText(const ValueInfo &value) {
  std::string text = value.name + ": " + value.type.str();
  if (value.sharding)
    text += " of " + TensorType{value.type.dtype, value.sharding->shape}.str();
  return text;
}

std::string entryText(const EntryInfo &entry) {
  std::string text = entry.name + "(";
  for (const ValueInfo &argument : entry.arguments)
    text += (&argument == entry.arguments.data() ? "" : ", ") + valueText(argument);
  text += ") -> (";
  for (const ValueInfo &result : entry.results)
    text += (&result == entry.results.data() ? "" : ", ") + valueText(result);
  return text + ")";
}

std::string collectiveText(const Manifest &manifest, const CollectiveInfo &info) {
  std::string text(name(info.kind));
  if (reduces(info.kind))
    text += " " + std::string(name(info.reduce));
  text += " along";
  for (const std::string &axis : info.axes)
    text += " " + axis;
  text += ", " + std::to_string(info.count) + " x " + std::string(dlc::name(info.dtype)) + ", channel " +
          std::to_string(info.channel);
  if (!info.tensors.empty())
    text += ", " + info.tensors.front() + (info.tensors.size() > 1 ? " … " + info.tensors.back() : "");
  std::string place = manifest.place(uint64_t(info.site));
  return place.empty() ? text : text + " (" + place + ")";
}

/// A line each: hash of the program, mesh, entries, collectives. What all ranks must have the same.
std::string describe(const Manifest &manifest) {
  std::string text = "program " + (manifest.fingerprint ? manifest.fingerprint->program : "without fingerprint");
  text += "\nmesh";
  for (const MeshInfo::Axis &axis : manifest.mesh.axes)
    text += " " + oneLine(axis.name) + " = " + std::to_string(axis.size);
  for (const EntryInfo &entry : manifest.entries)
    text += "\nentry " + oneLine(entryText(entry));
  for (size_t i = 0; i < manifest.collectives.size() && text.size() < kMostText; ++i)
    text += "\ncollective " + std::to_string(i) + ": " + oneLine(collectiveText(manifest, manifest.collectives[i]));
  return text.substr(0, kMostText);
}

/// The first line that differs but for the program's hash, which says nothing to people.
std::string firstDifference(const std::string &one, const std::string &oneRank, const std::string &other,
                            const std::string &otherRank) {
  static const std::string kNothing = "nothing";
  std::vector<std::string> left = linesOf(one), right = linesOf(other);
  for (size_t i = 1; i < std::max(left.size(), right.size()); ++i) {
    const std::string &l = i < left.size() ? left[i] : kNothing, &r = i < right.size() ? right[i] : kNothing;
    if (l != r)
      return std::string("\n    ")
          .append(oneRank)
          .append(": ")
          .append(l)
          .append("\n    ")
          .append(otherRank)
          .append(": ")
          .append(r);
  }
  constexpr size_t shown = 20;
  std::string text = " other operations: ";
  text.append(left[0], 0, shown).append("… and ").append(right[0], 0, shown).append("…");
  return text;
}

} // namespace

std::string entryNames(const Manifest &manifest) {
  std::string names;
  for (const EntryInfo &entry : manifest.entries)
    names += (names.empty() ? "" : ", ") + entry.name;
  return oneLine(names);
}

StatusOr<uint32_t> ProgramCheck::check(const Manifest &manifest) {
  std::string mine = describe(manifest);
  std::lock_guard guard(lock_);
  std::string key = hex(view(sha256(mine + (manifest.fingerprint ? manifest.fingerprint->sequence : ""))));
  if (auto found = known_.find(key); found != known_.end())
    return found->second;
  auto number = uint32_t(known_.size() + 1);
  Status status = contract_.worldSize == 1 ? Status() : compare(mine, number, entryNames(manifest));
  StatusOr<uint32_t> result = status.ok() ? StatusOr<uint32_t>(number) : status;
  known_.emplace(std::move(key), result);
  return result;
}

Status ProgramCheck::compare(const std::string &mine, uint32_t number, const std::string &entries) {
  Deadline deadline = std::chrono::steady_clock::now() + contract_.timeout;
  std::string stage = "program/" + std::to_string(number), about = keyPrefix(contract_) + stage + "/about";
  Meeting meeting(store_, contract_, stage, deadline);
  if (contract_.rank == 0)
    if (Status status = store_.set(about, who_ + "\n" + mine); !status.ok())
      return status;
  StatusOr<std::string> value = store_.get(about, deadline);
  std::string what = "attach program " + std::to_string(number) + ", " + entries;
  if (!value.ok() && value.status().code() == StatusCode::LimitExceeded)
    return meeting.fail({StatusCode::PeerFailed, "rank 0 did not come to " + what + " within " +
                                                     secondsText(contract_.timeout) + " (DLC_TIMEOUT)"});
  if (!value.ok())
    return value.status();
  std::string other = value->substr(0, value->find('\n')), theirs = value->substr(other.size() + 1);
  if (theirs != mine)
    return meeting.fail(
        {StatusCode::InvalidInput, "ranks run different programs as number " + std::to_string(number) +
                                       "; first difference:" + firstDifference(theirs, other, mine, who_)});
  if (Status status = meeting.arrive(who_); !status.ok())
    return status;
  return meeting.waitForAll("not all ranks came to " + what);
}

} // namespace dlc::runtime
