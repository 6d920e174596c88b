#include "ReverseSweep.h"

#include "dlc/ir/Constant.h"
#include "dlc/ir/Program.h"
#include "dlc/ir/Widen.h"
#include "dlc/passes/Passes.h"

// Before:  %y = dl.mul %x, %x : tensor<f32>
//          %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
// After:   %y = dl.mul %x, %x : tensor<f32>
//          %one = dl.constant dense<1.0> : tensor<f32>
//          %0 = dl.mul %one, %x : tensor<f32>
//          %1 = dl.mul %one, %x : tensor<f32>
//          %g = dl.add %0, %1 : tensor<f32>

namespace dlc::passes {
#define GEN_PASS_DEF_AUTODIFFPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

static LogicalResult checkWrt(dl::GradientOp gradient, const ReverseSweep &sweep) {
  for (auto [index, value] : llvm::enumerate(gradient.getWrt()))
    if (!sweep.influences(value) && !gradient.getAllowUnused())
      return gradient.emitOpError("expects every wrt value to influence the loss, got number ")
             << index << ", which does not; use allow_unused for a zero gradient";
  return success();
}

static LogicalResult expand(dl::GradientOp gradient, bool decomposeFirst) {
  OpBuilder builder(gradient);
  Location location = gradient.getLoc();
  ReverseSweep sweep(gradient.getLoss(), gradient, builder, {decomposeFirst, location});
  if (failed(checkWrt(gradient, sweep)))
    return failure();
  for (Value value : gradient.getWrt())
    sweep.activate(value);
  auto type = cast<RankedTensorType>(gradient.getLoss().getType());
  sweep.accumulate(location, gradient.getLoss(), {dl::ConstantOp::createSplat(builder, location, type, 1.0), {}});
  if (failed(sweep.run()))
    return failure();
  SmallVector<Value> results;
  for (Value value : gradient.getWrt()) {
    Value result = sweep.cotangentOf(value);
    if (!result)
      result = dl::ConstantOp::createSplat(builder, location, cast<RankedTensorType>(value.getType()), 0.0);
    results.push_back(result);
  }
  gradient.replaceAllUsesWith(results);
  gradient.erase();
  return success();
}

namespace {

struct AutodiffPass : passes::impl::AutodiffPassBase<AutodiffPass> {
  using AutodiffPassBase::AutodiffPassBase;

  void runOnOperation() override {
    dl::widenComposites(getOperation());
    SmallVector<dl::GradientOp> gradients;
    SmallVector<dl::StopGradientOp> stops;
    getOperation().walk([&](dl::GradientOp op) { gradients.push_back(op); });
    for (dl::GradientOp gradient : gradients)
      if (failed(expand(gradient, decomposeFirst)))
        return signalPassFailure();
    getOperation().walk([&](dl::StopGradientOp op) { stops.push_back(op); });
    for (dl::StopGradientOp stop : stops) {
      stop.replaceAllUsesWith(stop.getX());
      stop.erase();
    }
  }
};

} // namespace
