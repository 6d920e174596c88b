#pragma once

#include "FunctionCheck.h"

namespace dlc::check {

/// The function as a program of several members (`--mesh data=3`): dim `splitDim` of each argument is split over the
/// axis `data`, the local programs are evaluated together, and what each member holds of results and variables is
/// compared. Rows beyond a member's own are poisoned.
void checkMesh(Report &report, mlir::func::FuncOp function, llvm::ArrayRef<dl::ReferenceTensor> arguments,
               const dl::ReferenceState &state, const Outcome &expected, double tolerance, const CheckOptions &options);

/// A function that is local already, on the members of its module's mesh; the results of all, each with the values
/// `dl.expect` gives.
void checkLocal(Report &report, mlir::func::FuncOp function, llvm::ArrayRef<dl::ReferenceTensor> arguments,
                const dl::ReferenceState &state, llvm::ArrayRef<dl::ReferenceTensor> expected, double tolerance);

} // namespace dlc::check
