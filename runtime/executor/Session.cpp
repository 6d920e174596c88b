#include "dlc/runtime/Session.h"

#include "dlc/runtime/Fill.h"
#include "dlc/runtime/Job.h"
#include "dlc/runtime/Profile.h"
#include "dlc/runtime/Sharding.h"
#include "executor/Executor.h"
#include "job/Collectives.h"
#include "job/ProgramCheck.h"
#include "job/StartState.h"
#include "memory/Uploads.h"
#include "monitor/Progress.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace dlc {

namespace {

Status invalid(const std::string &message) { return {StatusCode::InvalidInput, message}; }

constexpr int kMostThreads = 1024;

StatusOr<int> threadCount(int asked) {
  if (asked == 0) {
    if (const char *text = std::getenv("DLC_THREADS")) {
      char *end = nullptr;
      long value = std::strtol(text, &end, 10);
      if (end == text || *end != '\0' || value < 1 || value > kMostThreads)
        return invalid("DLC_THREADS: expected a number of threads in [1, 1024], found '" + std::string(text) + "'");
      return int(value);
    }
    return WorkerTeam::processors();
  }
  if (asked < 1 || asked > kMostThreads)
    return invalid("expected a number of threads in [1, 1024], found " + std::to_string(asked));
  return asked;
}

Status checkSame(const std::string &name, const Session::Variable &known, const VariableInfo &asked, const char *data) {
  if (known.type == asked.type && known.data == data)
    return {};
  return invalid("state layout differs at variable '" + name + "': " + known.type.str() +
                 " in the session, in this program " + asked.type.str() +
                 (known.type == asked.type ? " at another place" : ""));
}

} // namespace

Session::Session(runtime::Device &device) : device_(device), executor(std::make_unique<DlcExecutor>()) {}
Session::~Session() = default;

StatusOr<std::unique_ptr<Session>> Session::create(const SessionOptions &options) {
  runtime::profile::startFromEnvironment();
  StatusOr<int> threads = threadCount(options.threads);
  if (!threads.ok())
    return threads.status();
  StatusOr<runtime::Device *> device = runtime::Device::open(options.device);
  if (!device.ok())
    return device.status();
  StatusOr<std::unique_ptr<runtime::Stream>> stream = (*device)->createStream();
  if (!stream.ok())
    return stream.status();
  std::unique_ptr<Session> session(new Session(**device));
  session->stream_ = stream.take();
  session->executor->stream = session->stream_.get();
  session->uploads = std::make_unique<runtime::Uploads>(**device, *session->stream_);
  if ((*device)->isHost()) {
    session->team = std::make_unique<WorkerTeam>(*threads);
    session->executor->team = session->team.get();
  }
  session->seed = options.seed;
  session->job = options.job;
  session->member = options.member;
  return session;
}

int Session::threads() const { return team ? team->threads() : 1; }

Status Session::startVariable(const Program &program, const VariableInfo &info) {
  char *data = program.arenas[size_t(info.arena)] + info.offset;
  if (auto known = variables_.find(info.name); known != variables_.end())
    return checkSame(info.name, known->second, info, data);
  // On other devices the value is made by the host and copied.
  std::vector<double> made(device_.isHost() ? 0 : size_t(info.type.bytes() / 8 + 1));
  void *target = device_.isHost() ? static_cast<void *>(data) : made.data();
  if (info.init.kind == InitialValue::Kind::Data) {
    const void *given = program.executable().initialData(info.init.offset, uint64_t(info.type.bytes()));
    if (!given)
      return invalid("initial value of '" + info.name + "' lies outside the image");
    std::memcpy(target, given, size_t(info.type.bytes()));
  } else if (Status status = fill(target, info.type.dtype, info.type.elements(), info.init, seed); !status.ok()) {
    return status.withContext(info.name);
  }
  if (!device_.isHost())
    if (Status status = uploads->copy(data, target, info.type.bytes()); !status.ok())
      return status;
  variables_.emplace(info.name, Variable{info.type, info.role, data});
  return {};
}

Status Session::checkMesh(const Manifest &manifest) const {
  if (manifest.mesh.axes.empty())
    return {};
  std::string count = std::to_string(manifest.mesh.size());
  std::string compiled = "the program is compiled for " + count + " members (";
  for (const MeshInfo::Axis &axis : manifest.mesh.axes)
    compiled += (&axis == manifest.mesh.axes.data() ? "" : ", ") + axis.name + " = " + std::to_string(axis.size);
  if (job && job->members() == manifest.mesh.size())
    return {};
  if (!job || job->members() == 1)
    return invalid(compiled + "); run it with dlc launch -n " + count + ", or with --devices=cpu:" + count);
  return invalid(compiled + "), the job has " + std::to_string(job->members()) + ": " +
                 std::to_string(job->worldSize()) + " ranks of " + std::to_string(job->localMembers()) +
                 "; compile it again, or start " + count + " members");
}

// The caller of Given knows arenas only, and a coordinate is nobody's choice.
Status Session::setCoordinates(const Program &program) {
  const Manifest &manifest = program.executable().manifest();
  for (const VariableInfo &info : manifest.variables) {
    if (info.role != "coordinate")
      continue;
    int64_t value = job ? runtime::coordinateOf(manifest.mesh, info.name.substr(info.name.find('.') + 1),
                                                job->firstMember() + member)
                        : 0;
    if (info.type != TensorType{DType::I64, {}})
      return invalid("coordinate '" + info.name + "' expects i64[], found " + info.type.str());
    char *data = program.arenas[size_t(info.arena)] + info.offset;
    if (Status status = uploads->copy(data, &value, sizeof value); !status.ok())
      return status;
  }
  return {};
}

Status Session::startVariables(const Program &program, std::vector<std::string> &started) {
  for (const VariableInfo &info : program.executable().manifest().variables) {
    if (info.role == "coordinate")
      continue;
    if (!variables_.contains(info.name))
      started.push_back(info.name);
    if (Status status = startVariable(program, info); !status.ok())
      return status;
  }
  return {};
}

// Everything that waits for the other members.
Status Session::joinMembers(Program &program, const std::vector<std::string> &started) {
  if (program.executable().manifest().mesh.axes.empty())
    return {};
  runtime::Progress &progress = job->progress(member);
  progress.enter(runtime::Phase::Attach);
  Status status = meetMembers(program, started);
  progress.enter(runtime::Phase::UserCode);
  return status.ok()
             ? status
             : job->tellOthers(member, "cannot run " + runtime::entryNames(program.executable().manifest()), status);
}

Status Session::meetMembers(Program &program, const std::vector<std::string> &started) {
  StatusOr<uint32_t> number = job->checkProgram(program.executable());
  if (!number.ok())
    return number.status();
  StatusOr<std::unique_ptr<runtime::Collectives>> bound =
      runtime::Collectives::bind(*job, member, *number, program.executable(), device_, *stream_, watch);
  if (!bound.ok())
    return bound.status();
  program.collectives = bound.take();
  program.graphs->use(*program.collectives);
  return runtime::agreeOnStart(*job, member, *this, started);
}

StatusOr<std::shared_ptr<Session::Program>> Session::attach(const std::shared_ptr<const Executable> &executable,
                                                            State state) {
  std::vector<std::string> started;
  StatusOr<std::shared_ptr<Program>> program = prepare(executable, state, started);
  if (!program.ok()) {
    if (job)
      job->refuse(member, *executable, program.status());
    return program;
  }
  Status status = joinMembers(**program, started);
  return status.ok() ? program : status;
}

// Everything that needs no other member.
StatusOr<std::shared_ptr<Session::Program>> Session::prepare(const std::shared_ptr<const Executable> &executable,
                                                             State state, std::vector<std::string> &started) {
  if (Status status = checkMesh(executable->manifest()); !status.ok())
    return status;
  StatusOr<std::unique_ptr<runtime::Kernels>> kernels = device_.load(executable);
  if (!kernels.ok())
    return kernels.status();
  std::shared_ptr<Program> program(new Program(*this, executable));
  program->kernels = kernels.take();
  program->graphs = std::make_unique<Replay>(*stream_, *program->kernels, executable->manifest());
  std::vector<std::string> taken;
  Status status = bind(*program, state, started, taken);
  std::lock_guard guard(lock);
  if (status.ok()) {
    programs.push_back(program);
    return program;
  }
  // All or nothing: there may be memory for a smaller program.
  for (const std::string &name : started)
    variables_.erase(name);
  for (const std::string &name : taken)
    arenas.erase(name);
  return status;
}

Status Session::bind(Program &program, State state, std::vector<std::string> &started,
                     std::vector<std::string> &taken) {
  if (Status status = bindArenas(program, taken); !status.ok())
    return status;
  std::lock_guard guard(lock);
  if (Status status = setCoordinates(program); !status.ok())
    return status;
  return state == State::Start ? startVariables(program, started) : Status();
}

const Session::Variable *Session::find(std::string_view name) const {
  auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

Status Session::synchronize() const { return stream_->synchronize(); }

Status Session::upload(void *to, const void *from, int64_t bytes) const {
  std::lock_guard guard(lock);
  return uploads->copy(to, from, bytes);
}

Status Session::copyFrom(const Session &there, void *to, const void *from, int64_t bytes) const {
  if (there.device_.isHost())
    return upload(to, from, bytes);
  if (&there == this) {
    std::lock_guard guard(lock);
    return stream_->copy(to, from, bytes);
  }
  {
    std::scoped_lock guard(lock, there.lock);
    StatusOr<bool> copied = stream_->copyFrom(*there.stream_, to, from, bytes);
    if (!copied.ok() || *copied)
      return copied.status();
  }
  StatusOr<runtime::HostMemory> between = there.device_.allocateHost(std::max(bytes, int64_t(1)));
  if (!between.ok())
    return between.status();
  Status status = there.download(between->get(), from, bytes);
  return status.ok() ? upload(to, between->get(), bytes) : status;
}

Status Session::download(void *to, const void *from, int64_t bytes) const {
  std::lock_guard guard(lock);
  Status status = stream_->copyToHost(to, from, bytes);
  return status.ok() ? stream_->synchronize() : status;
}

} // namespace dlc
