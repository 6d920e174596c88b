#include "checkpoint/Group.h"
#include "dlc/frontend/Checkpoint.h"
#include "nn/ModuleNode.h"
#include "record/Recording.h"
#include "record/Trace.h"

#include <charconv>

namespace dlc {

namespace {

constexpr std::string_view kNote = "note.";

[[noreturn]] void refuse(const std::string &path, const Status &status, Where where) {
  record::fail(status.code() == StatusCode::PeerFailed ? ErrorKind::Distributed : ErrorKind::State,
               "resume: " + (status.message().starts_with(path) ? "" : path + ": ") + status.message(), where);
}

/// "[seed,next]", as JSON is written again.
StatusOr<std::pair<uint64_t, uint64_t>> parseRandom(const std::string &text) {
  std::pair<uint64_t, uint64_t> state;
  const char *first = text.data() + 1, *last = text.data() + text.size();
  auto [middle, error] = std::from_chars(first, last, state.first);
  if (text.starts_with('[') && error == std::errc() && middle != last && *middle == ',') {
    auto [end, second] = std::from_chars(middle + 1, last, state.second);
    if (second == std::errc() && last - end == 1 && *end == ']')
      return state;
  }
  return Status(StatusCode::InvalidInput, "'random' is not a pair of whole numbers");
}

/// Everything apart from tensors, checked before anything changes.
struct OtherState {
  std::vector<std::pair<DataLoader, BatchState>> loaders;
  std::optional<std::pair<uint64_t, uint64_t>> random;
};

Status readOther(const runtime::Checkpoint &checkpoint, std::initializer_list<Stateful> state, bool strict,
                 OtherState &other) {
  const std::map<std::string, std::string> &texts = checkpoint.state();
  size_t count = 0;
  for (const Stateful &part : state) {
    if (!part.loader)
      continue;
    auto found = texts.find("loader." + std::to_string(count++));
    if (found == texts.end() && !strict)
      continue;
    if (found == texts.end())
      return {StatusCode::InvalidInput,
              "it has the state of " + std::to_string(count - 1) + " loaders, the program asks for that of more"};
    StatusOr<BatchState> position = BatchState::parse(found->second);
    Status status = position.ok() ? detail::checkPosition(*part.loader, *position) : position.status();
    if (!status.ok())
      return status;
    other.loaders.emplace_back(*part.loader, *position);
  }
  if (strict && texts.contains("loader." + std::to_string(count)))
    return {StatusCode::InvalidInput,
            "it has the state of more loaders than the " + std::to_string(count) + " of the program"};
  if (auto found = texts.find("random"); found != texts.end()) {
    auto random = parseRandom(found->second);
    if (!random.ok())
      return random.status();
    other.random = *random;
  }
  return {};
}

} // namespace

Resumed resume(const std::string &directory, std::initializer_list<Stateful> state, LoadOptions options, Where where) {
  if (record::recording())
    record::fail(ErrorKind::Jit, "resume: not inside a jitted function; call it before", where);
  record::finishCheckpoints(where);
  runtime::CheckpointGroup group = record::checkpointGroup();
  auto latest = runtime::Checkpoint::latest(group, directory);
  if (!latest.ok())
    refuse(directory, latest.status(), where);
  if (!*latest)
    return {};
  const runtime::Checkpoint &checkpoint = **latest;

  std::vector<runtime::CheckpointTensor> wanted;
  std::vector<record::Variable *> variables;
  for (const Stateful &part : state)
    for (const auto &[name, tensor] : part.tensors) {
      if (!record::implOf(tensor, where).storage->variable)
        record::fail(ErrorKind::State, "resume: '" + name + "' is not the state of a module or an optimizer", where);
      record::Variable &variable = nn::detail::variableOf(tensor);
      variables.push_back(&variable);
      wanted.push_back({name, variable.role, variable.type->dtype, variable.type->shape, {}, {}});
    }
  auto values = checkpoint.read(group, wanted, options.strict);
  if (!values.ok())
    refuse(checkpoint.path(), values.status(), where);
  OtherState other;
  Status status = readOther(checkpoint, state, options.strict, other);
  status = runtime::agree(group, "the end of resume()", status);
  if (!status.ok())
    refuse(checkpoint.path(), status, where);

  for (size_t i = 0; i < variables.size(); ++i)
    if ((*values)[i])
      record::hostWrite(*variables[i], (*values)[i].get(), where);
  for (auto &[loader, position] : other.loaders)
    loader.load_state_dict(position, where);
  if (other.random)
    record::setRandomState(*other.random);
  Resumed resumed{true, checkpoint.step(), {}};
  for (const auto &[name, text] : checkpoint.state())
    if (name.starts_with(kNote))
      resumed.notes[name.substr(kNote.size())] = text;
  return resumed;
}

} // namespace dlc
