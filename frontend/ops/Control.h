#pragma once

#include "ops/Primitive.h"
#include "record/Body.h"

#include <functional>

namespace dlc::ops {

/// A carried value that a step's recording has brought up, a sum that starts from zeros: an argument of the region, and
/// its next value.
struct ScanSum {
  ValueRef argument, next;
};

/// Carried values, and sliced or stacked ones; as a step's result also sums it has found.
struct ScanValues {
  std::vector<ValueRef> carried, stacked;
  std::vector<ScanSum> sums = {};
};

/// Records one step from its carried values and slices.
using ScanStep = std::function<ScanValues(record::Body &, const ScanValues &)>;

struct ScanMode {
  int64_t steps;
  bool reverse = false;
  /// Whether derivatives flow through the scan. If not, the step may use leaves, but nothing computed from them
  /// outside.
  bool gradients = true;
};

/// Records a scan; the results' `carried` are those given, then the sums. Tensors from outside that the step changes
/// are carried too and changed by it.
ScanValues scan(const char *function, const ScanValues &given, ScanMode mode, const ScanStep &step, const Line &line);

} // namespace dlc::ops
