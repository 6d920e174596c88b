#pragma once

#include "dlc/codegen/Compiler.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::codegen {

/// A cast that mixed precision has put into an entry.
struct CastInfo {
  std::string entry;
  std::string reader; ///< the first op that reads it: "dl.dot_general"
  std::string place;  ///< "file:line:column"
  std::string value;  ///< "4x8xf32 to bf16"
  std::string reason;
  /// Bytes that its readers do not read; 0 where it widens.
  int64_t savedBytes = 0;
  /// Which pair of results `observeCasts` adds has its range: the entry's own results come first. -1: it is in a
  /// region.
  int64_t observed = -1;
};

/// The casts of all entries in program order, after `options.amp` and marks in the module, without those of
/// derivatives.
StatusOr<std::vector<CastInfo>> explainCasts(std::string_view text, const std::string &name,
                                             const CompileOptions &options);

} // namespace dlc::codegen
