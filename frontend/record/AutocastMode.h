#pragma once

#include "trace/Types.h"

#include <optional>

namespace dlc::record {

/// The dtype of this thread's innermost `Autocast`; none: operations are recorded as written.
std::optional<DType> &autocastMode();

/// While it lives, operations of this thread are recorded with this dtype of `Autocast`, or none.
struct AutocastScope {
  explicit AutocastScope(std::optional<DType> dtype) : before(autocastMode()) { autocastMode() = dtype; }
  ~AutocastScope() { autocastMode() = before; }
  AutocastScope(const AutocastScope &) = delete;
  AutocastScope &operator=(const AutocastScope &) = delete;
  std::optional<DType> before;
};

/// The attributes with this thread's mark, if it has one.
trace::AttributesRef marked(trace::AttributesRef attributes);

} // namespace dlc::record
