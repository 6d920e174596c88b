#include "dlc/ir/DlAttrs.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dlc::dl;

ShardingAttr ShardingAttr::replicated(MLIRContext *context, int64_t rank) {
  return get(context, SmallVector<DimShardingAttr>(rank, DimShardingAttr::get(context, {}, {})));
}

bool ShardingAttr::isReplicated() const {
  return !getPartial() && llvm::all_of(getDims(), [](DimShardingAttr dim) { return dim.getAxes().empty(); });
}

ShardingAttr ShardingAttr::withDim(int64_t dim, DimShardingAttr sharding) const {
  SmallVector<DimShardingAttr> dims(getDims());
  dims[dim] = sharding;
  return get(getContext(), dims, getPartial());
}

ShardingAttr ShardingAttr::withPartial(PartialAttr partial) const { return get(getContext(), getDims(), partial); }

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<DimShardingAttr> dims,
                                   PartialAttr partial) {
  llvm::SmallDenseSet<StringAttr> seen;
  auto each = [&](ArrayRef<StringAttr> axes) -> LogicalResult {
    for (StringAttr axis : axes)
      if (!seen.insert(axis).second)
        return emitError() << "expects each axis once in a sharding, got " << axis << " twice";
    return success();
  };
  for (DimShardingAttr dim : dims) {
    if (failed(each(dim.getAxes())))
      return failure();
    if (dim.getLeaf() < 0 || dim.getLeaves() < 0)
      return emitError() << "expects leaves of one or more indices, got " << std::min(dim.getLeaf(), dim.getLeaves());
    ArrayRef<int64_t> borders = dim.getBorders();
    if (!borders.empty() && (borders.front() != 0 || !llvm::is_sorted(borders) || dim.getAxes().empty()))
      return emitError() << "expects borders of a split dim that begin with 0 and ascend, got " << borders;
  }
  if (partial && partial.getAxes().empty())
    return emitError() << "expects one or more axes of a partial value";
  return partial ? each(partial.getAxes()) : success();
}

static ParseResult parseAxis(AsmParser &parser, SmallVectorImpl<StringAttr> &axes) {
  std::string name;
  if (parser.parseKeywordOrString(&name))
    return failure();
  axes.push_back(parser.getBuilder().getStringAttr(name));
  return success();
}

static ParseResult parseLeaves(AsmParser &parser, int64_t &leaves) {
  return succeeded(parser.parseOptionalKeyword("of")) ? parser.parseInteger(leaves) : ParseResult(success());
}

// `_`, `data * model`, `data(0, 3, 4)`, `data by 32` or `data by 32 of 4`
static ParseResult parseDim(AsmParser &parser, SmallVectorImpl<DimShardingAttr> &dims) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> borders;
  int64_t leaf = 0, leaves = 0;
  if (failed(parser.parseOptionalKeyword("_"))) {
    do
      if (parseAxis(parser, axes))
        return failure();
    while (succeeded(parser.parseOptionalStar()));
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen,
                                       [&] { return parser.parseInteger(borders.emplace_back()); }))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("by")) && (parser.parseInteger(leaf) || parseLeaves(parser, leaves)))
      return failure();
  }
  dims.push_back(DimShardingAttr::get(parser.getContext(), axes, borders, leaf, leaves));
  return success();
}

static FailureOr<PartialAttr> parsePartial(AsmParser &parser) {
  StringRef kind;
  SmallVector<StringAttr> axes;
  int64_t leaves = 0;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseKeyword("partial") || parser.parseEqual() || parser.parseKeyword(&kind) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] { return parseAxis(parser, axes); }) ||
      parseLeaves(parser, leaves))
    return failure();
  std::optional<ReduceKind> parsed = symbolizeReduceKind(kind);
  if (!parsed)
    return parser.emitError(where, "expects sum, max or min, got ") << kind;
  return PartialAttr::get(parser.getContext(), *parsed, axes, leaves);
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimShardingAttr> dims;
  PartialAttr partial;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return parseDim(parser, dims); }))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    FailureOr<PartialAttr> parsed = parsePartial(parser);
    if (failed(parsed))
      return {};
    partial = *parsed;
  }
  if (parser.parseGreater() || failed(verify([&] { return parser.emitError(where); }, dims, partial)))
    return {};
  return get(parser.getContext(), dims, partial);
}

static void printAxes(AsmPrinter &printer, ArrayRef<StringAttr> axes, StringRef between) {
  llvm::interleave(axes, [&](StringAttr axis) { printer.printKeywordOrString(axis); }, [&] { printer << between; });
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer, [&](DimShardingAttr dim) {
    if (dim.getAxes().empty())
      printer << "_";
    printAxes(printer, dim.getAxes(), " * ");
    if (!dim.getBorders().empty()) {
      printer << "(";
      llvm::interleaveComma(dim.getBorders(), printer);
      printer << ")";
    }
    if (dim.getLeaf())
      printer << " by " << dim.getLeaf();
    if (dim.getLeaves())
      printer << " of " << dim.getLeaves();
  });
  printer << "]";
  if (getPartial()) {
    printer << ", partial = " << stringifyReduceKind(getPartial().getKind()) << "(";
    printAxes(printer, getPartial().getAxes(), ", ");
    printer << ")";
    if (getPartial().getLeaves())
      printer << " of " << getPartial().getLeaves();
  }
  printer << ">";
}
