// A training step as graphs and as single launches (DLC_CUDA_GRAPHS=0): the same bits, and the time of both.
#include "Command.h"
#include "DeviceProgram.h"

#include "dlc/runtime/Safetensors.h"

#include <array>
#include <bit>
#include <unistd.h>

namespace dlc::gpucheck {

namespace {

constexpr int kSteps = 6;

/// What a run in a process of its own said; the environment of a device is read once.
Json runApart(const Context &context, size_t model, const char *graphs) {
  std::array<char, 4096> self{};
  if (::readlink("/proc/self/exe", self.data(), self.size() - 1) <= 0)
    return {{"message", "/proc is not there"}};
  Command run(self.data(),
              {"--part", "graph-run", "--bundle", context.bundle, "--programs", context.programs, "--device",
               context.device.str(), "--from", std::to_string(model)},
              {std::string("DLC_CUDA_GRAPHS=") + graphs});
  std::string text, line;
  while (run.next(text))
    if (text.starts_with("{\"row\""))
      line = text;
  std::string how = run.wait();
  Json found = Json::parse(line, nullptr, false);
  return found.is_object() ? found["row"] : Json{{"message", how}};
}

} // namespace

Status runGraph(const Context &context) {
  std::string name = context.plan.at("graphs").at(context.from).get<std::string>();
  auto file = Safetensors::open(context.path("models/" + name + ".safetensors"));
  auto program = DeviceProgram::load(context, "models/" + name + ".so", "step");
  if (!file.ok() || !program.ok())
    return file.ok() ? program.status() : file.status();
  const TensorView *x = file->find("x.0"), *y = file->find("y.0");
  Row row{name};
  row.values["losses"] = Json::array();
  for (int step = 0; step < kSteps; ++step) {
    if (step == 0 && x && y)
      for (Status status : {(*program)->setArgument(0, x->data), (*program)->setArgument(1, y->data)})
        if (!status.ok())
          return status;
    if (Status status = (*program)->start(); !status.ok())
      return status;
    StatusOr<double> loss = (*program)->result();
    if (!loss.ok())
      return loss.status();
    row.values["losses"].push_back(std::bit_cast<uint64_t>(*loss));
  }
  StatusOr<double> seconds = (*program)->secondsOfCall(context.isFake() ? 1e-3 : 0.5);
  if (!seconds.ok())
    return seconds.status();
  row.values["seconds"] = *seconds;
  report(row);
  return {};
}

Status checkGraphs(const Context &context) {
  Json models = context.plan.value("graphs", Json::array());
  for (size_t index = context.from; index < models.size(); ++index) {
    Row row{models[index].get<std::string>()};
    begin(index, row.name);
    Json with = runApart(context, index, "1"), without = runApart(context, index, "0");
    for (const Json *run : {&with, &without})
      if (!run->contains("values")) {
        row.ok = false;
        row.message = (run == &with ? "with graphs: " : "without: ") + run->value("message", "it said nothing");
      }
    if (row.ok) {
      double graphs = with["values"]["seconds"].get<double>(), launches = without["values"]["seconds"].get<double>();
      row.values = {{"us as graphs", graphs * 1e6}, {"us as launches", launches * 1e6}, {"ratio", launches / graphs}};
      row.ok = with["values"]["losses"] == without["values"]["losses"];
      row.message = row.ok ? "" : "the losses of the first steps differ";
    }
    report(row);
  }
  return {};
}

} // namespace dlc::gpucheck
