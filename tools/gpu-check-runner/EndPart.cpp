// A timeline of some steps, memory as planned and as the driver counts it, and faults that must be one message each,
// with the device of use afterwards.
#include "DeviceProgram.h"
#include "Gpu.h"

#include "dlc/runtime/Profile.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace dlc::gpucheck {

namespace {

constexpr int kSteps = 10;

Row failed(const char *name, const Status &status) { return {name, false, status.message()}; }

std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Row writeTimeline(const Context &context, const std::string &model) {
  std::string path = context.trace.empty() ? context.path("trace.json") : context.trace;
  if (Status status = runtime::profile::start(path); !status.ok())
    return failed("timeline", status);
  {
    auto program = DeviceProgram::load(context, "models/" + model + ".so", "step");
    for (int step = 0; program.ok() && step < kSteps; ++step)
      if (Status status = (*program)->start(); !status.ok())
        return failed("timeline", status);
    if (!program.ok())
      return failed("timeline", program.status());
  }
  int64_t calls = runtime::profile::summary().calls;
  if (Status status = runtime::profile::stop(); !status.ok())
    return failed("timeline", status);
  Json trace = Json::parse(contentOf(path), nullptr, false);
  Row row{"timeline"};
  row.ok = trace.is_object() && trace.contains("traceEvents") && calls >= kSteps;
  row.values = {{"calls", calls}, {"events", trace.is_object() ? trace.value("traceEvents", Json::array()).size() : 0}};
  row.message = context.trace.empty() ? "" : path;
  return row;
}

Row compareMemory(const Context &context, const runtime::CudaApi &api, const std::string &model) {
  auto device = runtime::Device::open(context.device);
  if (!device.ok())
    return failed("memory", device.status());
  auto left = [&] {
    size_t free = 0, all = 0;
    (void)api.cuMemGetInfo(&free, &all);
    return double(free);
  };
  // The first program makes what the driver keeps; the second one's memory is its own.
  {
    auto first = DeviceProgram::load(context, "models/" + model + ".so", "step");
  }
  double before = left();
  auto program = DeviceProgram::load(context, "models/" + model + ".so", "step");
  if (!program.ok())
    return failed("memory", program.status());
  if (Status status = (*program)->start(); !status.ok())
    return failed("memory", status);
  Status waited = (*program)->session().synchronize();
  double taken = before - left(), planned = double((*program)->entry().peak + (*program)->bytes());
  runtime::MemoryStats stats = (*device)->memoryStats();
  Row row{"memory"};
  row.values = {{"planned MiB", planned / (1 << 20)},
                {"arenas MiB", double(stats.allocated) / (1 << 20)},
                {"driver MiB", taken / (1 << 20)}};
  // Padding of arenas; the driver gives memory away in pieces of 2 MiB, one for each arena at most.
  double room = double(stats.count + 2) * (2 << 20);
  row.ok =
      waited.ok() && double(stats.allocated) <= planned * 1.05 + (1 << 16) && taken <= double(stats.reserved) + room;
  row.message = waited.ok() ? row.ok ? "" : "more than planned" : waited.message();
  return row;
}

/// The program with every cubin and PTX spoilt must be refused.
Row refuseBadImage(const Context &context, const std::string &model) {
  std::string artifact = contentOf(context.path("models/" + model + ".so"));
  for (std::string_view magic : {std::string_view("\x7f"
                                                  "ELF",
                                                  4),
                                 std::string_view("\n.version", 9)})
    for (size_t at = artifact.find(magic, 4); at != std::string::npos; at = artifact.find(magic, at + 1))
      artifact.replace(at, magic.size(), magic.size(), 'x');
  std::string name = "models/spoilt.so";
  std::ofstream(context.path(name), std::ios::binary) << artifact;
  auto program = DeviceProgram::load(context, name, "step");
  Row row{"bad image"};
  row.ok = context.isFake() ? program.ok() : !program.ok(); // the library that stands in has its kernels elsewhere
  row.message = program.ok() ? "was taken" : program.status().message();
  return row;
}

Row refuseTooMuch(const Context &context) {
  auto device = runtime::Device::open(context.device);
  if (!device.ok())
    return failed("too much memory", device.status());
  auto arena = (*device)->allocate("huge", (*device)->memoryBytes() * 2);
  Row row{"too much memory", !arena.ok() && arena.status().code() == StatusCode::LimitExceeded};
  row.message = arena.ok() ? "was given" : arena.status().message();
  return row;
}

Row workAgain(const Context &context, const std::string &model) {
  auto program = DeviceProgram::load(context, "models/" + model + ".so", "step");
  Status status = program.ok() ? (*program)->start() : program.status();
  if (status.ok())
    status = (*program)->session().synchronize();
  return status.ok() ? Row{"steps after all that"} : failed("steps after all that", status);
}

} // namespace

Status checkEnd(const Context &context) {
  auto api = runtime::CudaApi::load();
  Json models = context.plan.value("graphs", Json::array());
  if (!api.ok() || models.empty())
    return api.ok() ? Status(StatusCode::InvalidInput, "the bundle has no training step") : api.status();
  std::string model = models[0].get<std::string>();
  forEachItem(context, {"memory", "timeline", "bad image", "too much memory", "steps after all that"},
              [&](size_t index) {
                switch (index) {
                case 0:
                  return report(compareMemory(context, **api, model));
                case 1:
                  return report(writeTimeline(context, model));
                case 2:
                  return report(refuseBadImage(context, model));
                case 3:
                  return report(refuseTooMuch(context));
                default:
                  return report(workAgain(context, model));
                }
              });
  return {};
}

} // namespace dlc::gpucheck
