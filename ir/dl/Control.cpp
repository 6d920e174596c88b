#include "dlc/ir/Control.h"

#include "dlc/ir/Program.h"
#include "dlc/ir/Sharding.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Control.cpp.inc"

void DlDialect::addControlOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Control.cpp.inc"
      >();
}

RankedTensorType ScanOp::sliceType(Type stacked) {
  auto type = cast<RankedTensorType>(stacked);
  return type.clone(type.getShape().drop_front());
}

RankedTensorType ScanOp::stackedType(Type slice, int64_t trips) {
  auto type = cast<RankedTensorType>(slice);
  SmallVector<int64_t> shape{trips};
  llvm::append_range(shape, type.getShape());
  return type.clone(shape);
}

unsigned ScanOp::getNumCarried() { return getCarried().size(); }

bool ScanOp::isSlice(unsigned argument) {
  return argument >= getNumCarried() && argument < getNumCarried() + getSliced().size();
}

bool ScanOp::isStacked(unsigned result) { return result >= getNumCarried(); }

ArrayRef<int64_t> ScanOp::getBufferOffsets() { return getSecondBuffers().value_or(ArrayRef<int64_t>()); }

void ScanOp::setBufferOffsets(ArrayRef<int64_t> offsets) { setSecondBuffers(offsets); }

void ScanOp::addWhole(Value value) {
  getWholeMutable().append(value);
  getBody().addArgument(value.getType(), value.getLoc());
}

void CondOp::addWhole(Value value) {
  getCapturedMutable().append(value);
  for (Region *region : getRegions())
    region->addArgument(value.getType(), value.getLoc());
}

// Whether a derivative flows from what the block yields to the argument.
static bool influencesYield(BlockArgument argument) {
  SmallVector<Value> open{argument};
  llvm::SmallDenseSet<Value> seen{argument};
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (user->hasTrait<OpTrait::IsTerminator>())
        return true;
      if (carriesDerivative(user, use.getOperandNumber()))
        for (Value result : user->getResults())
          if (hasFloatElements(result.getType()) && seen.insert(result).second)
            open.push_back(result);
    }
  return false;
}

bool ScanOp::isDifferentiable(unsigned operand) {
  return hasFloatElements(getOperand(operand).getType()) && influencesYield(getBlock().getArgument(operand));
}

bool CondOp::isDifferentiable(unsigned operand) {
  return operand && hasFloatElements(getOperand(operand).getType()) &&
         llvm::any_of(getRegions(), [&](Region *region) { return influencesYield(region->getArgument(operand - 1)); });
}

bool CheckpointOp::isDifferentiable(unsigned operand) {
  return hasFloatElements(getOperand(operand).getType()) && influencesYield(getBlock().getArgument(operand));
}

LogicalResult BarrierValueOp::buildAdjoint(AdjointBuilder &b) {
  b.addTo(0, b.cotangent());
  return success();
}

bool BarrierValueOp::isDifferentiable(unsigned operand) { return operand == 0 && hasFloatElements(getX().getType()); }

ShardingRule BarrierValueOp::getShardingRule() {
  ShardingRule rule = ShardingRule::whole(*this);
  for (auto [dim, extent] : llvm::enumerate(cast<RankedTensorType>(getY().getType()).getShape()))
    rule.results[0][dim] = rule.operands[0][dim] = {rule.addParallel(extent)};
  return rule;
}

/// Constants are there at any time.
LogicalResult BarrierValueOp::canonicalize(BarrierValueOp op, PatternRewriter &rewriter) {
  auto isConstant = [](Value value) { return matchPattern(value, m_Constant()); };
  if (isConstant(op.getX())) {
    rewriter.replaceOp(op, op.getX());
    return success();
  }
  SmallVector<Value> after(op.getAfter());
  llvm::erase_if(after, isConstant);
  if (after.size() == op.getAfter().size())
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getAfterMutable().assign(after); });
  return success();
}

// The verifier of the op itself sees its regions as they were parsed, so this one is for operands alone.
LogicalResult ScanOp::verify() {
  int64_t trips = getTrips();
  if (trips < 0)
    return emitOpError("expects 0 or more steps, got ") << trips;
  for (Value operand : getOperands())
    if (!cast<RankedTensorType>(operand.getType()).hasStaticShape())
      return emitOpError("expects static shapes, got ") << operand.getType();
  for (Value sliced : getSliced()) {
    auto type = cast<RankedTensorType>(sliced.getType());
    if (type.getRank() == 0 || type.getDimSize(0) != trips)
      return emitOpError("expects ") << trips << " slices along dimension 0, got " << type;
  }
  if (getNumResults() < getNumCarried())
    return emitOpError("expects a result for each of ")
           << getNumCarried() << " carried values, got " << getNumResults();
  if (std::optional<ArrayRef<int64_t>> buffers = getSecondBuffers(); buffers && buffers->size() != getNumCarried())
    return emitOpError("expects a second buffer for each carried value, got ") << buffers->size();
  return success();
}

static LogicalResult verifyTypes(Operation *op, StringRef what, TypeRange expected, TypeRange got) {
  if (expected == got)
    return success();
  if (expected.size() != got.size())
    return op->emitOpError("expects ") << expected.size() << " " << what << "s, got " << got.size();
  for (auto [index, types] : llvm::enumerate(llvm::zip(expected, got)))
    if (std::get<0>(types) != std::get<1>(types))
      return op->emitOpError("expects ") << what << " " << index << " of type " << std::get<0>(types) << ", got "
                                         << std::get<1>(types);
  return success();
}

static FailureOr<YieldOp> yieldOf(Operation *op, Region &region) {
  auto yield = region.front().empty() ? YieldOp() : dyn_cast<YieldOp>(region.front().back());
  if (!yield)
    return op->emitOpError("expects a region that ends in dl.yield");
  return yield;
}

LogicalResult ScanOp::verifyRegions() {
  SmallVector<Type> arguments(getCarried().getTypes()), yielded(getCarried().getTypes());
  for (Value sliced : getSliced())
    arguments.push_back(sliceType(sliced.getType()));
  llvm::append_range(arguments, getWhole().getTypes());
  if (failed(verifyTypes(*this, "body argument", arguments, getBlock().getArgumentTypes())))
    return failure();
  FailureOr<YieldOp> yield = yieldOf(*this, getBody());
  if (failed(yield))
    return failure();
  llvm::append_range(
      yielded, llvm::drop_begin(yield->getOperandTypes(), std::min<size_t>(yield->getNumOperands(), getNumCarried())));
  if (failed(verifyTypes(*this, "yielded value", yielded, yield->getOperandTypes())))
    return failure();
  SmallVector<Type> results(getCarried().getTypes());
  for (Type slice : llvm::drop_begin(yielded, getNumCarried()))
    results.push_back(stackedType(slice, getTrips()));
  return verifyTypes(*this, "result", results, getResultTypes());
}

LogicalResult CondOp::verify() {
  if (cast<RankedTensorType>(getPredicate().getType()).getRank() != 0)
    return emitOpError("expects a scalar predicate, got ")
           << getPredicate().getType() << "; use dl.select to choose element by element";
  return success();
}

LogicalResult CondOp::verifyRegions() {
  for (Region *region : getRegions()) {
    if (failed(verifyTypes(*this, "region argument", getCaptured().getTypes(), region->getArgumentTypes())))
      return failure();
    FailureOr<YieldOp> yield = yieldOf(*this, *region);
    if (failed(yield) || failed(verifyTypes(*this, "yielded value", getResultTypes(), yield->getOperandTypes())))
      return failure();
  }
  return success();
}

LogicalResult CheckpointOp::verify() { return success(); }

LogicalResult CheckpointOp::verifyRegions() {
  if (failed(verifyTypes(*this, "body argument", getOperandTypes(), getBlock().getArgumentTypes())))
    return failure();
  FailureOr<YieldOp> yield = yieldOf(*this, getBody());
  if (failed(yield))
    return failure();
  return verifyTypes(*this, "yielded value", getResultTypes(), yield->getOperandTypes());
}

SmallVector<Value> CheckpointOp::decompose(OpBuilder &builder) {
  IRMapping inside;
  inside.map(getBlock().getArguments(), getCaptured());
  for (Operation &op : getBlock().without_terminator())
    builder.clone(op, inside);
  return llvm::map_to_vector(getBlock().getTerminator()->getOperands(),
                             [&](Value value) { return inside.lookupOrDefault(value); });
}

static void printNamed(OpAsmPrinter &p, StringRef clause, ValueRange arguments, OperandRange operands) {
  if (operands.empty())
    return;
  p << " " << clause << "(";
  llvm::interleaveComma(llvm::zip(arguments, operands), p, [&](auto pair) {
    auto [argument, operand] = pair;
    p.printOperand(argument);
    p << " = " << operand << " : " << operand.getType();
  });
  p << ")";
}

namespace {

/// `%a = %x : tensor<…>, …` in parentheses.
struct NamedOperands {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;

  ParseResult parse(OpAsmParser &parser, AsmParser::Delimiter delimiter) {
    return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
      return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                     parser.parseOperand(operands.emplace_back()) || parser.parseColonType(types.emplace_back()));
    });
  }

  ParseResult parseOptional(OpAsmParser &parser, StringRef clause) {
    return succeeded(parser.parseOptionalKeyword(clause)) ? parse(parser, AsmParser::Delimiter::Paren) : success();
  }

  ParseResult resolve(OpAsmParser &parser, OperationState &result) {
    return parser.resolveOperands(operands, types, parser.getCurrentLocation(), result.operands);
  }
};

} // namespace

// %last, %all = dl.scan 20 carry(%h = %h0 : tensor<4xf32>) slices(…) whole(…) -> (tensor<4xf32>, …) { … }
void ScanOp::print(OpAsmPrinter &p) {
  auto arguments = getBlock().getArguments();
  p << " " << int64_t(getTrips());
  if (getBackwards())
    p << " backwards";
  printNamed(p, "carry", arguments.take_front(getNumCarried()), getCarried());
  printNamed(p, "slices", arguments.slice(getNumCarried(), getSliced().size()), getSliced());
  printNamed(p, "whole", arguments.take_back(getWhole().size()), getWhole());
  p.printArrowTypeList(getResultTypes());
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"trips", "backwards", "operandSegmentSizes"});
  p << " ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  int64_t trips;
  NamedOperands carried, sliced, whole;
  if (parser.parseInteger(trips))
    return failure();
  result.addAttribute("trips", parser.getBuilder().getI64IntegerAttr(trips));
  if (succeeded(parser.parseOptionalKeyword("backwards")))
    result.addAttribute("backwards", parser.getBuilder().getUnitAttr());
  SMLoc slices = parser.getCurrentLocation();
  if (carried.parseOptional(parser, "carry") || sliced.parseOptional(parser, "slices") ||
      whole.parseOptional(parser, "whole") || carried.resolve(parser, result) || sliced.resolve(parser, result) ||
      whole.resolve(parser, result))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  for (NamedOperands *named : {&carried, &sliced, &whole})
    for (auto [argument, type] : llvm::zip(named->arguments, named->types)) {
      argument.type = type;
      if (named == &sliced) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        if (!tensor || tensor.getRank() == 0)
          return parser.emitError(slices, "expects slices of a tensor of rank 1 or more, got ") << type;
        argument.type = sliceType(type);
      }
      arguments.push_back(argument);
    }
  auto sizes = parser.getBuilder().getDenseI32ArrayAttr(
      {int32_t(carried.types.size()), int32_t(sliced.types.size()), int32_t(whole.types.size())});
  result.addAttribute("operandSegmentSizes", sizes);
  if (parser.parseOptionalArrowTypeList(result.types) || parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

// %y = dl.cond %p (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) { … } else (%b) { … }
void CondOp::print(OpAsmPrinter &p) {
  p << " " << getPredicate();
  printNamed(p, "", getTaken().getArguments(), getCaptured());
  p.printArrowTypeList(getResultTypes());
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  p << " ";
  p.printRegion(getTaken(), /*printEntryBlockArgs=*/false);
  p << " else ";
  if (!getCaptured().empty()) {
    p << "(";
    llvm::interleaveComma(getOtherwise().getArguments(), p, [&](Value argument) { p.printOperand(argument); });
    p << ") ";
  }
  p.printRegion(getOtherwise(), /*printEntryBlockArgs=*/false);
}

ParseResult CondOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand predicate;
  NamedOperands captured;
  auto type = RankedTensorType::get({}, parser.getBuilder().getI1Type());
  if (parser.parseOperand(predicate) || parser.resolveOperand(predicate, type, result.operands) ||
      captured.parse(parser, AsmParser::Delimiter::OptionalParen) || captured.resolve(parser, result))
    return failure();
  SmallVector<OpAsmParser::Argument> otherwise;
  if (parser.parseOptionalArrowTypeList(result.types) || parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (auto [argument, type] : llvm::zip(captured.arguments, captured.types))
    argument.type = type;
  if (parser.parseRegion(*result.addRegion(), captured.arguments) || parser.parseKeyword("else"))
    return failure();
  SMLoc where = parser.getCurrentLocation();
  if (!captured.types.empty() && parser.parseArgumentList(otherwise, AsmParser::Delimiter::Paren, /*allowType=*/false))
    return failure();
  if (otherwise.size() != captured.types.size())
    return parser.emitError(where, "expects ") << captured.types.size() << " arguments, got " << otherwise.size();
  for (auto [argument, type] : llvm::zip(otherwise, captured.types))
    argument.type = type;
  return parser.parseRegion(*result.addRegion(), otherwise);
}

// %y = dl.checkpoint (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) { … }
void CheckpointOp::print(OpAsmPrinter &p) {
  printNamed(p, "", getBlock().getArguments(), getCaptured());
  p.printArrowTypeList(getResultTypes());
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  p << " ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult CheckpointOp::parse(OpAsmParser &parser, OperationState &result) {
  NamedOperands captured;
  if (captured.parse(parser, AsmParser::Delimiter::OptionalParen) || captured.resolve(parser, result) ||
      parser.parseOptionalArrowTypeList(result.types) || parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (auto [argument, type] : llvm::zip(captured.arguments, captured.types))
    argument.type = type;
  return parser.parseRegion(*result.addRegion(), captured.arguments);
}
