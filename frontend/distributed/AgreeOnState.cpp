#include "record/AgreeOnState.h"

#include "distributed/Membership.h"
#include "record/Fault.h"
#include "record/Trace.h"

#include <algorithm>
#include <cstring>

namespace dlc::record {

using runtime::Communicator;
using runtime::Op;

namespace {

/// What the variable's arena holds, in memory of the host.
std::shared_ptr<Buffer> stateOf(Variable &variable, const std::source_location &where) {
  auto copy = Buffer::allocate(variable.type->bytes);
  copyBytes(Place::host(), copy->data, *variable.place, variable.data(), variable.type->bytes, where);
  return copy;
}

/// Of each variable of each rank, by rank.
std::vector<std::vector<uint64_t>> exchangeHashes(const Job &job, const std::vector<uint64_t> &own,
                                                  const std::source_location &where) {
  auto count = static_cast<int64_t>(own.size());
  std::vector<std::vector<uint64_t>> all(static_cast<size_t>(job.localMembers));
  for (auto &one : all)
    one.resize(own.size() * static_cast<size_t>(job.members));
  distributed::together(
      job,
      [&](Communicator &world, const Op &op, int local) {
        return world.allGather(op, {const_cast<uint64_t *>(own.data()), count, DType::I64},
                               {all[static_cast<size_t>(local)].data(), count * job.members, DType::I64});
      },
      where);
  std::vector<std::vector<uint64_t>> ranks;
  for (int rank = 0; rank < job.worldSize; ++rank) {
    auto first = all[0].begin() + count * rank * job.localMembers;
    ranks.emplace_back(first, first + count);
  }
  return ranks;
}

void takeFromFirst(const Job &job, Variable &variable, const std::source_location &where) {
  std::vector<std::shared_ptr<Buffer>> values; // one a member
  values.reserve(static_cast<size_t>(job.localMembers));
  for (int local = 0; local < job.localMembers; ++local)
    values.push_back(stateOf(variable, where));
  distributed::together(
      job,
      [&](Communicator &world, const Op &op, int local) {
        return world.broadcast(op, {values[static_cast<size_t>(local)]->data, variable.type->bytes, DType::I8}, 0);
      },
      where);
  copyBytes(*variable.place, variable.data(), Place::host(), values[0]->data, variable.type->bytes, where);
  variable.place->copyToMembers(variable.segment->name, variable.offset, variable.type->bytes, where);
  variable.pristine = false;
}

std::string listed(const std::vector<std::string> &names) {
  constexpr size_t most = 3;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i ? ", " : "") + names[i];
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

} // namespace

void agreeOnState(std::span<const std::shared_ptr<Variable>> variables, const std::source_location &where) {
  const Job &now = *job();
  std::vector<Variable *> fresh;
  std::vector<uint64_t> hashes;
  for (const auto &variable : variables)
    if (now.worldSize > 1 && !std::exchange(variable->agreed, true)) {
      fresh.push_back(variable.get());
      hashes.push_back(distributed::hashOf(stateOf(*variable, where)->data, variable->type->bytes));
    }
  if (fresh.empty())
    return;
  std::vector<std::vector<uint64_t>> ranks = exchangeHashes(now, hashes, where);
  std::vector<std::string> names;
  for (size_t i = 0; i < fresh.size(); ++i)
    if (std::any_of(ranks.begin(), ranks.end(), [&](const auto &rank) { return rank[i] != ranks[0][i]; })) {
      takeFromFirst(now, *fresh[i], where);
      names.push_back(fresh[i]->name());
    }
  if (names.empty() || now.rank != 0)
    return;
  std::string others;
  for (size_t rank = 1; rank < ranks.size(); ++rank)
    if (ranks[rank] != ranks[0])
      others += (others.empty() ? "" : ", ") + std::to_string(rank);
  remark("rank " + others + " had other values of " + listed(names) + "; all ranks have those of rank 0 now",
         locate(where));
}

} // namespace dlc::record

namespace dlc::distributed {

uint64_t hashOf(const void *data, int64_t bytes) {
  const char *from = static_cast<const char *>(data);
  uint64_t hash = 1;
  for (int64_t i = 0; i < bytes; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, from + i, static_cast<size_t>(std::min<int64_t>(8, bytes - i)));
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

} // namespace dlc::distributed
