#include "precision/ValueForms.h"

#include "dlc/ir/Cast.h"
#include "dlc/ir/Constant.h"
#include "dlc/ir/Precision.h"
#include "dlc/ir/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// An op that moves the elements of its one operand.
static Operation *moveOf(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<dl::IndexMapOpInterface>(op) && op->getNumOperands() == 1 ? op : nullptr;
}

static Value rootOf(Value value) {
  while (Operation *move = moveOf(value))
    value = move->getOperand(0);
  return value;
}

void ValueForms::learn(ModuleOp module) {
  SymbolTable symbols(module);
  module.walk([&](Operation *op) {
    if (auto gradient = dyn_cast<dl::GradientOp>(op)) {
      for (Value value : gradient.getWrt()) {
        differentiated.insert(value);
        if (isa<BlockArgument>(value))
          parameters.insert(value);
      }
    } else if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (BlockArgument argument : function.isExternal() ? Block::BlockArgListType() : function.getArguments())
        if (auto type = function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), dl::kExactAttr))
          exact[argument] = type.getValue();
    } else if (auto read = dyn_cast<dl::ReadOp>(op)) {
      auto variable = symbols.lookup<dl::VariableOp>(read.getVariable());
      if (variable && variable.getRole() == dl::Role::Parameter)
        parameters.insert(read.getValue());
    }
  });
}

void ValueForms::enter(Operation *op, Block &block) {
  auto control = dyn_cast<dl::ControlOpInterface>(op);
  if (!control || op->getNumOperands() < block.getNumArguments())
    return;
  unsigned first = op->getNumOperands() - block.getNumArguments();
  for (unsigned i = control.getNumCarried(); i < block.getNumArguments(); ++i)
    if (!control.isSlice(i) && parameters.contains(rootOf(op->getOperand(first + i))))
      parameters.insert(block.getArgument(i));
}

Value ValueForms::current(Value before) const {
  auto found = computed.find(before);
  return found == computed.end() ? before : found->second;
}

/// What a widening cast widens: narrowing it again changes nothing.
Value ValueForms::exactSource(Value value, FloatType low) const {
  auto cast = value.getDefiningOp<dl::CastOp>();
  bool widens =
      cast && cast.getX().getType() == typeOf(value).clone(low) && elementOf(value).getWidth() > low.getWidth();
  return widens && !differentiated.contains(value) ? Value(cast.getX()) : Value();
}

bool ValueForms::existsIn(Value before, FloatType low) const {
  Value value = current(before);
  return elementOf(value) == low || exact.lookup(value) == low || exactSource(value, low);
}

bool ValueForms::isSpread(Value before, int64_t rank) const {
  Value root = rootOf(before);
  if (matchPattern(root, m_Constant<SplatElementsAttr>(nullptr)))
    return true;
  int64_t own = typeOf(root).getRank();
  return own < rank && (own == 0 || (own == 1 && parameters.contains(root)));
}

/// A move, in front of which a cast has no more elements than behind it.
Operation *ValueForms::movedFrom(Value value) const {
  Operation *move = moveOf(value);
  if (!move || differentiated.contains(value))
    return nullptr;
  return typeOf(move->getOperand(0)).getNumElements() <= typeOf(value).getNumElements() ? move : nullptr;
}

Value ValueForms::make(Value value, FloatType element, Operation *reader, const std::string &reason) {
  if (Value source = exactSource(value, element))
    return source;
  bool narrows = elementOf(value).getWidth() > element.getWidth();
  OpBuilder builder(value.getParentBlock()->findAncestorOpInBlock(*reader));
  RankedTensorType type = typeOf(value).clone(element);
  if (SplatElementsAttr splat; narrows && matchPattern(value, m_Constant(&splat)))
    return dl::ConstantOp::createSplat(builder, value.getLoc(), type, splat.getSplatValue<APFloat>().convertToDouble());
  if (Operation *move = narrows ? movedFrom(value) : nullptr) {
    Value source = as(move->getOperand(0), element, reader, reason);
    Operation *moved = builder.clone(*move);
    moved->setOperand(0, source);
    moved->getResult(0).setType(type);
    return moved->getResult(0);
  }
  auto cast = dl::CastOp::create(builder, reader->getLoc(), type, value);
  cast->setAttr(dl::kReasonAttr, builder.getStringAttr(reason));
  return cast;
}

Value ValueForms::as(Value before, FloatType element, Operation *reader, const std::string &reason) {
  Value value = current(before);
  if (elementOf(value) == element)
    return value;
  auto found = forms.find({value, element});
  if (found != forms.end())
    return found->second;
  Value made = make(value, element, reader, reason);
  forms[{value, element}] = made;
  return made;
}

void ValueForms::narrow(Value result, FloatType low, const std::string &reason) {
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfterValue(result);
  auto cast = dl::CastOp::create(builder, result.getLoc(), typeOf(result).clone(low), result);
  cast->setAttr(dl::kReasonAttr, builder.getStringAttr(reason));
  replace(result, cast);
}
