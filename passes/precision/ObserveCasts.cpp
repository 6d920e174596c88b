#include "dlc/ir/Cast.h"
#include "dlc/ir/Constant.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Precision.h"
#include "dlc/ir/Reduce.h"
#include "dlc/passes/PrecisionPasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <limits>
#include <numeric>

// Before:  %0 = dl.cast %x {dl.reason = "…"} : tensor<4xf32> to tensor<4xbf16>
//          return %y : tensor<f32>
// After:   %0 = dl.cast %x {dl.reason = "…"} : tensor<4xf32> to tensor<4xbf16>
//          %a = dl.abs %x : tensor<4xf32>
//          %most = dl.reduce_max %a over [0] : (tensor<4xf32>) -> tensor<f32>
//          %p = dl.compare eq, %a, %zeros : tensor<4xf32>
//          %b = dl.select %p, %infinities, %a : tensor<4xf32>
//          %least = dl.reduce_min %b over [0] : (tensor<4xf32>) -> tensor<f32>
//          return %y, %most, %least : tensor<f32>, tensor<f32>, tensor<f32>

namespace dlc::passes {
#define GEN_PASS_DEF_OBSERVECASTSPASS
#include "dlc/passes/PrecisionPasses.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;

namespace {

struct ObserveCastsPass : passes::impl::ObserveCastsPassBase<ObserveCastsPass> {
  void runOnOperation() override {
    for (auto entry : getOperation().getOps<func::FuncOp>())
      if (entry->hasAttr("dl.entry"))
        observe(entry);
  }

  static void observe(func::FuncOp entry) {
    Operation *end = entry.getBody().back().getTerminator();
    SmallVector<Value> results(end->getOperands());
    SmallVector<std::string> names;
    for (auto cast : llvm::to_vector(entry.getBody().front().getOps<dl::CastOp>())) {
      if (!cast->hasAttr(dl::kReasonAttr))
        continue;
      std::string name = "cast." + std::to_string(names.size() / 2);
      addRange(cast, results);
      names.push_back(name + ".max");
      names.push_back(name + ".min");
    }
    size_t first = results.size() - names.size();
    end->setOperands(results);
    entry.setType(FunctionType::get(entry.getContext(), entry.getArgumentTypes(), ValueRange(results).getTypes()));
    for (auto [index, name] : llvm::enumerate(names))
      entry.setResultAttr(first + index, "dl.name", StringAttr::get(entry.getContext(), name));
  }

  static void addRange(dl::CastOp cast, SmallVector<Value> &results) {
    OpBuilder builder(cast);
    builder.setInsertionPointAfter(cast);
    Location location = cast.getLoc();
    auto type = mlir::cast<RankedTensorType>(cast.getX().getType()).clone(builder.getF32Type());
    Value x = cast.getX();
    if (x.getType() != type)
      x = dl::CastOp::create(builder, location, type, x);
    SmallVector<int64_t> axes(type.getRank());
    std::iota(axes.begin(), axes.end(), 0);
    Value magnitude = dl::AbsOp::create(builder, location, x);
    Value zeros = dl::ConstantOp::createSplat(builder, location, type, 0.0);
    Value infinities = dl::ConstantOp::createSplat(builder, location, type, std::numeric_limits<double>::infinity());
    Value isZero = dl::CompareOp::create(builder, location, dl::ComparePredicate::Eq, magnitude, zeros);
    Value least = dl::SelectOp::create(builder, location, isZero, infinities, magnitude);
    results.push_back(dl::ReduceMaxOp::create(builder, location, magnitude, axes));
    results.push_back(dl::ReduceMinOp::create(builder, location, least, axes));
  }
};

} // namespace
