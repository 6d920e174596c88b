#include "dlc/ir/Precision.h"
#include "dlc/passes/PrecisionPasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

// Before:  func.func @loss(…) attributes {dl.entry} { %h = dl.dot_general %x, %w … : (…) -> tensor<4x2xf32> … }
// After:   func.func @loss(…) attributes {dl.entry} { %h = dl.dot_general %x, %w … {dl.autocast = bf16} : (…) -> … }

namespace dlc::passes {
#define GEN_PASS_DEF_MARKAUTOCASTPASS
#include "dlc/passes/PrecisionPasses.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;

namespace {

struct MarkAutocastPass : passes::impl::MarkAutocastPassBase<MarkAutocastPass> {
  using MarkAutocastPassBase::MarkAutocastPassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    Type low = type == passes::AutocastType::Bf16 ? Type(BFloat16Type::get(context)) : Float16Type::get(context);
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr("dl.entry"))
        function.getBody().walk([&](Operation *op) {
          if (dl::precisionOf(op) != dl::Precision::Keeps && !op->hasAttr(dl::kAutocastAttr))
            op->setAttr(dl::kAutocastAttr, TypeAttr::get(low));
        });
  }
};

} // namespace
