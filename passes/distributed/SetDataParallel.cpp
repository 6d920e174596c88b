#include "distributed/OpSplits.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

// Before:  dl.mesh @mesh ["data" = 4]
//          func.func @step(%x: tensor<64x784xf32>, %y: tensor<64xi64>, %s: tensor<f32>) attributes {dl.entry} { … }
// After:   func.func @step(%x: tensor<64x784xf32> {dl.sharding = #dl.sharding<[data, _]>},
//                          %y: tensor<64xi64> {dl.sharding = #dl.sharding<[data]>}, %s: tensor<f32>) …

namespace dlc::passes {
#define GEN_PASS_DEF_SETDATAPARALLELPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;

namespace {

struct SetDataParallelPass : passes::impl::SetDataParallelPassBase<SetDataParallelPass> {
  using SetDataParallelPassBase::SetDataParallelPassBase;

  void runOnOperation() override {
    dl::MeshOp mesh = dl::MeshOp::find(getOperation());
    auto name = StringAttr::get(&getContext(), axis);
    if (!mesh || !mesh.size(name)) {
      getOperation().emitError("expects a dl.mesh with an axis ") << name << "; give one, as --mesh data=4";
      return signalPassFailure();
    }
    auto split = dl::DimShardingAttr::get(&getContext(), name, {});
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr("dl.entry"))
        for (unsigned i = 0; i < function.getNumArguments(); ++i)
          mark(function, i, split);
  }

  // What an argument says of itself counts more.
  static void mark(func::FuncOp function, unsigned index, dl::DimShardingAttr split) {
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[index]);
    if (!type || type.getRank() == 0 || function.getArgAttr(index, "dl.sharding"))
      return;
    auto sharding = dl::ShardingAttr::replicated(type.getContext(), type.getRank()).withDim(0, split);
    function.setArgAttr(index, "dl.sharding", sharding);
  }
};

} // namespace
