// Training steps of whole nets: losses against PyTorch's of test/golden, time of a step, and PyTorch's time on the same
// device where it can be imported.
#include "Clock.h"
#include "Command.h"
#include "DeviceProgram.h"

#include "dlc/runtime/Safetensors.h"

#include <cmath>
#include <cstring>

namespace dlc::gpucheck {

namespace {

/// Feeds step `index` of the file; false: there is none.
StatusOr<bool> feed(DeviceProgram &program, const Safetensors &file, size_t index) {
  const char *names[] = {"x.", "y."};
  for (size_t i = 0; i < std::size(names); ++i) {
    const TensorView *tensor = file.find(names[i] + std::to_string(index));
    if (!tensor)
      return false;
    if (*denseByteSize(tensor->dtype, tensor->shape) != program.entry().arguments.at(i).type.bytes())
      return Status(StatusCode::InvalidInput, tensor->name + " has another size than the program's");
    if (Status status = program.setArgument(i, tensor->data); !status.ok())
      return status;
  }
  return true;
}

double at(const TensorView &values, size_t index) {
  double value = 0;
  std::memcpy(&value, static_cast<const double *>(values.data) + index, sizeof value);
  return value;
}

Status train(DeviceProgram &program, const Safetensors &file, Row &row) {
  const TensorView *losses = file.find("losses"), *tolerances = file.find("tolerances");
  double worst = 0, loss = 0;
  int steps = 0;
  for (size_t index = 0;; ++index) {
    StatusOr<bool> fed = feed(program, file, index);
    if (!fed.ok())
      return fed.status();
    if (!*fed)
      break;
    if (Status status = program.start(); !status.ok())
      return status;
    StatusOr<double> found = program.result();
    if (!found.ok())
      return found.status();
    loss = *found;
    ++steps;
    if (!std::isfinite(loss) && row.message.empty())
      row.message = "the loss of step " + std::to_string(index + 1) + " is " + std::to_string(loss);
    if (!losses || !tolerances)
      continue;
    double off = std::abs(loss - at(*losses, index)) / at(*tolerances, index);
    worst = std::max(worst, off);
    if (!(off <= 1) && row.message.empty())
      row.message = "step " + std::to_string(index + 1) + ": expected the loss " + std::to_string(at(*losses, index)) +
                    ", got " + std::to_string(loss);
  }
  row.ok = row.message.empty() && steps > 0;
  row.values = {{"steps", steps}, {"loss", loss}};
  if (losses)
    row.values["worst"] = worst;
  return {};
}

Row runModel(const Context &context, const std::string &name) {
  Row row{name};
  auto failed = [&](const Status &status) {
    row.ok = false;
    row.message = status.message();
    return row;
  };
  auto file = Safetensors::open(context.path("models/" + name + ".safetensors"));
  if (!file.ok())
    return failed(file.status());
  double begin = now();
  auto program = DeviceProgram::load(context, "models/" + name + ".so", "step");
  if (!program.ok())
    return failed(program.status());
  double loaded = now() - begin;
  if (Status status = train(**program, *file, row); !status.ok())
    return failed(status);
  StatusOr<double> seconds = (*program)->secondsOfCall(context.isFake() ? 1e-3 : 1);
  if (!seconds.ok())
    return failed(seconds.status());
  row.values["ms a step"] = *seconds * 1e3;
  row.values["ms to load"] = loaded * 1e3;
  return row;
}

/// The same nets by PyTorch, each a line {"name", "ms a step"} of the script; its absence is no fault.
Row runTorch(const Context &context, const std::string &name) {
  Row row{"PyTorch " + name};
  const char *path = std::getenv("GPU_CHECK_LIBRARY_PATH");
  Command script("python3", {context.path("torch_models.py"), name, "cuda:" + std::to_string(context.device.index)},
                 {"LD_LIBRARY_PATH=" + std::string(path ? path : "")});
  std::string text, line;
  while (script.next(text))
    line = text;
  Json found = Json::parse(line, nullptr, false);
  if (found.is_object() && found.contains("values"))
    row.values = found["values"];
  row.message = found.is_object() ? found.value("message", "") : "python3 with PyTorch is not here";
  return row;
}

} // namespace

Status checkModels(const Context &context) {
  Json models = context.plan.value("models", Json::array()), torch = context.plan.value("torch", Json::array());
  Json names = models;
  for (const Json &name : torch)
    names.push_back(name);
  bool importable = true;
  forEachItem(context, names, [&](size_t index) {
    std::string name = names[index].get<std::string>();
    if (name.starts_with("library/") && !hasLibraries(context))
      return report({name, true, "not run: cuBLASLt or cuDNN is not here"});
    if (index < models.size())
      return report(runModel(context, name));
    if (!importable)
      return;
    Row row = runTorch(context, name);
    importable = !row.values.empty();
    report(row);
  });
  return {};
}

} // namespace dlc::gpucheck
