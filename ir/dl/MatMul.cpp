#include "dlc/ir/MatMul.h"

#include "Axes.h"
#include "Leaves.h"
#include "dlc/ir/ContractionDims.h"
#include "dlc/ir/DlAttrs.h"
#include "dlc/ir/Shape.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/MatMul.cpp.inc"

void DlDialect::addMatMulOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/MatMul.cpp.inc"
      >();
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Dimensions that are neither batch nor contracted, ascending.
static SmallVector<int64_t> freeDims(int64_t rank, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
      dims.push_back(dim);
  return dims;
}

static LogicalResult checkPairs(std::optional<Location> location, StringRef kind, RankedTensorType lhs,
                                RankedTensorType rhs, ArrayRef<int64_t> lhsDims, ArrayRef<int64_t> rhsDims) {
  if (lhsDims.size() != rhsDims.size())
    return emitOptionalError(location, "expects as many lhs as rhs ", kind, " dimensions, got ", lhsDims.size(),
                             " and ", rhsDims.size());
  for (auto [l, r] : llvm::zip(lhsDims, rhsDims))
    if (lhs.getDimSize(l) != rhs.getDimSize(r))
      return emitOptionalError(location, "expects equal extents of ", kind, " dimensions ", l, " and ", r, ", got ",
                               lhs.getDimSize(l), " and ", rhs.getDimSize(r));
  return success();
}

LogicalResult DotGeneralOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType lhs = typeOf(adaptor.getA()), rhs = typeOf(adaptor.getB());
  if (lhs.getElementType() != rhs.getElementType())
    return emitOptionalError(location, "expects one element type, got ", lhs, " and ", rhs);
  ArrayRef<int64_t> lhsBatch = adaptor.getLhsBatch(), rhsBatch = adaptor.getRhsBatch();
  ArrayRef<int64_t> lhsContract = adaptor.getLhsContract(), rhsContract = adaptor.getRhsContract();
  SmallVector<int64_t> lhsUsed(lhsBatch), rhsUsed(rhsBatch);
  llvm::append_range(lhsUsed, lhsContract);
  llvm::append_range(rhsUsed, rhsContract);
  if (failed(checkAxes(location, "lhs dimensions", lhsUsed, lhs.getRank())) ||
      failed(checkAxes(location, "rhs dimensions", rhsUsed, rhs.getRank())) ||
      failed(checkPairs(location, "batch", lhs, rhs, lhsBatch, rhsBatch)) ||
      failed(checkPairs(location, "contracted", lhs, rhs, lhsContract, rhsContract)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : lhsBatch)
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : freeDims(lhs.getRank(), lhsBatch, lhsContract))
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : freeDims(rhs.getRank(), rhsBatch, rhsContract))
    shape.push_back(rhs.getDimSize(dim));
  types.push_back(lhs.clone(shape));
  return success();
}

LogicalResult DotGeneralOp::verify() {
  if (getLeaves() != 1 && getLhsContract().empty())
    return emitOpError("expects a contracted dimension to have leaves, got none");
  return checkLeaves(*this, getLeaves());
}

bool DotGeneralOp::acceptsEpilogue() { return true; }

int64_t DotGeneralOp::getFlops() {
  int64_t contracted = 1;
  for (int64_t dim : getLhsContract())
    contracted *= typeOf(getA()).getDimSize(dim);
  return getType().getNumElements() * contracted;
}

static SmallVector<int64_t> iota(int64_t begin, int64_t end) { return llvm::to_vector(llvm::seq<int64_t>(begin, end)); }

/// The gradient of one operand ("own"): g contracted with the other operand over the other's free dimensions. The
/// product has dimensions [batch, own free, contracted as the other operand orders them]; the transpose puts them where
/// they are in the operand.
static Value operandGradient(AdjointBuilder &b, Value g, Value other, bool ownIsLhs, int64_t ownRank,
                             ArrayRef<int64_t> ownBatch, ArrayRef<int64_t> ownContract, ArrayRef<int64_t> otherBatch,
                             ArrayRef<int64_t> otherContract) {
  int64_t batch = ownBatch.size(), rank = typeOf(g).getRank();
  SmallVector<int64_t> ownFree = freeDims(ownRank, ownBatch, ownContract);
  SmallVector<int64_t> otherFree = freeDims(typeOf(other).getRank(), otherBatch, otherContract);
  int64_t lhsFree = ownIsLhs ? ownFree.size() : otherFree.size();
  SmallVector<int64_t> gContract = ownIsLhs ? iota(batch + lhsFree, rank) : iota(batch, batch + lhsFree);
  Value product =
      DotGeneralOp::create(b.getBuilder(), b.getLoc(), g, other, iota(0, batch), otherBatch, gContract, otherFree);
  // place[d]: the dimension of the product that is dimension d of the operand.
  SmallVector<int64_t> place(ownRank);
  for (auto [i, dim] : llvm::enumerate(ownBatch))
    place[dim] = i;
  for (auto [i, dim] : llvm::enumerate(ownFree))
    place[dim] = batch + i;
  SmallVector<int64_t> ascending(otherContract);
  llvm::sort(ascending);
  for (auto [own, partner] : llvm::zip(ownContract, otherContract))
    place[own] = batch + ownFree.size() + (llvm::find(ascending, partner) - ascending.begin());
  return b.getBuilder().createOrFold<TransposeOp>(b.getLoc(), product, place);
}

LogicalResult DotGeneralOp::buildAdjoint(AdjointBuilder &b) {
  if (!b.cotangent())
    return success();
  Value g = b.cotangent().value;
  if (b.needs(0))
    b.addTo(0, operandGradient(b, g, getB(), true, typeOf(getA()).getRank(), getLhsBatch(), getLhsContract(),
                               getRhsBatch(), getRhsContract()));
  if (b.needs(1))
    b.addTo(1, operandGradient(b, g, getA(), false, typeOf(getB()).getRank(), getRhsBatch(), getRhsContract(),
                               getLhsBatch(), getLhsContract()));
  return success();
}

ShardingRule DotGeneralOp::getShardingRule() {
  ShardingRule rule = ShardingRule::whole(*this);
  RankedTensorType lhs = typeOf(getA()), rhs = typeOf(getB());
  SmallVector<DimFactors> &a = rule.operands[0], &b = rule.operands[1];
  int64_t position = 0;
  for (auto [l, r] : llvm::zip(getLhsBatch(), getRhsBatch()))
    a[l] = b[r] = rule.results[0][position++] = {rule.addParallel(lhs.getDimSize(l))};
  for (int64_t dim : freeDims(lhs.getRank(), getLhsBatch(), getLhsContract()))
    a[dim] = rule.results[0][position++] = {rule.addParallel(lhs.getDimSize(dim))};
  for (int64_t dim : freeDims(rhs.getRank(), getRhsBatch(), getRhsContract()))
    b[dim] = rule.results[0][position++] = {rule.addParallel(rhs.getDimSize(dim))};
  for (auto [l, r] : llvm::zip(getLhsContract(), getRhsContract()))
    a[l] = b[r] = {rule.addReduce(lhs.getDimSize(l), ReduceKind::Sum)};
  return rule;
}

/// The dim that members share comes first, its leaves in their order.
void DotGeneralOp::partitionLocal(PartitionBuilder &b) {
  SmallVector<int64_t> lhs(getLhsContract()), rhs(getRhsContract());
  for (size_t i = 0; i < lhs.size(); ++i) {
    LeafSplit leaves = b.getLeaves(0, lhs[i]);
    if (!leaves)
      continue;
    OpBuilder before(*this);
    auto zero = cast<TypedAttr>(before.getZeroAttr(getType().getElementType()));
    if (int64_t(llvm::divideCeil(uint64_t(typeOf(getA()).getDimSize(lhs[i])), uint64_t(leaves.count))) !=
        leaves.extent) {
      getAMutable().assign(fillLeaves(before, getA(), lhs[i], leaves, zero));
      getBMutable().assign(fillLeaves(before, getB(), rhs[i], leaves, zero));
    }
    std::rotate(lhs.begin(), lhs.begin() + i, lhs.begin() + i + 1);
    std::rotate(rhs.begin(), rhs.begin() + i, rhs.begin() + i + 1);
    setLhsContract(lhs);
    setRhsContract(rhs);
    setLeaves(uint64_t(leaves.count));
  }
}

static SmallVector<int64_t> stridesOf(RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank());
  int64_t stride = 1;
  for (int64_t dim = type.getRank(); dim-- > 0; stride *= type.getDimSize(dim))
    strides[dim] = stride;
  return strides;
}

/// Appends a loop inside the last one: nothing for extent 1, and one loop for two where every tensor allows it.
static void appendLoop(SmallVectorImpl<ContractionAxis> &axes, ContractionAxis inner) {
  if (inner.extent == 1)
    return;
  if (!axes.empty()) {
    ContractionAxis &outer = axes.back();
    int64_t extent = inner.extent;
    if (outer.lhsStride == inner.lhsStride * extent && outer.rhsStride == inner.rhsStride * extent &&
        outer.resultStride == inner.resultStride * extent) {
      inner.extent *= outer.extent;
      outer = inner;
      return;
    }
  }
  axes.push_back(inner);
}

ContractionDims ContractionDims::of(DotGeneralOp op) {
  RankedTensorType lhs = typeOf(op.getA()), rhs = typeOf(op.getB());
  SmallVector<int64_t> lhsStrides = stridesOf(lhs), rhsStrides = stridesOf(rhs), strides = stridesOf(op.getType());
  ContractionDims dims;
  int64_t position = 0;
  for (auto [l, r] : llvm::zip(op.getLhsBatch(), op.getRhsBatch()))
    appendLoop(dims.batch, {lhs.getDimSize(l), lhsStrides[l], rhsStrides[r], strides[position++]});
  for (int64_t dim : freeDims(lhs.getRank(), op.getLhsBatch(), op.getLhsContract()))
    appendLoop(dims.m, {lhs.getDimSize(dim), lhsStrides[dim], 0, strides[position++]});
  for (int64_t dim : freeDims(rhs.getRank(), op.getRhsBatch(), op.getRhsContract()))
    appendLoop(dims.n, {rhs.getDimSize(dim), 0, rhsStrides[dim], strides[position++]});
  for (auto [l, r] : llvm::zip(op.getLhsContract(), op.getRhsContract()))
    appendLoop(dims.k, {lhs.getDimSize(l), lhsStrides[l], rhsStrides[r], 0});
  dims.leafTerms = extentOf(dims.k);
  if (op.getLeaves() > 1 && dims.leafTerms) {
    int64_t outermost = lhs.getDimSize(op.getLhsContract().front());
    dims.leaves = int64_t(op.getLeaves());
    dims.leafTerms *= llvm::divideCeil(uint64_t(outermost), uint64_t(dims.leaves));
    dims.leafTerms /= outermost;
  }
  return dims;
}
