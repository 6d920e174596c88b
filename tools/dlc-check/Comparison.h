#pragma once

#include "dlc/ir/Reference.h"

namespace dlc::check {

/// Prints what differs, one line a fault, and remembers that something did.
class Report {
public:
  explicit Report(llvm::StringRef function) : function(function) {}

  /// One line: `@function: what: expected …, got …`.
  void fault(const llvm::Twine &what);
  bool failed() const { return faults > 0; }

private:
  llvm::StringRef function;
  int faults = 0;
};

/// `|got - expected| <= tolerance * max(1, |expected|)`; NaN equals NaN, an infinity equals itself.
bool agrees(double expected, double got, double tolerance);

/// Reports the shape, or the first elements that differ (integers: by any amount); `what` names the tensor.
void compare(Report &report, const llvm::Twine &what, const dl::ReferenceTensor &expected,
             const dl::ReferenceTensor &got, double tolerance);

/// `[1, 2]`, the multi-index of the row-major position.
std::string indexOf(llvm::ArrayRef<int64_t> shape, int64_t position);

} // namespace dlc::check
