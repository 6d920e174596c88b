#include "kernels/GroupAnalysis.h"

#include "dlc/ir/Widen.h"
#include "kernels/ElementScope.h"

#include <numeric>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

OperandRange codegen::resultsOf(dl::GroupOp group) { return group.getBody().front().getTerminator()->getOperands(); }

SmallVector<Value> codegen::passRoots(dl::GroupOp group, ArrayRef<SmallVector<Operation *>> stages,
                                      ArrayRef<unsigned> domainResults, size_t pass) {
  SmallVector<Value> roots;
  if (pass < stages.size()) {
    for (Operation *op : stages[pass])
      roots.push_back(op->getOperand(0));
    return roots;
  }
  OperandRange results = resultsOf(group);
  for (unsigned i : domainResults)
    roots.push_back(results[i]);
  return roots;
}

Memory codegen::asStored(dl::GroupOp group, unsigned i, Memory memory) {
  unsigned inputs = group.getNumOperands();
  Type stored =
      getElementTypeOrSelf(i < inputs ? group.getOperand(i).getType() : group.getResult(i - inputs).getType());
  if (memory.element.isF32() && dl::hasNarrowFloats(stored))
    memory.narrow = stored;
  return memory;
}

Memory codegen::resultMemory(KernelBuilder &kernel, dl::GroupOp group, unsigned i) {
  return kernel.operand(group.getNumOperands() + i, getElementTypeOrSelf(group.getResult(i).getType()));
}

int64_t codegen::product(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}

int64_t codegen::bytesOf(Type element) { return std::max(element.getIntOrFloatBitWidth(), 8u) / 8; }

// An addition in a full vector register; a load is counted by its bytes at about 10 GB/s.
static constexpr double nanosecondsOfCost = 0.03, nanosecondsOfByte = 0.1;

LogicalResult AccessCollector::visit(Value value, ArrayRef<AffineExpr> index) {
  AffineExpr offset = space.linearize(shapeOf(value), index);
  if (!seen.insert({value, offset}).second)
    return success();
  visited.push_back(value);
  if (given.contains(value)) {
    exprs.push_back(offset);
    givenReads.emplace_back(value, offset);
    return success();
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->hasTrait<OpTrait::ConstantLike>()) {
    exprs.push_back(offset);
    nanoseconds += op ? 0 : nanosecondsOfByte * double(bytesOf(getElementTypeOrSelf(value.getType())));
    return success();
  }
  if (auto body = dyn_cast<dl::ScalarBodyOpInterface>(op)) {
    if (!isa<AffineConstantExpr>(offset))
      nanoseconds += nanosecondsOfCost * body.getScalarCost();
    for (Value operand : op->getOperands())
      if (failed(visit(operand, index)))
        return failure();
    return success();
  }
  if (auto map = dyn_cast<dl::IndexMapOpInterface>(op)) {
    for (const dl::IndexSource &source : map.getIndexSources()) {
      for (const dl::IndexBound &bound : source.bounds)
        exprs.push_back(space.simplify(bound.expr.replaceDims(index)));
      if (failed(visit(op->getOperand(source.operand), space.compose(source.map, index))))
        return failure();
    }
    return success();
  }
  if (auto indirect = dyn_cast<dl::IndirectIndexOpInterface>(op)) {
    dl::IndirectSource source = indirect.getIndirectSource();
    if (failed(visit(op->getOperand(source.positions), space.compose(source.positionMap, index))))
      return failure();
    SmallVector<AffineExpr> extended(index);
    extended.push_back(space.addDim(0, source.extent - 1));
    return visit(op->getOperand(source.operand), space.compose(source.map, extended));
  }
  if (auto valued = dyn_cast<dl::IndexValuedOpInterface>(op)) {
    exprs.push_back(space.simplify(valued.getIndexValue().replaceDims(index)));
    return success();
  }
  return op->emitOpError("expects a kernel of its own, got a place inside one of another kind");
}

// Coefficient of a dim, or nothing when it occurs inside a floordiv or mod.
static std::optional<int64_t> coefficientOf(const LinearForm &form, unsigned dim) {
  int64_t coefficient = 0;
  for (auto [term, factor] : form.terms) {
    auto plain = dyn_cast<AffineDimExpr>(term);
    if (plain && plain.getPosition() == dim)
      coefficient = factor;
    else if (!plain && term.isFunctionOfDim(dim))
      return std::nullopt;
  }
  return coefficient;
}

SmallVector<int64_t> codegen::collapse(ArrayRef<int64_t> shape, ArrayRef<AffineExpr> exprs) {
  SmallVector<LinearForm> forms;
  IndexSpace reader(exprs.empty() ? nullptr : exprs[0].getContext());
  for (AffineExpr expr : exprs)
    forms.push_back(reader.linearForm(expr));
  SmallVector<int64_t> extents; // innermost first
  std::optional<unsigned> inner;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] == 1)
      continue;
    bool merges = inner && llvm::all_of(forms, [&](const LinearForm &form) {
                    std::optional<int64_t> a = coefficientOf(form, dim), b = coefficientOf(form, *inner);
                    return a && b && *a == *b * extents.back();
                  });
    if (merges) {
      extents.back() *= shape[dim];
      continue;
    }
    extents.push_back(shape[dim]);
    inner = dim;
  }
  if (extents.empty())
    extents.push_back(1);
  return SmallVector<int64_t>(llvm::reverse(extents));
}

int64_t codegen::lanesOf(KernelBuilder &kernel, dl::GroupOp group) {
  Type widest;
  auto consider = [&](Type type) {
    Type element = cast<RankedTensorType>(type).getElementType();
    auto rank = [](Type t) { return std::pair(isa<FloatType>(t), t.getIntOrFloatBitWidth()); };
    if (!widest || rank(element) > rank(widest))
      widest = element;
  };
  for (Operation &op : group.getBody().front().without_terminator())
    for (Type type : op.getResultTypes())
      consider(type);
  for (Type type : group.getResultTypes())
    consider(type);
  return kernel.lanesOf(widest);
}
