#pragma once

#include "FunctionCheck.h"

namespace dlc::check {

/// Compiles the program for the targets the options ask for and compares what it computes with `expected`, by the
/// tolerance of its type (`tolerance` >= 0 replaces it). On the cpu one thread and three must agree bit for bit; on the
/// simulated device every access is checked, and two orders of warps must agree.
void checkTargets(Report &report, llvm::StringRef what, const Program &program,
                  llvm::ArrayRef<dl::ReferenceTensor> arguments, const dl::ReferenceState &state,
                  const Outcome &expected, double tolerance, const CheckOptions &options);

} // namespace dlc::check
