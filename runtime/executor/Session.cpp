#include "dlc/runtime/Session.h"

#include "dlc/runtime/Fill.h"
#include "executor/Executor.h"
#include "memory/Arena.h"

#include <cstdlib>
#include <cstring>
#include <sched.h>

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
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  }
  if (asked < 1 || asked > kMostThreads)
    return invalid("expected a number of threads in [1, 1024], found " + std::to_string(asked));
  return asked;
}

Status checkBuffers(const char *what, const std::vector<ValueInfo> &declared, std::span<const DlcBuffer> given,
                    const std::string &entry) {
  if (declared.size() != given.size())
    return invalid(entry + ": expected " + std::to_string(declared.size()) + " " + what + "s, got " +
                   std::to_string(given.size()));
  for (size_t i = 0; i < given.size(); ++i)
    if (int64_t bytes = declared[i].type.bytes(); given[i].bytes != bytes)
      return invalid(entry + ": " + what + " '" + declared[i].name + "' is " + declared[i].type.str() + " of " +
                     std::to_string(bytes) + " bytes, got " + std::to_string(given[i].bytes));
  return {};
}

Status checkSame(const std::string &name, const Session::Variable &known, const VariableInfo &asked, const char *data) {
  if (known.type == asked.type && known.data == data)
    return {};
  return invalid("state layout differs at variable '" + name + "': " + known.type.str() +
                 " in the session, in this program " + asked.type.str() +
                 (known.type == asked.type ? " at another place" : ""));
}

} // namespace

Session::Session() = default;
Session::~Session() = default;

StatusOr<std::unique_ptr<Session>> Session::create(const SessionOptions &options) {
  StatusOr<int> threads = threadCount(options.threads);
  if (!threads.ok())
    return threads.status();
  std::unique_ptr<Session> session(new Session());
  session->team = std::make_unique<WorkerTeam>(*threads);
  session->executor = std::make_unique<DlcExecutor>();
  session->executor->team = session->team.get();
  session->seed = options.seed;
  return session;
}

int Session::threads() const { return team->threads(); }

Status Session::reserve(const std::string &name, int64_t bytes) {
  std::lock_guard guard(lock);
  auto found = arenas.find(name);
  if (found != arenas.end()) {
    if (found->second.bytes() >= bytes)
      return {};
    return invalid("arena '" + name + "' has " + std::to_string(found->second.bytes()) + " bytes, needs " +
                   std::to_string(bytes) + ": state never moves");
  }
  StatusOr<Arena> arena = Arena::create(name, bytes);
  if (!arena.ok())
    return arena.status();
  arenas.emplace(name, arena.take());
  return {};
}

char *Session::arena(std::string_view name) const {
  auto found = arenas.find(name);
  return found == arenas.end() ? nullptr : found->second.base();
}

StatusOr<std::shared_ptr<Session::Program>> Session::attach(const std::shared_ptr<const Executable> &executable,
                                                            State state) {
  const Manifest &manifest = executable->manifest();
  std::shared_ptr<Program> program(new Program(*this, executable));
  for (const ArenaInfo &info : manifest.arenas) {
    if (info.klass == "constant") {
      const void *data = executable->initialData(uint64_t(info.initial), uint64_t(info.bytes));
      if (!data)
        return invalid("constants of arena '" + info.name + "' lie outside the image");
      // Compiled code only reads them.
      program->arenas.push_back(const_cast<char *>(static_cast<const char *>(data)));
      continue;
    }
    // Scratch holds nothing between calls: it is shared by all programs and grows to the largest.
    bool scratch = info.klass == "activation";
    if (scratch && arenas.contains(info.name) && arenas.find(info.name)->second.bytes() < info.bytes) {
      std::lock_guard guard(lock);
      StatusOr<Arena> larger = Arena::create(info.name, info.bytes);
      if (!larger.ok())
        return larger.status();
      arenas.find(info.name)->second = larger.take();
      for (const std::weak_ptr<Program> &other : programs)
        if (std::shared_ptr<Program> alive = other.lock())
          for (size_t i = 0; i < alive->arenas.size(); ++i)
            if (alive->executable().manifest().arenas[i].name == info.name)
              alive->arenas[i] = arena(info.name);
    } else if (Status status = reserve(info.name, info.bytes); !status.ok()) {
      return status;
    }
    program->arenas.push_back(arena(info.name));
  }
  std::lock_guard guard(lock);
  for (const VariableInfo &info : manifest.variables) {
    if (state == State::Given)
      break;
    char *data = program->arenas[size_t(info.arena)] + info.offset;
    if (auto known = variables_.find(info.name); known != variables_.end()) {
      if (Status status = checkSame(info.name, known->second, info, data); !status.ok())
        return status;
      continue;
    }
    if (info.init.kind == InitialValue::Kind::Data) {
      const void *given = executable->initialData(info.init.offset, uint64_t(info.type.bytes()));
      if (!given)
        return invalid("initial value of '" + info.name + "' lies outside the image");
      std::memcpy(data, given, size_t(info.type.bytes()));
    } else if (Status status = fill(data, info.type.dtype, info.type.elements(), info.init, seed); !status.ok()) {
      return status.withContext(info.name);
    }
    variables_.emplace(info.name, Variable{info.type, info.role, data});
  }
  programs.push_back(program);
  return program;
}

const Session::Variable *Session::find(std::string_view name) const {
  auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

Status Session::Program::call(size_t index, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results) {
  const EntryInfo &entry = executable_->manifest().entries[index];
  if (Status status = checkBuffers("argument", entry.arguments, arguments, entry.name); !status.ok())
    return status;
  if (Status status = checkBuffers("result", entry.results, results, entry.name); !status.ok())
    return status;
  std::lock_guard guard(session.lock);
  if (session.poisoned)
    return {StatusCode::Internal, entry.name + ": an earlier call failed in the middle of a step; load a checkpoint"};
  DlcFrame frame{};
  frame.size = sizeof frame;
  frame.api = &kCpuApi;
  frame.executor = session.executor.get();
  frame.arenas = arenas.data();
  frame.arguments = arguments.data();
  frame.results = results.data();
  int32_t code = executable_->entry(index)(&frame);
  if (code == DLC_OK)
    return {};
  session.poisoned = true;
  const std::vector<SiteInfo> &sites = executable_->manifest().sites;
  std::string where = entry.name;
  if (session.executor->site < sites.size()) {
    const SiteInfo &site = sites[session.executor->site];
    where = site.file + ":" + std::to_string(site.line) + ": " + site.op;
  }
  return {StatusCode::Internal, where + ": failed with code " + std::to_string(code)};
}

Status Session::save(const std::string &path) const {
  std::lock_guard guard(lock);
  std::vector<TensorView> tensors;
  tensors.reserve(variables_.size());
  for (const auto &[name, variable] : variables_)
    tensors.push_back({name, variable.type.dtype, variable.type.shape, variable.data});
  return writeSafetensors(path, tensors);
}

Status Session::load(const std::string &path, bool strict) {
  StatusOr<Safetensors> file = Safetensors::open(path);
  if (!file.ok())
    return file.status();
  std::lock_guard guard(lock);
  std::string missing, unexpected, differs;
  for (const auto &[name, variable] : variables_) {
    const TensorView *tensor = file->find(name);
    if (!tensor)
      missing += " " + name;
    else if (TensorType type{tensor->dtype, tensor->shape}; type != variable.type)
      differs += " " + name + " is " + variable.type.str() + ", the file has " + type.str() + ";";
  }
  for (const TensorView &tensor : file->tensors())
    if (!variables_.contains(tensor.name))
      unexpected += " " + tensor.name;
  if (!differs.empty() || (strict && !(missing.empty() && unexpected.empty())))
    return invalid(path + ": does not fit the program; missing:" + (missing.empty() ? " none" : missing) +
                   "; unexpected:" + (unexpected.empty() ? " none" : unexpected) +
                   "; differing:" + (differs.empty() ? " none" : differs));
  for (const auto &[name, variable] : variables_)
    if (const TensorView *tensor = file->find(name))
      std::memcpy(variable.data, tensor->data, size_t(variable.type.bytes()));
  poisoned = false;
  return {};
}

} // namespace dlc
