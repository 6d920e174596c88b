#pragma once

#include "dlc/ir/Reference.h"

namespace dlc::check {

/// Splitmix64: the same numbers on every machine.
class TestGenerator {
public:
  TestGenerator(llvm::StringRef name, uint64_t seed);
  uint64_t next();
  /// In [0, n).
  int64_t below(int64_t n) { return int64_t(next() % uint64_t(n)); }
  /// Uniform in [lower, upper).
  double uniform(double lower, double upper) { return lower + (upper - lower) * double(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

/// Arguments of a function, drawn by `dl.test` or given by `dl.value` (test/ops/README.md); floats are exact in their
/// declared type. Emits an error for an unknown kind.
mlir::FailureOr<llvm::SmallVector<dl::ReferenceTensor>> drawArguments(mlir::func::FuncOp function, uint64_t seed);

/// Every variable of the module at its initial value.
mlir::FailureOr<dl::ReferenceState> initialState(mlir::ModuleOp module, uint64_t seed);

} // namespace dlc::check
