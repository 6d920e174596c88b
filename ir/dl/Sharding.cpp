#include "dlc/ir/Sharding.h"

#include "dlc/ir/DlAttrs.h"
#include "mlir/IR/Matchers.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace dlc::dl;

using Dims = SmallVector<DimFactors>;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

unsigned ShardingRule::addParallel(int64_t extent) {
  factors.push_back({ShardingFactor::Kind::Parallel, extent, ReduceKind::Sum});
  return factors.size() - 1;
}

unsigned ShardingRule::addReduce(int64_t extent, ReduceKind kind) {
  factors.push_back({ShardingFactor::Kind::Reduce, extent, kind});
  return factors.size() - 1;
}

ShardingRule ShardingRule::whole(Operation *op) {
  ShardingRule rule;
  for (Value operand : op->getOperands())
    rule.operands.push_back(Dims(rankOf(operand)));
  for (Value result : op->getResults())
    rule.results.push_back(Dims(rankOf(result)));
  return rule;
}

/// Every dim of operands and results at the same place is one loop.
static ShardingRule pointwiseRule(Operation *op) {
  ShardingRule rule = ShardingRule::whole(op);
  Dims dims;
  for (int64_t extent : typeOf(op->getResult(0)).getShape())
    dims.push_back({rule.addParallel(extent)});
  for (Dims &operand : rule.operands)
    operand = dims;
  for (Dims &result : rule.results)
    result = dims;
  return rule;
}

static ShardingRule reductionRule(ReductionOpInterface op) {
  ShardingRule rule = ShardingRule::whole(op);
  std::optional<ReduceKind> kind = op.getPartsKind();
  int64_t kept = 0;
  for (auto [dim, extent] : llvm::enumerate(typeOf(op->getOperand(0)).getShape())) {
    DimFactors &factors = rule.operands[0][dim];
    if (!llvm::is_contained(op.getReductionAxes(), int64_t(dim)))
      factors = rule.results[0][kept++] = {rule.addParallel(extent)};
    else if (kind)
      factors = {rule.addReduce(extent, *kind)};
  }
  return rule;
}

// Moves

namespace {

/// For each result dim the operand dims that are that dim, and whether it goes into anything else.
class MovedDims {
public:
  explicit MovedDims(RankedTensorType result) : result(result), fits(result.getRank(), true) {}

  void add(RankedTensorType operand, AffineMap map, Dims &dims) {
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto plain = dyn_cast<AffineDimExpr>(expr);
      if (plain && plain.getPosition() < result.getRank() &&
          operand.getDimSize(dim) == result.getDimSize(plain.getPosition()))
        uses.push_back({&dims[dim], plain.getPosition()});
      else
        exclude(expr);
    }
  }
  void exclude(AffineExpr expr) {
    for (int64_t dim = 0; dim < result.getRank(); ++dim)
      if (expr.isFunctionOfDim(dim))
        fits[dim] = false;
  }
  void finish(ShardingRule &rule) {
    for (int64_t dim = 0; dim < result.getRank(); ++dim) {
      if (!fits[dim])
        continue;
      unsigned factor = rule.addParallel(result.getDimSize(dim));
      rule.results[0][dim] = {factor};
      for (auto [dims, position] : uses)
        if (position == dim)
          *dims = {factor};
    }
  }

private:
  RankedTensorType result;
  SmallVector<bool> fits;
  SmallVector<std::pair<DimFactors *, int64_t>> uses;
};

} // namespace

static ShardingRule movesRule(IndexMapOpInterface op) {
  ShardingRule rule = ShardingRule::whole(op);
  MovedDims moved(typeOf(op->getResult(0)));
  for (const IndexSource &source : op.getIndexSources()) {
    moved.add(typeOf(op->getOperand(source.operand)), source.map, rule.operands[source.operand]);
    for (const IndexBound &bound : source.bounds)
      moved.exclude(bound.expr);
  }
  moved.finish(rule);
  return rule;
}

static ShardingRule indirectRule(IndirectIndexOpInterface op) {
  ShardingRule rule = ShardingRule::whole(op);
  MovedDims moved(typeOf(op->getResult(0)));
  IndirectSource source = op.getIndirectSource();
  moved.add(typeOf(op->getOperand(source.positions)), source.positionMap, rule.operands[source.positions]);
  moved.add(typeOf(op->getOperand(source.operand)), source.map, rule.operands[source.operand]);
  moved.finish(rule);
  return rule;
}

namespace {

/// The common factors of two shapes of the same elements in the same order.
class ReshapeFactors {
public:
  ReshapeFactors(ShardingRule &rule, ArrayRef<int64_t> source, ArrayRef<int64_t> target)
      : rule(rule), source(source), target(target) {}

  /// Dims are taken in runs of equal products; a run without common factors is whole.
  void build() {
    while (s < source.size() || t < target.size()) {
      if (s < source.size() && source[s] == 1) {
        ++s;
        continue;
      }
      if (t < target.size() && target[t] == 1) {
        ++t;
        continue;
      }
      if (!addRun())
        return;
    }
  }

private:
  /// Pairs one factor after the other, from the major side, until both dims end together.
  bool addRun() {
    struct Pair {
      size_t s, t;
      int64_t extent;
    };
    SmallVector<Pair> pairs;
    bool divides = true;
    int64_t left = source[s], right = target[t];
    for (;;) {
      int64_t common = std::min(left, right);
      divides &= left % common == 0 && right % common == 0;
      pairs.push_back({s, t, common});
      if (!divides) // only where the run ends counts now
        return skipRun(left, right);
      left /= common;
      right /= common;
      if (left == 1)
        ++s;
      if (right == 1)
        ++t;
      if (left == 1 && right == 1)
        break;
      if (left == 1)
        left = nextOf(source, s);
      if (right == 1)
        right = nextOf(target, t);
    }
    for (const Pair &pair : pairs) {
      unsigned factor = rule.addParallel(pair.extent);
      rule.operands[0][pair.s].push_back(factor);
      rule.results[0][pair.t].push_back(factor);
    }
    return true;
  }

  /// The next extent that is not 1; there is one, since the products are equal.
  static int64_t nextOf(ArrayRef<int64_t> shape, size_t &at) {
    while (shape[at] == 1)
      ++at;
    return shape[at];
  }

  bool skipRun(int64_t left, int64_t right) {
    while (left != right)
      if (left < right)
        left *= source[++s];
      else
        right *= target[++t];
    ++s;
    ++t;
    return true;
  }

  ShardingRule &rule;
  ArrayRef<int64_t> source, target;
  size_t s = 0, t = 0;
};

} // namespace

static ShardingRule reshapeRule(Operation *op) {
  ShardingRule rule = ShardingRule::whole(op);
  RankedTensorType from = typeOf(op->getOperand(0)), to = typeOf(op->getResult(0));
  if (from.getNumElements() > 0)
    ReshapeFactors(rule, from.getShape(), to.getShape()).build();
  return rule;
}

/// Each member can make its own part of the result from nothing.
static ShardingRule producerRule(Operation *op) {
  ShardingRule rule = ShardingRule::whole(op);
  for (auto [dim, extent] : llvm::enumerate(typeOf(op->getResult(0)).getShape()))
    rule.results[0][dim] = {rule.addParallel(extent)};
  return rule;
}

ShardingRule dlc::dl::derivedShardingRule(Operation *op) {
  if (isa<ScalarBodyOpInterface>(op))
    return pointwiseRule(op);
  if (auto reduction = dyn_cast<ReductionOpInterface>(op))
    return reductionRule(reduction);
  if (auto moves = dyn_cast<IndexMapOpInterface>(op))
    return moves.keepsOrder() ? reshapeRule(op) : movesRule(moves);
  if (auto moves = dyn_cast<IndirectIndexOpInterface>(op))
    return indirectRule(moves);
  if (isa<IndexValuedOpInterface>(op) || matchPattern(op, m_Constant<SplatElementsAttr>(nullptr)))
    return producerRule(op);
  return ShardingRule::whole(op);
}

ShardingRule dlc::dl::shardingRuleOf(Operation *op) {
  if (auto shardable = dyn_cast<ShardableOpInterface>(op))
    return shardable.getShardingRule();
  return derivedShardingRule(op);
}

TypedAttr dlc::dl::neutralValue(ReduceKind kind, Type element) {
  if (auto type = dyn_cast<FloatType>(element)) {
    double infinity = std::numeric_limits<double>::infinity();
    return FloatAttr::get(type, kind == ReduceKind::Sum ? -0.0 : kind == ReduceKind::Max ? -infinity : infinity);
  }
  unsigned width = element.getIntOrFloatBitWidth();
  if (width == 1)
    return IntegerAttr::get(element, kind == ReduceKind::Min);
  APInt value = kind == ReduceKind::Sum   ? APInt::getZero(width)
                : kind == ReduceKind::Max ? APInt::getSignedMinValue(width)
                                          : APInt::getSignedMaxValue(width);
  return IntegerAttr::get(element, value);
}
