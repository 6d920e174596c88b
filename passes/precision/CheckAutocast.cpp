#include "dlc/ir/Precision.h"
#include "dlc/passes/PrecisionPasses.h"

// Before:  %h = dl.dot_general %0, %1 … {dl.autocast = bf16} : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
// After:   %h = dl.dot_general %0, %1 … : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>

namespace dlc::passes {
#define GEN_PASS_DEF_CHECKAUTOCASTPASS
#include "dlc/passes/PrecisionPasses.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;

static bool isLow(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() == 16;
}

static LogicalResult check(Operation *op) {
  if (dl::precisionOf(op) == dl::Precision::Low) {
    for (Type type : op->getOperandTypes())
      if (getElementTypeOrSelf(type).isF32())
        return op->emitOpError("expects operands of 16 bits inside of autocast, got ") << type;
  } else if (dl::precisionOf(op) == dl::Precision::Full) {
    for (Type type : llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()), op->getResultTypes()))
      if (isLow(type))
        return op->emitOpError("expects f32 inside of autocast, got ") << type;
  }
  return success();
}

namespace {

struct CheckAutocastPass : passes::impl::CheckAutocastPassBase<CheckAutocastPass> {
  void runOnOperation() override {
    WalkResult checked = getOperation().walk([](Operation *op) {
      if (!op->hasAttr(dl::kAutocastAttr))
        return WalkResult::advance();
      op->removeDiscardableAttr(dl::kAutocastAttr);
      return WalkResult(check(op));
    });
    if (checked.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
