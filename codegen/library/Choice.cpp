#include "library/Choice.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dlc;

namespace {

/// A line of the table.
struct Line {
  StringRef op, element, arch;
  double multiplyAdds;
};

constexpr Line kLines[] = {
#define DLC_LIBRARY_CHOICE(op, element, arch, multiplyAdds) {op, element, arch, multiplyAdds},
#include "library/Choices.inc"
#undef DLC_LIBRARY_CHOICE
};

} // namespace

static StringRef nameOf(Type element) {
  return element.isF32() ? "f32" : element.isTF32() ? "tf32" : element.isF16() ? "f16" : element.isBF16() ? "bf16" : "";
}

bool codegen::prefersLibrary(StringRef op, Type element, double multiplyAdds, ArrayRef<std::string> archs) {
  auto onOne = [&](StringRef arch) {
    return llvm::any_of(kLines, [&](const Line &line) {
      return line.op == op && line.element == nameOf(element) && line.arch == arch && multiplyAdds >= line.multiplyAdds;
    });
  };
  return !archs.empty() && llvm::all_of(archs, onOne);
}
