#include "distributed/Membership.h"
#include "dlc/frontend/Distributed.h"
#include "nn/ModuleNode.h"
#include "record/Recording.h"
#include "record/Transfer.h"

#include <array>
#include <cstring>

namespace dlc::distributed::detail {

using record::fail;

namespace {

/// All state of the model, each variable once.
std::vector<std::pair<std::string, Tensor>> stateOf(const nn::Module &model) {
  std::vector<std::pair<std::string, Tensor>> state;
  for (const auto &[name, parameter] : model.named_parameters())
    state.emplace_back(name, parameter);
  for (const auto &[name, buffer] : model.named_buffers())
    state.emplace_back(name, buffer);
  return state;
}

/// One line a variable.
std::string describe(const std::vector<std::pair<std::string, Tensor>> &state, Where where) {
  std::string text;
  for (const auto &[name, tensor] : state)
    text += name + " " + trace::str(record::implOf(tensor, where).type) + "\n";
  return text;
}

/// Differs with all but certainty where the bytes do.
uint64_t hashOf(const void *data, size_t bytes, uint64_t hash) {
  const char *from = static_cast<const char *>(data);
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, from + i, std::min<size_t>(8, bytes - i));
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

std::string lineAt(const std::string &text, size_t at) {
  if (at >= text.size())
    return "no more";
  size_t begin = at ? text.rfind('\n', at - 1) + 1 : 0; // npos + 1 is 0
  return text.substr(begin, text.find('\n', at) - begin);
}

/// The ranks' models are made of other variables: which, by the first difference to rank 0.
[[noreturn]] void failDifferent(const record::Job &job, int other, const std::string &own, Where where) {
  static int count = 0;
  std::string key = "frontend/model/" + std::to_string(++count) + "/";
  runtime::Store &store = job.runtime->store();
  if (job.rank == 0 || job.rank == other)
    record::check(store.set(key + std::to_string(job.rank), own.substr(0, 1 << 19)), where);
  auto first = store.get(key + "0", job.runtime->deadline());
  record::check(first.status(), where);
  auto second = store.get(key + std::to_string(other), job.runtime->deadline());
  record::check(second.status(), where);
  size_t at = static_cast<size_t>(std::mismatch(first->begin(), first->end(), second->begin(), second->end()).first -
                                  first->begin());
  fail(ErrorKind::Distributed,
       "DataParallel: the model of rank " + std::to_string(other) + " is another than that of rank 0: it has " +
           lineAt(*second, at) + " where rank 0 has " + lineAt(*first, at),
       where);
}

} // namespace

void startDataParallel(const nn::Module &model, Where where) {
  const record::Job &job = record::requireJob("DataParallel", where);
  needValues("DataParallel() runs at once", where);
  record::cut(where);
  std::vector<std::pair<std::string, Tensor>> state = stateOf(model);
  std::string description = describe(state, where);
  std::array<uint64_t, 2> own{hashOf(description.data(), description.size(), 1), 2};
  for (const auto &[name, tensor] : state) {
    record::HostBytes bytes = record::readOnHost(tensor, where);
    own[1] = hashOf(bytes.data, static_cast<size_t>(record::implOf(tensor, where).type->bytes), own[1]);
  }
  std::vector<int64_t> mine{static_cast<int64_t>(own[0]), static_cast<int64_t>(own[1])};
  std::vector<std::vector<int64_t>> hashes;
  for (const Tensor &one : all_gather(tensor(mine, {2}), where))
    hashes.push_back(one.to_vector<int64_t>());
  for (size_t rank = 1; rank < hashes.size(); ++rank)
    if (hashes[rank][0] != hashes[0][0])
      failDifferent(job, static_cast<int>(rank), description, where);
  std::string differing;
  for (size_t rank = 1; rank < hashes.size(); ++rank)
    if (hashes[rank][1] != hashes[0][1])
      differing += (differing.empty() ? "" : ", ") + std::to_string(rank);
  if (!differing.empty()) {
    for (const auto &[name, tensor] : state)
      broadcast(tensor, 0, where);
    if (job.rank == 0)
      record::remark("DataParallel: the state of rank " + differing + " was another; all ranks have rank 0's now",
                     record::locate(where));
  }
  splitBatches();
}

} // namespace dlc::distributed::detail
