#include "math/VectorMath.h"

#include "math/Expansions.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace dlc::codegen;

namespace {

bool isExpanded(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF32() || element.isF64();
}

template <typename OpTy, Expr (*expand)(Expr)>
struct Unary : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isExpanded(op.getType()))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, expand(Expr(builder, op.getOperand())).value);
    return success();
  }
};

template <typename OpTy, Expr (*expand)(Expr, Expr)>
struct Binary : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isExpanded(op.getType()))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, expand(Expr(builder, op.getLhs()), Expr(builder, op.getRhs())).value);
    return success();
  }
};

/// LLVM calls libgcc for to-bf16 and for f64-to-f16; f32-to-f16 is an instruction.
struct Truncate : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType()), to = getElementTypeOrSelf(op.getType());
    bool needed = (isExpanded(from) && to.isBF16()) || (from.isF64() && to.isF16());
    if (!needed)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, expandTruncate(Expr(builder, op.getIn()), to));
    return success();
  }
};

/// f16 to f32 is an instruction; bf16 and f64 go by it, or by a shift.
struct Extend : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType()), to = getElementTypeOrSelf(op.getType());
    if (!from.isBF16() && !(from.isF16() && to.isF64()))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, expandExtend(builder, op.getIn(), to));
    return success();
  }
};

} // namespace

void dlc::codegen::populateVectorMathPatterns(RewritePatternSet &patterns) {
  patterns.add<Unary<math::ExpOp, expandExp>, Unary<math::ExpM1Op, expandExpm1>, Unary<math::TanhOp, expandTanh>,
               Unary<math::ErfOp, expandErf>, Unary<math::LogOp, expandLog>, Unary<math::Log1pOp, expandLog1p>,
               Unary<math::SinOp, expandSin>, Unary<math::CosOp, expandCos>, Unary<math::TanOp, expandTan>,
               Unary<math::AtanOp, expandAtan>, Unary<math::RsqrtOp, expandRsqrt>, Binary<math::PowFOp, expandPow>,
               Binary<math::Atan2Op, expandAtan2>, Binary<arith::RemFOp, expandRem>, Truncate, Extend>(
      patterns.getContext());
}

void dlc::codegen::expandMath(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  populateVectorMathPatterns(patterns);
  // One walk is enough: no expansion creates an op that another pattern matches.
  walkAndApplyPatterns(root, std::move(patterns));
}
