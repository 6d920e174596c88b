#include "Commands.h"

#include "dlc/runtime/Npy.h"
#include "dlc/runtime/Profile.h"
#include "dlc/runtime/Session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

namespace dlc::tool {

namespace {

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

/// Files by position or name, one slot for each declared value.
StatusOr<std::vector<std::string>> placeFiles(const std::vector<std::string> &given,
                                              const std::vector<ValueInfo> &declared, const char *what) {
  std::vector<std::string> files(declared.size());
  size_t next = 0;
  for (const std::string &text : given) {
    size_t equals = text.find('=');
    size_t index = next;
    if (equals != std::string::npos) {
      index = 0;
      while (index < declared.size() && declared[index].name != text.substr(0, equals))
        ++index;
      if (index == declared.size())
        return invalid(fmt::format("no {} is named '{}'", what, text.substr(0, equals)));
    } else {
      ++next;
    }
    if (index >= declared.size())
      return invalid(fmt::format("expected at most {} {}s, got '{}' too", declared.size(), what, text));
    files[index] = text.substr(equals == std::string::npos ? 0 : equals + 1);
  }
  return files;
}

std::optional<std::string> findTwice(std::vector<std::string> files) {
  std::sort(files.begin(), files.end());
  for (size_t i = 1; i < files.size(); ++i)
    if (!files[i].empty() && files[i] == files[i - 1])
      return files[i];
  return std::nullopt;
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

/// An argument or a result of the call in its own aligned memory.
struct Value {
  TensorType type;
  std::vector<double> memory; // double for alignment

  explicit Value(const TensorType &type) : type(type), memory(size_t(type.bytes() / 8 + 1)) {}
  DlcBuffer buffer() { return {memory.data(), type.bytes()}; }
};

Status readInput(const std::string &file, const ValueInfo &declared, Value &value) {
  if (file.empty())
    return invalid("missing --input for argument '" + declared.name + "', " + declared.type.str());
  StatusOr<Npy> npy = Npy::open(file);
  if (!npy.ok())
    return npy.status();
  const TensorView &tensor = npy->array();
  if (TensorType type{tensor.dtype, tensor.shape}; type != declared.type)
    return invalid(
        fmt::format("{}: argument '{}' is {}, the file has {}", file, declared.name, declared.type.str(), type.str()));
  std::memcpy(value.memory.data(), tensor.data, size_t(declared.type.bytes()));
  return {};
}

void printScalar(const std::string &name, Value &value) {
  const void *data = value.memory.data();
  switch (value.type.dtype) {
  case DType::F64:
    return fmt::print("{} = {}\n", name, *static_cast<const double *>(data));
  case DType::F32:
    return fmt::print("{} = {}\n", name, *static_cast<const float *>(data));
  case DType::I64:
    return fmt::print("{} = {}\n", name, *static_cast<const int64_t *>(data));
  case DType::I32:
    return fmt::print("{} = {}\n", name, *static_cast<const int32_t *>(data));
  case DType::I8:
  case DType::I1:
    return fmt::print("{} = {}\n", name, int(*static_cast<const int8_t *>(data)));
  }
}

StatusOr<std::unique_ptr<Session>> openSession(const RunArguments &arguments) {
  StatusOr<DeviceId> device = DeviceId::parse(arguments.device);
  if (!device.ok())
    return device.status().withContext("--device");
  // Read by the driver when the device is opened.
  if (arguments.simCheck)
    setenv("DLC_SIM_CHECK", "1", /*overwrite=*/1);
  if (!arguments.simOrder.empty())
    setenv("DLC_SIM_ORDER", arguments.simOrder.c_str(), /*overwrite=*/1);
  return Session::create({arguments.threads, arguments.seed, device.take()});
}

/// To the files given for them, or to standard output.
Status writeResults(const std::vector<ValueInfo> &results, std::span<Value> values,
                    const std::vector<std::string> &outputs) {
  for (size_t i = 0; i < results.size(); ++i) {
    const ValueInfo &result = results[i];
    if (!outputs[i].empty()) {
      Status status =
          writeNpy(outputs[i], {result.name, result.type.dtype, result.type.shape, values[i].memory.data()});
      if (!status.ok())
        return status;
    } else if (result.type.elements() == 1) {
      printScalar(result.name, values[i]);
    } else {
      fmt::print("{}: {}, not written; name a file with --output\n", result.name, result.type.str());
    }
  }
  return {};
}

/// Runs all steps, profiled where that is asked for.
Status runSteps(const RunArguments &arguments, Session::Program &program, size_t entry,
                std::span<const DlcBuffer> inputs, std::span<DlcBuffer> results) {
  namespace profile = runtime::profile;
  if (!arguments.profile.empty())
    if (Status status = profile::start(arguments.profile); !status.ok())
      return status.withContext("--profile");
  Status status;
  for (int64_t step = 0; step < arguments.steps && status.ok(); ++step)
    status = program.call(entry, inputs, results);
  if (arguments.profile.empty())
    return status;
  fmt::print(stderr, "dlc: profile: {}; {}\n", profile::summary().str(), arguments.profile);
  Status written = profile::stop();
  return status.ok() ? written.withContext("--profile") : status;
}

} // namespace

Status run(const RunArguments &arguments) {
  StatusOr<std::shared_ptr<const Executable>> executable = Executable::load(arguments.artifact);
  if (!executable.ok())
    return executable.status();
  if (arguments.simCheck && !(*executable)->manifest().simCheck)
    return invalid(arguments.artifact + ": its kernels check nothing; compile it with --target=sim --sim-check");
  StatusOr<size_t> index = chooseEntry(**executable, arguments.entry);
  if (!index.ok())
    return index.status();
  const EntryInfo &entry = (*executable)->manifest().entries[*index];
  StatusOr<std::vector<std::string>> inputs = placeFiles(arguments.inputs, entry.arguments, "argument");
  StatusOr<std::vector<std::string>> outputs = placeFiles(arguments.outputs, entry.results, "result");
  if (outputs.ok())
    if (std::optional<std::string> twice = findTwice(*outputs))
      return invalid("--output: two results would be written to " + *twice);
  for (const Status &status : {inputs.status(), outputs.status()})
    if (!status.ok())
      return status;

  StatusOr<std::unique_ptr<Session>> session = openSession(arguments);
  if (!session.ok())
    return session.status();
  StatusOr<std::shared_ptr<Session::Program>> program = (*session)->attach(*executable);
  if (!program.ok())
    return program.status();
  if (!arguments.state.empty())
    if (Status status = (*session)->load(arguments.state); !status.ok())
      return status;
  if (Status status = applySettings(**session, arguments.settings); !status.ok())
    return status;

  std::vector<Value> values;
  values.reserve(entry.arguments.size() + entry.results.size());
  std::vector<DlcBuffer> argumentBuffers, resultBuffers;
  for (size_t i = 0; i < entry.arguments.size(); ++i) {
    if (Status status = readInput((*inputs)[i], entry.arguments[i], values.emplace_back(entry.arguments[i].type));
        !status.ok())
      return status;
    argumentBuffers.push_back(values.back().buffer());
  }
  for (const ValueInfo &result : entry.results)
    resultBuffers.push_back(values.emplace_back(result.type).buffer());

  if (Status status = runSteps(arguments, **program, *index, argumentBuffers, resultBuffers); !status.ok())
    return status;
  if (Status status = writeResults(entry.results, std::span(values).subspan(entry.arguments.size()), *outputs);
      !status.ok())
    return status;
  return arguments.saveState.empty() ? Status() : (*session)->save(arguments.saveState);
}

} // namespace dlc::tool
