// Kernels one by one: bytes and operations a second against what the device can at most, and generated kernels beside
// the libraries'.
#include "DeviceProgram.h"
#include "Gpu.h"

#include <map>

namespace dlc::gpucheck {

namespace {

/// What the plan says of a kernel: {"file", "entry", "type", "flops" where that is what counts, "of" for one way of
/// two}.
Row measure(const Context &context, const Json &item, const Gpu &gpu) {
  Row row{item.value("name", "")};
  if (item.value("way", "") == "library" && !hasLibraries(context)) {
    row.message = "not measured: cuBLASLt or cuDNN is not here";
    return row;
  }
  auto program = DeviceProgram::load(context, item.value("file", ""), item.value("entry", ""));
  StatusOr<double> seconds =
      program.ok() ? (*program)->secondsOfCall(context.isFake() ? 1e-3 : 0.15) : program.status();
  if (!seconds.ok()) {
    row.ok = false;
    row.message = seconds.status().message();
    return row;
  }
  double bandwidth = double((*program)->bytes()) / *seconds, flops = item.value("flops", 0.0);
  row.values["us"] = *seconds * 1e6;
  if (item.contains("way"))
    row.choice = {{"op", item["op"]},
                  {"type", item["type"]},
                  {"way", item["way"]},
                  {"multiply-adds", flops / 2},
                  {"us", *seconds * 1e6}};
  if (flops > 0) {
    double peak = gpu.peakArithmetic(item.value("type", "f32"));
    row.values["TFLOP/s"] = flops / *seconds / 1e12;
    if (peak > 0)
      row.values["of peak"] = flops / *seconds / peak;
  } else {
    row.values["GB/s"] = bandwidth / 1e9;
    if (gpu.peakBandwidth() > 0)
      row.values["of peak"] = bandwidth / gpu.peakBandwidth();
  }
  return row;
}

} // namespace

Status checkSpeed(const Context &context) {
  auto api = runtime::CudaApi::load();
  StatusOr<Gpu> gpu = api.ok() ? Gpu::ask(**api, context.device) : api.status();
  if (!gpu.ok())
    return gpu.status();
  Json items = context.plan.value("speed", Json::array()), names = Json::array();
  for (const Json &item : items)
    names.push_back(item.value("name", ""));
  forEachItem(context, names, [&](size_t index) { report(measure(context, items[index], *gpu)); });
  return {};
}

} // namespace dlc::gpucheck
