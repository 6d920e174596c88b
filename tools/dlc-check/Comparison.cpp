#include "Comparison.h"

#include "Agrees.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dlc::check;
using dlc::dl::ReferenceTensor;

static constexpr int kShownElements = 5;

void Report::fault(const Twine &what) {
  ++faults;
  llvm::errs() << "@" << function << ": " << what << "\n";
}

bool dlc::check::agrees(double expected, double got, double tolerance) {
  return difference(expected, got, tolerance) <= 1;
}

std::string dlc::check::indexOf(ArrayRef<int64_t> shape, int64_t position) {
  SmallVector<int64_t> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; position /= shape[dim])
    index[dim] = position % shape[dim];
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "[";
  llvm::interleaveComma(index, stream);
  stream << "]";
  return text;
}

static std::string element(const ReferenceTensor &tensor, int64_t i) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (tensor.isFloat())
    stream << llvm::format("%.17g", tensor.floats[i]);
  else
    stream << tensor.integers[i];
  return text;
}

void dlc::check::compare(Report &report, const Twine &what, const ReferenceTensor &expected, const ReferenceTensor &got,
                         double tolerance) {
  if (expected.shape() != got.shape()) {
    std::string types;
    llvm::raw_string_ostream(types) << "expected " << expected.type << ", got " << got.type;
    return report.fault(what + ": " + types);
  }
  int shown = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    bool same = expected.isFloat() || got.isFloat() ? agrees(expected.at(i), got.at(i), tolerance)
                                                    : expected.integers[i] == got.integers[i];
    if (same)
      continue;
    if (++shown > kShownElements)
      return report.fault(what + ": and more");
    report.fault(what + " at " + indexOf(expected.shape(), i) + ": expected " + element(expected, i) + ", got " +
                 element(got, i));
  }
}
