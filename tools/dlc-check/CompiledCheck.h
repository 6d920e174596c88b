#pragma once

#include "FunctionCheck.h"

namespace dlc::check {

/// Compiles the program for this machine and compares what it computes with `expected`, by the tolerance of its type
/// (`tolerance` >= 0 replaces it); one thread and three must agree bit for bit.
void checkCompiled(Report &report, const llvm::Twine &what, const Program &program,
                   llvm::ArrayRef<dl::ReferenceTensor> arguments, const dl::ReferenceState &state,
                   const Outcome &expected, double tolerance);

} // namespace dlc::check
