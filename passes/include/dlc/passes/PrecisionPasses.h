#pragma once

#include "dlc/ir/Dl.h"
#include "mlir/Pass/Pass.h"

namespace dlc::passes {

/// Types of 16 bits that `dl-mark-autocast` can ask for.
enum class AutocastType { Bf16, Fp16 };

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dlc/passes/PrecisionPasses.h.inc"

} // namespace dlc::passes
