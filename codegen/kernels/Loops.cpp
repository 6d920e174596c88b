#include "kernels/Loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

std::optional<int64_t> codegen::constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

SmallVector<Value> codegen::emitLoop(ElementScope &scope, Value lo, Value hi, ValueRange init,
                                     llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  std::optional<int64_t> first = constantOf(lo), last = constantOf(hi);
  if (first && last && *last <= *first)
    return SmallVector<Value>(init);
  if (first && last && *last == *first + 1)
    return body(lo, init);
  OpBuilder &b = scope.getBuilder();
  Location loc = scope.getKernel().getLoc();
  auto loop = scf::ForOp::create(b, loc, lo, hi, scope.i64(1), init);
  ElementScope::Before before(scope, loop);
  OpBuilder::InsertionGuard guard(b);
  if (init.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> codegen::emitIf(ElementScope &scope, Value condition, ValueRange otherwise,
                                   llvm::function_ref<SmallVector<Value>()> body) {
  if (!condition)
    return body();
  OpBuilder &b = scope.getBuilder();
  Location loc = scope.getKernel().getLoc();
  auto branch = scf::IfOp::create(b, loc, otherwise.getTypes(), condition, /*withElseRegion=*/!otherwise.empty());
  ElementScope::Before before(scope, branch);
  OpBuilder::InsertionGuard guard(b);
  if (otherwise.empty()) {
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    body();
    return {};
  }
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, body());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  return SmallVector<Value>(branch.getResults());
}

Value codegen::leadingLanes(ElementScope &scope, int64_t live, int64_t width) {
  if (live >= width)
    return {};
  SmallVector<bool> bits(width, false);
  std::fill_n(bits.begin(), live, true);
  OpBuilder &b = scope.getBuilder();
  auto type = VectorType::get({width}, b.getI1Type());
  return arith::ConstantOp::create(b, scope.getKernel().getLoc(),
                                   cast<TypedAttr>(Attribute(DenseElementsAttr::get(type, ArrayRef<bool>(bits)))));
}

void codegen::emitSpan(ElementScope &scope, AffineExpr base, const VectorSpan &span,
                       llvm::function_ref<void(ElementScope &, AffineExpr)> body) {
  IndexSpace &space = scope.getSpace();
  emitLoop(scope, span.lo, span.hi, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
    ElementScope step(scope);
    std::optional<int64_t> fixed = constantOf(iv);
    AffineExpr q = fixed ? space.constant(*fixed) : step.bind(iv, 0, span.count - 1);
    ElementScope lanes(step, Lane{span.width});
    body(lanes, space.simplify(base + q * span.width + lanes.getLaneDim()));
    return {};
  });
  if (!span.tail)
    return;
  emitIf(scope, span.tailCondition, {}, [&]() -> SmallVector<Value> {
    ElementScope step(scope);
    ElementScope lanes(step, Lane{span.width, leadingLanes(scope, span.tail, span.width)});
    body(lanes, space.simplify(span.tailPosition + lanes.getLaneDim()));
    return {};
  });
}

void codegen::emitSpan(ElementScope &scope, int64_t extent, int64_t width,
                       llvm::function_ref<void(ElementScope &, AffineExpr)> body) {
  IndexSpace &space = scope.getSpace();
  if (extent == 1) {
    ElementScope one(scope);
    return body(one, space.constant(0));
  }
  int64_t whole = extent / width;
  VectorSpan span{scope.i64(0), scope.i64(whole), whole, width, extent % width, {}, space.constant(whole * width)};
  emitSpan(scope, space.constant(0), span, body);
}
