#include "distributed/Membership.h"
#include "dlc/frontend/Distributed.h"
#include "nn/ModuleNode.h"
#include "record/AgreeOnState.h"
#include "record/Recording.h"

#include <algorithm>

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
  Device own = device(where);
  for (const auto &[name, tensor] : state)
    if (!(tensor.device() == own))
      fail(ErrorKind::Device,
           "DataParallel: " + name + " is on " + tensor.device().str() + ", this rank's device is " + own.str() +
               "; move the model with .to(distributed::device()) before",
           where);
  std::string description = describe(state, where);
  auto hash = static_cast<int64_t>(hashOf(description.data(), static_cast<int64_t>(description.size())));
  std::vector<Tensor> hashes = all_gather(tensor(std::vector<int64_t>{hash}, {1}), where);
  for (size_t rank = 1; rank < hashes.size(); ++rank)
    if (hashes[rank].to_vector<int64_t>() != hashes[0].to_vector<int64_t>())
      failDifferent(job, static_cast<int>(rank), description, where);
  std::vector<std::shared_ptr<record::Variable>> variables;
  for (const auto &[name, tensor] : state) {
    variables.push_back(record::implOf(tensor, where).storage->variable);
    variables.back()->agreed = false;
  }
  record::agreeOnState(variables, where);
  splitBatches();
}

} // namespace dlc::distributed::detail
