#include "distributed/OpSplits.h"
#include "dlc/ir/Cast.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

// Before:  dl.mesh @mesh ["data" = 2 of 8]
//          %g = dl.dot_general %d, %h … {dl.result_shardings = [#dl.sharding<[_, _], partial = sum(data)>], …}
//             : (tensor<8x10xf16>, tensor<8x20xf16>) -> tensor<10x20xf16>
// After:   %0 = dl.cast %d … : tensor<8x10xf16> to tensor<8x10xf32>
//          %1 = dl.cast %h … : tensor<8x20xf16> to tensor<8x20xf32>
//          %2 = dl.dot_general %0, %1 … {dl.result_shardings = …} : … -> tensor<10x20xf32>
//          %g = dl.cast %2 : tensor<10x20xf32> to tensor<10x20xf16>

namespace dlc::passes {
#define GEN_PASS_DEF_WIDENSUMSPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

static bool hasHalfElements(Type type) {
  return dl::hasFloatElements(type) && getElementTypeOrSelf(type).getIntOrFloatBitWidth() == 16;
}

static Type widened(Type type) {
  return hasHalfElements(type) ? cast<RankedTensorType>(type).clone(Float32Type::get(type.getContext())) : type;
}

/// A sum of 16-bit floats whose order the mesh keeps.
static bool isOrderedHalfSum(Operation *op, dl::MeshOp mesh) {
  auto given = op->getAttrOfType<ArrayAttr>(resultShardings);
  if (!given || op->getNumResults() != 1 || op->getNumRegions() || !hasHalfElements(op->getResult(0).getType()))
    return false;
  dl::PartialAttr partial = cast<dl::ShardingAttr>(given[0]).getPartial();
  return partial && partial.getKind() == dl::ReduceKind::Sum && mesh.isOrdered(partial.getAxes());
}

/// A cast of what is held in this way.
static Value castHeld(OpBuilder &builder, Location loc, Value value, Type type, dl::ShardingAttr sharding) {
  auto made = dl::CastOp::create(builder, loc, type, value);
  if (!sharding.isReplicated())
    for (StringRef name : {operandShardings, resultShardings})
      made->setAttr(name, builder.getArrayAttr(sharding));
  return made;
}

static void widen(Operation *op) {
  OpBuilder builder(op);
  auto given = op->getAttrOfType<ArrayAttr>(operandShardings);
  for (OpOperand &operand : op->getOpOperands())
    if (Type type = operand.get().getType(); hasHalfElements(type))
      operand.set(castHeld(builder, op->getLoc(), operand.get(), widened(type),
                           shardingOr(given ? given[operand.getOperandNumber()] : Attribute(), type)));
  Value sum = op->getResult(0);
  Type type = sum.getType();
  sum.setType(widened(type));
  builder.setInsertionPointAfter(op);
  auto held = cast<dl::ShardingAttr>(op->getAttrOfType<ArrayAttr>(resultShardings)[0]).withPartial({});
  Value rounded = castHeld(builder, op->getLoc(), sum, type, held);
  sum.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
}

namespace {

struct WidenSumsPass : passes::impl::WidenSumsPassBase<WidenSumsPass> {
  void runOnOperation() override {
    dl::MeshOp mesh = dl::MeshOp::find(getOperation());
    if (!mesh || getOperation()->hasAttr("dl.local"))
      return;
    SmallVector<Operation *> sums;
    getOperation().walk([&](Operation *op) {
      if (isOrderedHalfSum(op, mesh))
        sums.push_back(op);
    });
    llvm::for_each(sums, widen);
  }
};

} // namespace
