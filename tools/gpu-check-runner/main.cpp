// gpu-check-runner --bundle DIR --programs DIR: runs the parts one after the other, each in a process of its own.
#include "Clock.h"
#include "Parts.h"
#include "Result.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>

using namespace dlc;
using namespace dlc::gpucheck;

namespace {

enum Exit { kAllRight = 0, kWrong = 1, kUsage = 2, kNoDevice = 77 };

struct Options {
  std::string bundle, programs, device = "cuda:0", json;
  std::vector<std::string> only, limits;
  double silence = 45; // importing PyTorch takes a while
  std::string trace;
  std::string part; ///< this process is one part
  size_t from = 0;
};

StatusOr<Context> contextOf(const Options &options) {
  Context context;
  context.bundle = options.bundle;
  context.programs = options.programs;
  context.trace = options.trace;
  context.from = options.from;
  StatusOr<DeviceId> device = DeviceId::parse(options.device);
  if (!device.ok())
    return device.status();
  context.device = *device;
  std::ifstream file(context.path("plan.json"));
  context.plan = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!context.plan.is_object())
    return Status(StatusCode::InvalidInput,
                  "expects the programs of a bundle made by tools/gpu-check, got " + options.programs);
  return context;
}

int runOne(const Options &options) {
  StatusOr<Context> context = contextOf(options);
  std::vector<Part> all(parts().begin(), parts().end());
  all.push_back({"graph-run", "", 0, runGraph});
  for (const Part &part : all)
    if (context.ok() && part.name == options.part) {
      Status status = part.run(*context);
      if (!status.ok())
        std::cerr << status.message() << '\n';
      return status.ok() ? 0 : int(kPartFailed);
    }
  return kUsage;
}

/// Runs one part to its end: in another process from the next item on, as often as one ends early. False: no device.
bool runWhole(const Part &part, const Options &options, double limit, Result &result) {
  double deadline = now() + limit;
  std::string message, state = "ok";
  bool failed = false, none = false;
  auto onRow = [&](const Json &row) {
    failed = failed || !row.value("ok", false);
    result.add(row);
  };
  std::vector<std::string> arguments = {"--part",     part.name,        "--bundle", options.bundle,
                                        "--programs", options.programs, "--device", options.device};
  if (!options.trace.empty())
    arguments.insert(arguments.end(), {"--trace", options.trace});
  arguments.emplace_back("--from");
  result.beginPart(part);
  for (long from = 0;;) {
    std::vector<std::string> all = arguments;
    all.push_back(std::to_string(from));
    PartEnd end = runPart(all, {std::max(deadline - now(), 0.1), options.silence}, onRow,
                          [&](const std::string &item) { result.progress(item); });
    none = !end.none.empty();
    message = none ? end.none : end.message;
    bool itemEnded = end.how == PartEnd::How::Crashed || end.how == PartEnd::How::Silent;
    if (itemEnded && end.item >= 0)
      onRow(Json{{"name", end.itemName}, {"ok", false}, {"message", end.message}});
    if ((itemEnded || end.how == PartEnd::How::DeviceFailed) && end.item >= from && now() < deadline) {
      from = end.item + 1;
      continue;
    }
    failed = failed || end.how != PartEnd::How::Done;
    if (end.how == PartEnd::How::TimeOver)
      state = "time over";
    else if (itemEnded)
      state = "crashed";
    else if (failed)
      state = "failed";
    break;
  }
  result.addChoices();
  result.endPart(none ? "no device" : state, message);
  return !none;
}

int runAll(const Options &options) {
  StatusOr<Context> context = contextOf(options);
  if (!context.ok()) {
    std::cerr << context.status().message() << '\n';
    return kUsage;
  }
  // Programs of the bundle that were built for tests have a library of their own.
  std::string library = context->isFake() ? context->bundle + "/" + context->plan["library"].get<std::string>() : "";
  ::setenv("DLC_GPU_LIBRARY", library.c_str(), 1);
  std::map<std::string, double> limits;
  for (const std::string &text : options.limits)
    limits[text.substr(0, text.find('='))] = std::strtod(text.substr(text.find('=') + 1).c_str(), nullptr);
  Result result(options.json, context->plan);
  for (const Part &part : parts()) {
    if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), part.name) == options.only.end())
      continue;
    auto limit = limits.find(part.name);
    if (!runWhole(part, options, limit == limits.end() ? part.seconds : limit->second, result))
      return kNoDevice;
  }
  return result.finish() ? kAllRight : kWrong;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app(
      "Checks a CUDA device with the programs of a bundle that tools/gpu-check made. Exit code 0: all right, 1: "
      "something is not, 77: there is no device.");
  app.add_option("--bundle", options.bundle, "the bundle's folder")->required();
  app.add_option("--programs", options.programs, "its programs, unpacked")->required();
  app.add_option("--device", options.device)->capture_default_str();
  app.add_option("--json", options.json, "result; default: gpu-check-<device>.json");
  app.add_option("--trace", options.trace, "file for the timeline");
  app.add_option("--only", options.only, "these parts")->delimiter(',');
  app.add_option("--limit", options.limits, "seconds of a part, as ops=60")->delimiter(',');
  app.add_option("--silence", options.silence, "seconds without a sign after which an item is given up")
      ->capture_default_str();
  app.add_option("--part", options.part)->group("");
  app.add_option("--from", options.from)->group("");
  CLI11_PARSE(app, argc, argv);
  return options.part.empty() ? runAll(options) : runOne(options);
}
