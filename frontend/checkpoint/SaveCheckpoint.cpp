#include "checkpoint/Group.h"
#include "dlc/frontend/Checkpoint.h"
#include "dlc/runtime/Job.h"
#include "record/Job.h"
#include "record/Recording.h"
#include "record/Trace.h"
#include "record/Transfer.h"
#include "record/Variable.h"

#include <memory>
#include <mutex>

namespace dlc {

namespace {

/// The one checkpoint that is being written. Destroyed, and so waited for, at the end of the program.
struct Background {
  std::mutex lock;
  std::unique_ptr<runtime::CheckpointWriter> writer;
};
Background &background() {
  static Background instance;
  return instance;
}

void checkFile(const Status &status, Where where) {
  if (!status.ok())
    record::fail(status.code() == StatusCode::PeerFailed ? ErrorKind::Distributed : ErrorKind::File, status.message(),
                 where);
}

/// One process's tensors as the runtime takes them; with what keeps their memory.
struct Sources {
  std::vector<runtime::CheckpointSource> list;
  std::vector<record::HostBytes> contents;
};

Sources sourcesOf(std::initializer_list<Stateful> state, Where where) {
  Sources sources;
  for (const Stateful &part : state)
    for (const auto &[name, tensor] : part.tensors) {
      const record::Impl &impl = record::implOf(tensor, where);
      record::HostBytes bytes = record::readOnHost(tensor, where);
      runtime::CheckpointSource source;
      source.name = name;
      source.role = impl.storage->variable ? impl.storage->variable->role : "tensor";
      source.dtype = impl.type->dtype;
      source.shape = impl.type->shape;
      source.data = bytes.data;
      sources.list.push_back(std::move(source));
      sources.contents.push_back(std::move(bytes));
    }
  return sources;
}

} // namespace

namespace record {

runtime::CheckpointGroup checkpointGroup() {
  runtime::CheckpointGroup group;
  if (const Job *joined = job()) {
    group.store = &joined->runtime->store();
    group.rank = joined->rank;
    group.worldSize = joined->worldSize;
    group.generation = joined->runtime->contract().generation;
    group.timeout = joined->runtime->contract().timeout;
  }
  return group;
}

void finishCheckpoints(const std::source_location &where) {
  std::lock_guard guard(background().lock);
  if (std::unique_ptr<runtime::CheckpointWriter> writer = std::move(background().writer))
    checkFile(writer->finish(), where);
}

} // namespace record

void wait_for_checkpoints(Where where) { record::finishCheckpoints(where); }

void save_checkpoint(const std::string &directory, int64_t step, std::initializer_list<Stateful> state,
                     CheckpointOptions options, Where where) {
  if (record::recording())
    record::fail(ErrorKind::Jit, "save_checkpoint: not inside a jitted function; call it between steps", where);
  record::finishCheckpoints(where);
  Sources sources = sourcesOf(state, where);
  runtime::CheckpointOptions to;
  to.keep = options.keep;
  size_t loaders = 0;
  for (const Stateful &part : state)
    if (part.loader)
      to.state["loader." + std::to_string(loaders++)] = part.loader->state_dict(where).toJson();
  auto [seed, next] = record::randomState();
  to.state["random"] = "[" + std::to_string(seed) + "," + std::to_string(next) + "]";
  for (const auto &[name, text] : options.notes)
    to.state["note." + name] = text;
  runtime::CheckpointGroup group = record::checkpointGroup();
  to.mesh = {{"data", record::job() ? record::job()->members : 1}};
  if (!options.background)
    return checkFile(runtime::saveCheckpoint(group, directory, step, sources.list, to), where);
  std::lock_guard guard(background().lock);
  background().writer = std::make_unique<runtime::CheckpointWriter>(group, directory);
  checkFile(background().writer->save(step, sources.list, to), where);
}

} // namespace dlc
