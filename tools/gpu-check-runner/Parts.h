#pragma once

#include "Rows.h"

#include "dlc/runtime/Device.h"

#include <functional>
#include <span>
#include <string>

namespace dlc::gpucheck {

/// What a part works with.
struct Context {
  std::string bundle;   ///< folder of bin/ and lib/
  std::string programs; ///< folder of plan.json and what it names
  DeviceId device;
  Json plan;
  std::string trace; ///< file for a timeline; empty: none is kept
  size_t from = 0;   ///< first item: those before are done, or ended an earlier process

  std::string path(const std::string &file) const { return programs + "/" + file; }
  /// They are for a library that stands in for the driver.
  bool isFake() const { return plan.contains("library"); }
};

/// A part of the check; runs in a process of its own.
struct Part {
  const char *name;
  const char *title;
  int seconds; ///< after which it is ended
  Status (*run)(const Context &context);
};

/// The most valuable first.
std::span<const Part> parts();

/// How a part's process ends, besides 0.
enum PartExit { kPartFailed = 1, kDeviceFailed = 75 };

/// Does the items from `context.from` on. A process whose device has failed ends after the item: the parent starts
/// another one for the rest.
void forEachItem(const Context &context, const Json &names, const std::function<void(size_t index)> &one);

/// Whether programs that call cuBLASLt and cuDNN can be loaded; where not, that is no fault of theirs.
bool hasLibraries(const Context &context);

Status checkDevice(const Context &context);
Status checkConformance(const Context &context);
Status checkOps(const Context &context);
Status checkSpeed(const Context &context);
Status checkModels(const Context &context);
Status checkGraphs(const Context &context);
/// One run of the above, in a process of its own, of the model `context.from`.
Status runGraph(const Context &context);
Status checkEnd(const Context &context);

} // namespace dlc::gpucheck
