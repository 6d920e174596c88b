#pragma once

#include "FunctionCheck.h"

namespace dlc::check {

/// Compares the derivative of a weighted sum of the float results, by every float argument (or those
/// `dl.check_gradient` lists) and every parameter read, with central differences of `value`; once by the ops' own rules
/// and once decomposed.
void checkGradient(Report &report, mlir::func::FuncOp function, const Program &value,
                   llvm::ArrayRef<dl::ReferenceTensor> arguments, const dl::ReferenceState &state,
                   const CheckOptions &options);

} // namespace dlc::check
