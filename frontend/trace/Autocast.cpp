#include "dlc/ir/Precision.h"
#include "dlc/passes/Passes.h"
#include "dlc/passes/PrecisionPasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "trace/Build.h"

using namespace mlir;

namespace dlc::trace {

StatusOr<std::vector<std::optional<DType>>> autocast(ModuleOp module) {
  bool marked = module
                    .walk([](Operation *op) {
                      return op->hasAttr(dl::kAutocastAttr) ? WalkResult::interrupt() : WalkResult::advance();
                    })
                    .wasInterrupted();
  std::vector<std::optional<DType>> exact;
  if (!marked)
    return exact;
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  manager.addPass(passes::createForwardStatePass());
  manager.addPass(passes::createAutocastPass());
  manager.addPass(passes::createCheckAutocastPass());
  if (failed(manager.run(module)))
    return Status(StatusCode::Internal, "dl-autocast failed");
  auto entry = *module.getOps<func::FuncOp>().begin();
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    auto type = entry.getResultAttrOfType<TypeAttr>(i, dl::kExactAttr);
    exact.push_back(!type ? std::nullopt : std::optional(type.getValue().isBF16() ? DType::BF16 : DType::F16));
  }
  return exact;
}

} // namespace dlc::trace
