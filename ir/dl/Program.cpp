#include "dlc/ir/Program.h"

#include "dlc/ir/Collective.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Program.cpp.inc"

void DlDialect::addProgramOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Program.cpp.inc"
      >();
}

LogicalResult VariableOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape())
    return emitOpError("expects a static shape, got ") << type;
  if (auto data = dyn_cast<ElementsAttr>(getInit())) {
    if (data.getShapedType() != type)
      return emitOpError("expects initial data of type ") << type << ", got " << data.getShapedType();
    return verifyElements(*this, data);
  }
  if (!isa<ZerosAttr, ConstantAttr, UniformAttr, NormalAttr>(getInit()))
    return emitOpError("expects an initial value (#dl.zeros, #dl.constant, #dl.uniform, #dl.normal or elements), got ")
           << getInit();
  return success();
}

static LogicalResult verifyVariableUse(Operation *op, FlatSymbolRefAttr name, Type type,
                                       SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, name);
  if (!variable)
    return op->emitOpError("expects a dl.variable, got ") << name << ", which is none";
  if (variable.getType() != type)
    return op->emitOpError("expects the type of ") << name << ", " << variable.getType() << ", got " << type;
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariableUse(*this, getVariableAttr(), getType(), symbols);
}

LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariableUse(*this, getVariableAttr(), getValue().getType(), symbols);
}

LogicalResult GradientOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
                                           OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.drop_front().getTypes());
  return success();
}

LogicalResult GradientOp::verify() {
  if (cast<RankedTensorType>(getLoss().getType()).getRank() != 0)
    return emitOpError("expects a scalar loss (rank 0), got ") << getLoss().getType();
  if (getWrt().empty())
    return emitOpError("expects at least one value to differentiate by");
  return success();
}

// %y = dl.group kind(row) [4, 8] (%a = %x : tensor<4x8xf32>) -> (tensor<4xf32>) { … dl.yield … }
void GroupOp::print(OpAsmPrinter &p) {
  p << " kind(" << stringifyGroupKind(getKind()) << ") [";
  llvm::interleaveComma(getDomain(), p);
  p << "] (";
  Block &block = getBody().front();
  llvm::interleaveComma(llvm::zip(block.getArguments(), getInputs()), p, [&](auto pair) {
    auto [argument, input] = pair;
    p.printOperand(argument);
    p << " = " << input << " : " << input.getType();
  });
  p << ")";
  p.printArrowTypeList(getResultTypes());
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"kind", "domain"});
  p << " ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult GroupOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef kind;
  SMLoc where = parser.getCurrentLocation();
  SmallVector<int64_t> domain;
  if (parser.parseKeyword("kind") || parser.parseLParen() || parser.parseKeyword(&kind) || parser.parseRParen() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(domain.emplace_back()); }))
    return failure();
  std::optional<GroupKind> parsed = symbolizeGroupKind(kind);
  if (!parsed)
    return parser.emitError(where, "expects a group kind, got ") << kind;
  result.addAttribute("kind", GroupKindAttr::get(parser.getContext(), *parsed));
  result.addAttribute("domain", parser.getBuilder().getDenseI64ArrayAttr(domain));
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  auto parseInput = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(inputs.emplace_back()) || parser.parseColonType(arguments.back().type));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseInput))
    return failure();
  for (auto [argument, input] : llvm::zip(arguments, inputs))
    if (parser.resolveOperand(input, argument.type, result.operands))
      return failure();
  if (parser.parseOptionalArrowTypeList(result.types) || parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

/// Groups of kind pointwise on the group's own arguments, all whose results are yielded in order.
static LogicalResult verifyParts(GroupOp group) {
  SmallVector<Value> results;
  for (Operation &op : group.getBody().front().without_terminator()) {
    auto part = dyn_cast<GroupOp>(op);
    if (!part || part.getKind() != GroupKind::Pointwise)
      return op.emitOpError("expects to be a group of kind pointwise inside one of kind horizontal");
    if (!llvm::all_of(part.getInputs(), llvm::IsaPred<BlockArgument>))
      return op.emitOpError("expects to be independent of the other parts of the horizontal group");
    llvm::append_range(results, part.getResults());
  }
  if (!llvm::equal(results, group.getBody().front().getTerminator()->getOperands()))
    return group.emitOpError("expects to yield all results of its parts in order");
  return success();
}

/// A group that is no kernel holds one op, which the runtime acts on.
static LogicalResult verifySingle(GroupOp group, bool fits, StringRef what) {
  Block &block = group.getBody().front();
  if (!fits || !llvm::hasNItems(block, 2) || !llvm::equal(block.front().getOperands(), block.getArguments()) ||
      !llvm::equal(block.front().getResults(), block.back().getOperands()))
    return group.emitOpError("expects a body of one ") << what << " of its arguments and a dl.yield of its results";
  return success();
}

CollectiveOpInterface GroupOp::getCollective() { return cast<CollectiveOpInterface>(getBody().front().front()); }

LogicalResult GroupOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("expects a body argument of the same type for each input");
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("expects a body ending in dl.yield of the result types");
  if (getKind() == GroupKind::Horizontal && failed(verifyParts(*this)))
    return failure();
  if (getKind() == GroupKind::Collective &&
      failed(verifySingle(*this, isa<CollectiveOpInterface>(block.front()), "collective")))
    return failure();
  if (getKind() == GroupKind::Wait && failed(verifySingle(*this, isa<WaitOp>(block.front()), "dl.wait")))
    return failure();
  if (getKind() == GroupKind::Control &&
      failed(verifySingle(*this, isa<ControlOpInterface>(block.front()), "op with regions")))
    return failure();
  if (getSlots() && getSlots()->size() != getNumResults())
    return emitOpError("expects one slot a result, got ") << getSlots()->size();
  if (std::optional<ArrayRef<int64_t>> inPlace = getInPlace()) {
    if (inPlace->size() != getNumResults())
      return emitOpError("expects one in_place input a result, got ") << inPlace->size();
    for (int64_t input : *inPlace)
      if (input < -1 || input >= int64_t(getInputs().size()))
        return emitOpError("expects in_place inputs below ") << getInputs().size() << " or -1, got " << input;
  }
  return success();
}
