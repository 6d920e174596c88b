#include "Commands.h"
#include "RunFiles.h"

#include "dlc/runtime/Job.h"
#include "dlc/runtime/Profile.h"
#include "dlc/runtime/Sharding.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

namespace dlc::tool {

namespace {

using runtime::Job;

Status invalid(std::string message) { return {StatusCode::InvalidInput, std::move(message)}; }

StatusOr<size_t> chooseEntry(const Executable &executable, const std::string &name) {
  std::string known;
  for (const EntryInfo &entry : executable.manifest().entries)
    known += (known.empty() ? "" : ", ") + entry.name;
  if (name.empty()) {
    if (executable.manifest().entries.size() == 1)
      return size_t(0);
    return invalid("expected --entry, one of: " + known);
  }
  if (std::optional<size_t> index = executable.findEntry(name))
    return *index;
  return invalid("no entry '" + name + "'; there are: " + known);
}

/// The variable a --set names: in full, or by the part after the last dot where only one hyper-parameter has it.
StatusOr<std::string> findSetting(const Session &session, const std::string &name) {
  const Session::Variable *found = session.find(name);
  std::string foundName = name;
  std::string known;
  for (const auto &[full, variable] : session.variables()) {
    if (variable.role != "hyper")
      continue;
    known += (known.empty() ? "" : ", ") + full;
    if (!found && full.size() > name.size() && full.ends_with(name) && full[full.size() - name.size() - 1] == '.') {
      found = &variable;
      foundName = full;
    }
  }
  if (!found || found->role != "hyper" || found->type.elements() != 1 || found->type.dtype != DType::F64)
    return invalid("no hyper-parameter '" + name + "'; there are: " + (known.empty() ? "none" : known));
  return foundName;
}

Status applySettings(Session &session, const std::vector<std::string> &settings) {
  for (const std::string &setting : settings) {
    size_t equals = setting.find('=');
    double value = 0;
    const char *first = setting.data() + (equals == std::string::npos ? 0 : equals + 1);
    const char *last = setting.data() + setting.size();
    auto [end, error] = std::from_chars(first, last, value);
    if (equals == std::string::npos || error != std::errc() || end != last)
      return invalid("--set: expected name=number, got '" + setting + "'");
    StatusOr<std::string> variable = findSetting(session, setting.substr(0, equals));
    Status status = variable.ok() ? session.write(*variable, std::as_bytes(std::span(&value, 1))) : variable.status();
    if (!status.ok())
      return status;
  }
  return {};
}

/// The members of this process, and with them the others of the job: a launcher's variables say whom to meet. A program
/// for one device runs alone whatever they say.
StatusOr<std::unique_ptr<Job>> joinJob(const RunArguments &arguments, bool meshed,
                                       std::chrono::milliseconds most = std::chrono::milliseconds::max()) {
  // Read by the driver when the device is opened.
  if (arguments.simCheck)
    setenv("DLC_SIM_CHECK", "1", /*overwrite=*/1);
  if (!arguments.simOrder.empty())
    setenv("DLC_SIM_ORDER", arguments.simOrder.c_str(), /*overwrite=*/1);
  StatusOr<runtime::Contract> contract =
      meshed ? runtime::detectContract(runtime::currentEnvironment()) : runtime::Contract();
  if (!contract.ok())
    return contract.status();
  runtime::JobOptions options{.threads = arguments.threads, .seed = arguments.seed};
  const char *told = std::getenv("DLC_DEVICES");
  std::string devices = !arguments.devices.empty() ? arguments.devices : told && meshed ? told : "";
  if (!devices.empty()) {
    StatusOr<std::vector<DeviceId>> parsed = runtime::parseDevices(devices, *contract);
    if (!parsed.ok())
      return parsed.status().withContext(arguments.devices.empty() ? "DLC_DEVICES" : "--devices");
    options.devices = parsed.take();
  } else {
    StatusOr<DeviceId> device = DeviceId::parse(arguments.device);
    if (!device.ok())
      return device.status().withContext("--device");
    options.devices = {device.take()};
  }
  if (!meshed && options.devices.size() > 1)
    return invalid(fmt::format("{}: the program is compiled for one member, {} has {}; compile it with --data-parallel "
                               "--mesh data={}",
                               arguments.artifact, devices, options.devices.size(), options.devices.size()));
  contract->timeout = std::min(contract->timeout, most);
  return Job::join(*contract, options);
}

/// The arguments and results of an entry: whole ones, and each member's of this process.
class CallValues {
public:
  CallValues(Job &job, const Manifest &manifest, const EntryInfo &entry)
      : job(job), mesh(manifest.mesh), entry(entry) {}

  /// Each member keeps its rows of the files' tensors.
  Status read(const std::vector<std::string> &files) {
    arguments.resize(size_t(job.localMembers()));
    results.resize(arguments.size());
    parts.resize(arguments.size());
    for (std::vector<Value> &values : parts)
      values.reserve(entry.arguments.size() + entry.results.size());
    for (size_t i = 0; i < entry.arguments.size(); ++i) {
      StatusOr<Value> whole = readInput(files[i], entry.arguments[i]);
      if (!whole.ok())
        return whole.status();
      for (size_t m = 0; m < parts.size(); ++m) {
        Value &part = parts[m].emplace_back(entry.arguments[i].type);
        runtime::takePart(entry.arguments[i], mesh, member(m), whole->memory.data(), part.memory.data());
        arguments[m].push_back(part.buffer());
      }
    }
    for (const ValueInfo &result : entry.results)
      for (size_t m = 0; m < parts.size(); ++m)
        results[m].push_back(parts[m].emplace_back(result.type).buffer());
    return {};
  }

  /// Whole results, of all members; every rank calls this.
  StatusOr<std::vector<Value>> join() {
    std::vector<Value> wholes;
    for (size_t i = 0; i < entry.results.size(); ++i) {
      const ValueInfo &result = entry.results[i];
      Value &whole = wholes.emplace_back(runtime::wholeType(result));
      if (!result.sharding)
        std::memcpy(whole.memory.data(), results[0][i].data, size_t(results[0][i].bytes));
      else if (Status status = gather(i, whole); !status.ok())
        return status.withContext(result.name);
    }
    return wholes;
  }

  std::vector<std::vector<DlcBuffer>> arguments, results; ///< by member of this process

private:
  int64_t member(size_t local) const { return job.firstMember() + int64_t(local); }

  Status gather(size_t index, Value &whole) {
    int64_t bytes = results[0][index].bytes;
    std::vector<std::vector<char>> all(parts.size());
    Status status = job.forEachMember([&](int local) {
      StatusOr<runtime::Communicator *> world = job.world(local);
      if (!world.ok())
        return world.status();
      std::vector<char> &mine = all[size_t(local)];
      mine.resize(size_t(bytes) * size_t(job.members()));
      StatusOr<runtime::WorkPtr> work = (*world)->allGather({}, {results[size_t(local)][index].data, bytes, DType::I8},
                                                            {mine.data(), std::ssize(mine), DType::I8});
      return work.ok() ? (*work)->wait(job.deadline()) : work.status();
    });
    for (int m = 0; m < job.members() && status.ok(); ++m)
      runtime::putPart(entry.results[index], mesh, m, all[0].data() + m * bytes, whole.memory.data());
    return status;
  }

  Job &job;
  const MeshInfo &mesh;
  const EntryInfo &entry;
  std::vector<std::vector<Value>> parts;
};

/// Runs all steps, profiled where that is asked for.
Status runSteps(const RunArguments &arguments, Job &job, const Job::Programs &programs, size_t entry,
                CallValues &values) {
  namespace profile = runtime::profile;
  if (!arguments.profile.empty()) {
    if (job.worldSize() > 1)
      profile::setRank(job.rank(), job.worldSize());
    if (Status status = profile::start(arguments.profile); !status.ok())
      return status.withContext("--profile");
  }
  Status status;
  for (int64_t step = 0; step < arguments.steps && status.ok(); ++step)
    status = job.call(programs, entry, values.arguments, values.results);
  if (arguments.profile.empty())
    return status;
  fmt::print(stderr, "dlc: profile: {}; {}\n", profile::summary().str(), arguments.profile);
  Status written = profile::stop();
  return status.ok() ? written.withContext("--profile") : status;
}

Status prepareState(const RunArguments &arguments, Job &job) {
  for (int local = 0; local < job.localMembers(); ++local) {
    Session &session = job.session(local);
    if (!arguments.state.empty())
      if (Status status = session.load(arguments.state); !status.ok())
        return status;
    if (Status status = applySettings(session, arguments.settings); !status.ok())
      return status;
  }
  return {};
}

Status runOn(Job &job, const RunArguments &arguments, const std::shared_ptr<const Executable> &executable, size_t index,
             const std::vector<std::string> &inputs, const std::vector<std::string> &outputs) {
  const Manifest &manifest = executable->manifest();
  const EntryInfo &entry = manifest.entries[index];
  StatusOr<Job::Programs> programs = job.attach(executable);
  if (!programs.ok())
    return programs.status();
  if (Status status = prepareState(arguments, job); !status.ok())
    return status;
  CallValues values(job, manifest, entry);
  if (Status status = values.read(inputs); !status.ok())
    return status;
  if (Status status = runSteps(arguments, job, *programs, index, values); !status.ok())
    return status;
  StatusOr<std::vector<Value>> wholes = values.join();
  if (!wholes.ok())
    return wholes.status();
  // One for all: results are the same everywhere.
  if (job.rank() == 0)
    if (Status status = writeResults(entry.results, *wholes, outputs); !status.ok())
      return status;
  if (job.rank() == 0 && !arguments.saveState.empty())
    return job.session().save(arguments.saveState);
  return {};
}

/// What is to be run, if that can be.
struct Run {
  std::shared_ptr<const Executable> executable;
  size_t entry = 0;
  std::vector<std::string> inputs, outputs;
};

Status open(const RunArguments &arguments, Run &run) {
  StatusOr<std::shared_ptr<const Executable>> executable = Executable::load(arguments.artifact);
  if (!executable.ok())
    return executable.status();
  run.executable = executable.take();
  const Manifest &manifest = run.executable->manifest();
  if (arguments.simCheck && !manifest.simCheck)
    return invalid(arguments.artifact + ": its kernels check nothing; compile it with --target=sim --sim-check");
  StatusOr<size_t> index = chooseEntry(*run.executable, arguments.entry);
  if (!index.ok())
    return index.status();
  run.entry = *index;
  const EntryInfo &entry = manifest.entries[run.entry];
  StatusOr<std::vector<std::string>> inputs = placeFiles(arguments.inputs, entry.arguments, "argument");
  StatusOr<std::vector<std::string>> outputs = placeFiles(arguments.outputs, entry.results, "result");
  for (const Status &status : {inputs.status(), outputs.status(), outputs.ok() ? checkDistinct(*outputs) : Status()})
    if (!status.ok())
      return status;
  run.inputs = inputs.take();
  run.outputs = outputs.take();
  return {};
}

/// This rank has nothing to run: those that wait for it hear why. Without an artifact it cannot know whether they do,
/// so it does not wait long for them.
void tellOthers(const RunArguments &arguments, const Run &run, const Status &why) {
  constexpr std::chrono::seconds kShort(10);
  if (run.executable && run.executable->manifest().mesh.axes.empty())
    return;
  StatusOr<runtime::Contract> contract = runtime::detectContract(runtime::currentEnvironment());
  if (!contract.ok() || contract->worldSize == 1)
    return;
  if (StatusOr<std::unique_ptr<Job>> job = joinJob(arguments, /*meshed=*/true, kShort); job.ok())
    (void)(*job)->tellOthers(0, "has nothing to run", why);
}

} // namespace

Status run(const RunArguments &arguments) {
  Run run;
  if (Status status = open(arguments, run); !status.ok()) {
    tellOthers(arguments, run, status);
    return status;
  }
  StatusOr<std::unique_ptr<Job>> job = joinJob(arguments, !run.executable->manifest().mesh.axes.empty());
  Status status = job.status();
  if (job.ok()) {
    status = runOn(**job, arguments, run.executable, run.entry, run.inputs, run.outputs);
    status = status.ok() ? (*job)->leave() : (*job)->tellOthers(0, "failed", status);
  }
  // What hangs on the way out because of a failed rank must not hold up the others' end.
  if (status.code() == StatusCode::PeerFailed)
    runtime::exitWithin(std::chrono::seconds(5), kPeerFailed);
  return status;
}

} // namespace dlc::tool
