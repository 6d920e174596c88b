#include "dlc/ir/TensorBuilder.h"

#include "dlc/ir/Activation.h"
#include "dlc/ir/Cast.h"
#include "dlc/ir/Constant.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Math.h"

using namespace mlir;
using namespace dlc::dl;

Value TensorBuilder::splat(double value, Type type) {
  return ConstantOp::createSplat(builder, location, ::mlir::cast<RankedTensorType>(type), value);
}

#define DLC_BINARY(Name, Op)                                                                                           \
  Value TensorBuilder::Name(Value a, Value b) { return Op::create(builder, location, a, b); }
DLC_BINARY(add, AddOp)
DLC_BINARY(sub, SubOp)
DLC_BINARY(mul, MulOp)
DLC_BINARY(div, DivOp)
DLC_BINARY(maximum, MaximumOp)
DLC_BINARY(logicalAnd, AndOp)
#undef DLC_BINARY

#define DLC_UNARY(Name, Op)                                                                                            \
  Value TensorBuilder::Name(Value x) { return Op::create(builder, location, x); }
DLC_UNARY(neg, NegOp)
DLC_UNARY(abs, AbsOp)
DLC_UNARY(exp, ExpOp)
DLC_UNARY(log, LogOp)
DLC_UNARY(log1p, Log1pOp)
DLC_UNARY(sqrt, SqrtOp)
DLC_UNARY(rsqrt, RsqrtOp)
DLC_UNARY(tanh, TanhOp)
DLC_UNARY(erf, ErfOp)
DLC_UNARY(sigmoid, SigmoidOp)
DLC_UNARY(logicalNot, NotOp)
#undef DLC_UNARY

#define DLC_COMPARE(Name, Predicate)                                                                                   \
  Value TensorBuilder::Name(Value a, Value b) {                                                                        \
    return CompareOp::create(builder, location, ComparePredicate::Predicate, a, b);                                    \
  }
DLC_COMPARE(eq, Eq)
DLC_COMPARE(ne, Ne)
DLC_COMPARE(lt, Lt)
DLC_COMPARE(le, Le)
DLC_COMPARE(gt, Gt)
DLC_COMPARE(ge, Ge)
#undef DLC_COMPARE

Value TensorBuilder::select(Value condition, Value a, Value b) {
  return SelectOp::create(builder, location, condition, a, b);
}

Value TensorBuilder::cast(Value x, Type element) {
  auto type = ::mlir::cast<RankedTensorType>(x.getType());
  return type.getElementType() == element ? x : CastOp::create(builder, location, type.clone(element), x).getResult();
}
