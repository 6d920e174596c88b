#include "dlc/runtime/Session.h"

#include "dlc/runtime/Job.h"
#include "dlc/runtime/Profile.h"
#include "executor/Executor.h"
#include "executor/Replay.h"
#include "job/Collectives.h"

namespace dlc {

namespace {

// Of staged arguments and results: enough for any vector access.
constexpr int64_t kAlignment = 256;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

Status checkBuffers(const char *what, const std::vector<ValueInfo> &declared, std::span<const DlcBuffer> given,
                    const std::string &entry) {
  if (declared.size() != given.size())
    return {StatusCode::InvalidInput, entry + ": expected " + std::to_string(declared.size()) + " " + what + "s, got " +
                                          std::to_string(given.size())};
  for (size_t i = 0; i < given.size(); ++i)
    if (int64_t bytes = declared[i].type.bytes(); given[i].bytes != bytes)
      return {StatusCode::InvalidInput, entry + ": " + what + " '" + declared[i].name + "' is " +
                                            declared[i].type.str() + " of " + std::to_string(bytes) + " bytes, got " +
                                            std::to_string(given[i].bytes)};
  return {};
}

} // namespace

Session::Program::Program(Session &session, std::shared_ptr<const Executable> executable)
    : session(session), executable_(std::move(executable)) {}

Session::Program::~Program() = default;

Status Session::Program::check(size_t index, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results) const {
  const EntryInfo &entry = executable_->manifest().entries[index];
  if (Status status = checkBuffers("argument", entry.arguments, arguments, entry.name); !status.ok())
    return status;
  return checkBuffers("result", entry.results, results, entry.name);
}

Status Session::Program::call(size_t index, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results) {
  if (Status status = check(index, arguments, results); !status.ok())
    return status;
  std::lock_guard guard(session.lock);
  return session.team ? run(index, arguments, results) : runStaged(index, arguments, results);
}

Status Session::Program::callOnDevice(size_t index, std::span<const DlcBuffer> arguments,
                                      std::span<DlcBuffer> results) {
  if (Status status = check(index, arguments, results); !status.ok())
    return status;
  std::lock_guard guard(session.lock);
  return run(index, arguments, results);
}

Status Session::Program::run(size_t index, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results) {
  const std::string &name = executable_->manifest().entries[index].name;
  runtime::profile::Span span(runtime::profile::Category::Compute, name);
  Status status = ready(name);
  if (status.ok()) {
    if (collectives)
      collectives->begin(index);
    status = session.team ? enter(index, arguments, results) : replay(index, arguments, results);
    if (collectives) // the others hear the reason before what is under way ends
      status = collectives->end(tellOthers(std::move(status)));
    session.poisoned |= !status.ok();
  }
  return collectives ? tellOthers(std::move(status)) : status;
}

Status Session::Program::ready(const std::string &entry) {
  if (collectives)
    if (Status failure = session.job->failure(); !failure.ok())
      return failure;
  if (!session.team)
    if (Status failure = session.device_.failure(); !failure.ok())
      return failure;
  if (session.poisoned)
    return {StatusCode::Internal, entry + ": an earlier call failed in the middle of a step; load a checkpoint"};
  return session.team ? Status() : discardScratch();
}

Status Session::Program::replay(size_t index, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results) {
  Replay::Call call{index, {arenas.begin(), arenas.end()}};
  for (const DlcBuffer &argument : arguments)
    call.pointers.push_back(argument.data);
  for (const DlcBuffer &result : results)
    call.pointers.push_back(result.data);
  return graphs->run(std::move(call), [&] { return enter(index, arguments, results); });
}

Status Session::Program::enter(size_t index, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results) {
  DlcExecutor &executor = *session.executor;
  executor.collectives = collectives.get();
  DlcFrame frame{};
  frame.size = sizeof frame;
  frame.executor = &executor;
  frame.arenas = arenas.data();
  frame.arguments = arguments.data();
  frame.results = results.data();
  if (session.team) {
    frame.api = &kCpuApi;
    return outcome(index, executable_->entry(index)(&frame));
  }
  frame.api = &kDeviceApi;
  frame.device = uint32_t(session.device_.id().index);
  executor.replay = graphs.get();
  return outcome(index, executable_->deviceEntry(index)(&frame));
}

Status Session::Program::outcome(size_t index, int32_t code) {
  if (code == DLC_OK)
    return {};
  DlcExecutor &executor = *session.executor;
  if (Status refusal = std::exchange(executor.refusal, {}); !refusal.ok())
    return refusal;
  std::string where = executable_->manifest().place(executor.site);
  const std::string &name = executable_->manifest().entries[index].name;
  return {StatusCode::Internal, (where.empty() ? name : where) + ": failed with code " + std::to_string(code)};
}

// Members that wait for this one learn why it does not come.
Status Session::Program::tellOthers(Status failure) {
  if (failure.ok() || failure.code() == StatusCode::PeerFailed)
    return failure;
  return session.job->tellOthers(session.member, "failed", failure);
}

// On devices that check accesses, scratch of an earlier call is not to be read.
Status Session::Program::discardScratch() {
  const std::vector<ArenaInfo> &infos = executable_->manifest().arenas;
  for (size_t i = 0; i < infos.size(); ++i)
    if (infos[i].klass == "activation")
      if (Status status = session.stream_->discard(arenas[i], infos[i].bytes); !status.ok())
        return status;
  return {};
}

Status Session::Program::runStaged(size_t index, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results) {
  int64_t bytes = 0;
  for (std::span<const DlcBuffer> buffers : {arguments, std::span<const DlcBuffer>(results)})
    for (const DlcBuffer &buffer : buffers)
      bytes += aligned(buffer.bytes);
  if (bytes > staging.bytes()) {
    StatusOr<runtime::Arena> larger = session.device_.allocate("staging", bytes);
    if (!larger.ok())
      return larger.status();
    staging = larger.take();
  }
  char *next = staging.base();
  auto place = [&](std::span<const DlcBuffer> buffers) {
    std::vector<DlcBuffer> staged;
    for (const DlcBuffer &buffer : buffers) {
      staged.push_back({next, buffer.bytes});
      next += aligned(buffer.bytes);
    }
    return staged;
  };
  std::vector<DlcBuffer> from = place(arguments), to = place(results);
  runtime::Stream &stream = *session.stream_;
  Status status;
  for (size_t i = 0; i < from.size() && status.ok(); ++i)
    status = stream.copyToDevice(from[i].data, arguments[i].data, from[i].bytes);
  if (status.ok())
    status = run(index, from, to);
  for (size_t i = 0; i < to.size() && status.ok(); ++i)
    status = stream.copyToHost(results[i].data, to[i].data, to[i].bytes);
  // Also after a failure: the caller's memory is still named by work that waits.
  Status waited = stream.synchronize();
  return status.ok() ? waited : status;
}

} // namespace dlc
