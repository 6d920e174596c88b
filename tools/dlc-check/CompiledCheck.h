#pragma once

#include "FunctionCheck.h"

namespace dlc::check {

/// The module as a user would write it: an entry, without the attributes only tests know.
mlir::OwningOpRef<mlir::ModuleOp> entryOf(const Program &program);

/// Dense memory of the declared type, i1 in bytes.
std::vector<char> memoryOf(const dl::ReferenceTensor &tensor);

/// Of compiled values of this type; `given` is for f32, below 0: the default.
double compiledTolerance(mlir::func::FuncOp function, mlir::Type type, double given);

/// Compiles the program for the targets the options ask for and compares what it computes with `expected`, by the
/// tolerance of its type (`tolerance` >= 0 replaces it). On the cpu one thread and three must agree bit for bit; on the
/// simulated device every access is checked, and two orders of warps must agree; with libraries two runs must. With
/// `options.cases` it is added to those instead.
void checkTargets(Report &report, llvm::StringRef what, const Program &program,
                  llvm::ArrayRef<dl::ReferenceTensor> arguments, const dl::ReferenceState &state,
                  const Outcome &expected, double tolerance, const CheckOptions &options);

} // namespace dlc::check
