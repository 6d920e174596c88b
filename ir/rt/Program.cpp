#include "dlc/ir/Rt.h"
#include "dlc/ir/Storage.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace dlc::rt;

#define GET_OP_CLASSES
#include "dlc/ir/RtOps.cpp.inc"

void RtDialect::addProgramOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/RtOps.cpp.inc"
      >();
}

static Type typeAt(ArrayAttr types, int64_t index) { return cast<TypeAttr>(types[index]).getValue(); }

int64_t dlc::rt::getBufferBytes(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    auto loop = cast<LoopOp>(argument.getOwner()->getParentOp());
    unsigned index = argument.getArgNumber(), slices = loop.getSlices().size();
    return index < slices ? getBufferBytes(loop.getSlices()[index]) / int64_t(loop.getTrips())
                          : getBufferBytes(loop.getLast()[(index - slices) / 2]);
  }
  Operation *op = buffer.getDefiningOp();
  auto program = op->getParentOfType<ProgramOp>();
  if (auto slice = dyn_cast<SliceOp>(op))
    return slice.getBytes();
  if (auto argument = dyn_cast<ArgumentOp>(op))
    return dl::getStorageBytes(typeAt(program.getArgumentTypes(), argument.getIndex()));
  return dl::getStorageBytes(typeAt(program.getResultTypes(), cast<ResultOp>(op).getIndex()));
}

LogicalResult ArenaOp::verify() {
  if (int64_t(getBytes()) < 0 || int64_t(getBytes()) % dl::slotAlignment)
    return emitOpError("expects bytes in multiples of ") << dl::slotAlignment << ", got " << int64_t(getBytes());
  return success();
}

dlc::dl::GroupOp KernelOp::getGroup() { return cast<dl::GroupOp>(getBody().front().front()); }

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  bool two = !block.empty() && std::next(block.begin(), 2) == block.end();
  auto group = two ? dyn_cast<dl::GroupOp>(block.front()) : dl::GroupOp();
  auto yield = two ? dyn_cast<dl::YieldOp>(block.back()) : dl::YieldOp();
  if (!group || !yield)
    return emitOpError("expects one dl.group and dl.yield in its body");
  if (!llvm::equal(group.getInputs(), block.getArguments()) || !llvm::equal(yield.getValues(), group.getResults()))
    return emitOpError("expects a group of all block arguments whose results are yielded, in order");
  if (group.getSlots())
    return emitOpError("expects a group without slots; a launch gives the buffers");
  return success();
}

LogicalResult LibraryOp::verify() {
  if (!isa<MatMulCallAttr, ConvCallAttr>(getCall()))
    return emitOpError("expects a call #rt.matmul or #rt.conv, got ") << getCall();
  if (int64_t(getWorkspace()) < -1 || int64_t(getWorkspaceOffset()) < 0 || int64_t(getWorkspaceBytes()) < 0)
    return emitOpError("expects a workspace of an operand's bytes, got bytes ")
           << int64_t(getWorkspaceOffset()) << " + " << int64_t(getWorkspaceBytes()) << " of operand "
           << int64_t(getWorkspace());
  return success();
}

LogicalResult CollectiveOp::verify() {
  bool reduces = getKind() == dl::CollectiveKind::AllReduce || getKind() == dl::CollectiveKind::ReduceScatter;
  if (getReduce().has_value() != reduces)
    return emitOpError("expects reduce() of an all_reduce and a reduce_scatter alone");
  if (!getElement().isIntOrFloat())
    return emitOpError("expects an element type of numbers, got ") << getElement();
  if (getAxes().empty())
    return emitOpError("expects one or more axes");
  if (int64_t(getCount()) < 0 || int64_t(getChannel()) < 0)
    return emitOpError("expects a count and a channel of at least 0");
  return success();
}

int64_t CollectiveOp::getFromBytes(int64_t members) {
  bool parts = getKind() == dl::CollectiveKind::ReduceScatter || getKind() == dl::CollectiveKind::AllToAll;
  return getCount() * dl::getElementBytes(getElement()) * (parts ? members : 1);
}

int64_t CollectiveOp::getToBytes(int64_t members) {
  bool parts = getKind() == dl::CollectiveKind::AllGather || getKind() == dl::CollectiveKind::AllToAll;
  return getCount() * dl::getElementBytes(getElement()) * (parts ? members : 1);
}

static LogicalResult verifyIndex(Operation *op, int64_t index, ArrayAttr types) {
  if (index < 0 || index >= int64_t(types.size()))
    return op->emitOpError("expects an index below ") << types.size() << ", got " << index;
  return success();
}

LogicalResult ArgumentOp::verify() {
  return verifyIndex(*this, getIndex(), (*this)->getParentOfType<ProgramOp>().getArgumentTypes());
}

LogicalResult ResultOp::verify() {
  return verifyIndex(*this, getIndex(), (*this)->getParentOfType<ProgramOp>().getResultTypes());
}

LogicalResult LoopOp::verify() {
  if (int64_t(getTrips()) < 1)
    return emitOpError("expects 1 step or more, got ") << int64_t(getTrips());
  if (getFirst().size() != getLast().size() || getFirst().size() != getOther().size())
    return emitOpError("expects three buffers for each carried value");
  size_t arguments = getSlices().size() + 2 * getFirst().size();
  if (getBody().getNumArguments() != arguments)
    return emitOpError("expects ") << arguments << " body arguments, got " << getBody().getNumArguments();
  return success();
}

LogicalResult ProgramOp::verify() {
  if (getArgumentNames().size() != getArgumentTypes().size() || getResultNames().size() != getResultTypes().size())
    return emitOpError("expects a name for each argument and result");
  if (getBody().front().empty() || !isa<ReturnOp>(getBody().front().back()))
    return emitOpError("expects a body ending in rt.return");
  return success();
}

static void printNamedTypes(OpAsmPrinter &p, ArrayAttr names, ArrayAttr types) {
  p << "(";
  llvm::interleaveComma(llvm::zip(names, types), p, [&](auto pair) {
    auto [name, type] = pair;
    p << name << ": " << cast<TypeAttr>(type).getValue();
  });
  p << ")";
}

static ParseResult parseNamedTypes(OpAsmParser &parser, ArrayAttr &names, ArrayAttr &types) {
  SmallVector<Attribute> nameList, typeList;
  auto parseOne = [&]() -> ParseResult {
    std::string name; // not an attribute: a string attribute may take the type for its own
    Type type;
    if (parser.parseString(&name) || parser.parseColonType(type))
      return failure();
    nameList.push_back(parser.getBuilder().getStringAttr(name));
    typeList.push_back(TypeAttr::get(type));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne))
    return failure();
  names = parser.getBuilder().getArrayAttr(nameList);
  types = parser.getBuilder().getArrayAttr(typeList);
  return success();
}

// rt.program @step ("x": tensor<4xf32>) -> ("y": tensor<4xf32>) peak(4928) { … }
void ProgramOp::print(OpAsmPrinter &p) {
  p << " ";
  p.printSymbolName(getSymName());
  p << " ";
  printNamedTypes(p, getArgumentNames(), getArgumentTypes());
  p << " -> ";
  printNamedTypes(p, getResultNames(), getResultTypes());
  p << " peak(" << int64_t(getPeak()) << ")";
  p.printOptionalAttrDictWithKeyword(llvm::to_vector((*this)->getDiscardableAttrs()));
  p << " ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  ArrayAttr argumentNames, argumentTypes, resultNames, resultTypes;
  int64_t peak;
  if (parser.parseSymbolName(name) || parseNamedTypes(parser, argumentNames, argumentTypes) || parser.parseArrow() ||
      parseNamedTypes(parser, resultNames, resultTypes) || parser.parseKeyword("peak") || parser.parseLParen() ||
      parser.parseInteger(peak) || parser.parseRParen() || parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion()))
    return failure();
  Properties &properties = result.getOrAddProperties<Properties>();
  properties.sym_name = name;
  properties.argument_names = argumentNames;
  properties.argument_types = argumentTypes;
  properties.result_names = resultNames;
  properties.result_types = resultTypes;
  properties.peak = parser.getBuilder().getI64IntegerAttr(peak);
  return success();
}
