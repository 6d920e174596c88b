#include "kernels/ElementScope.h"

#include "dlc/ir/Dl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

ArrayRef<int64_t> codegen::shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

ElementScope::ElementScope(ElementScope &parent, Lane lane)
    : kernel(parent.kernel), space(parent.space), parent(&parent), lane(lane) {
  if (lane.width)
    laneDim = space.addDim(0, lane.width - 1);
}

ElementScope::ElementScope(ElementScope &parent, SameLanes)
    : kernel(parent.kernel), space(parent.space), parent(&parent), lane(parent.lane), laneDim(parent.laneDim),
      laneBases(parent.laneBases) {}

AffineExpr ElementScope::bind(Value value, int64_t lower, int64_t upper) {
  AffineExpr dim = space.addDim(lower, upper);
  dims.emplace_back(dim, value);
  return dim;
}

AffineExpr ElementScope::bindLanes(Value first, int64_t extent) {
  AffineExpr base = bind(first, 0, extent - 1), lanes = space.addDim(0, extent - 1);
  laneBases.emplace_back(lanes, base);
  return lanes;
}

AffineExpr ElementScope::bindEach(Value values, int64_t lower, int64_t upper) {
  SmallVector<AffineExpr> byLane;
  for (int64_t i = 0; i < lane.width; ++i)
    byLane.push_back(bind(vector::ExtractOp::create(getBuilder(), kernel.getLoc(), values, i), lower, upper));
  AffineExpr dim = space.addDim(lower, upper);
  laneDims.emplace_back(dim, std::move(byLane));
  return dim;
}

static bool isFunctionOf(AffineExpr expr, AffineExpr dim) {
  return expr.isFunctionOfDim(cast<AffineDimExpr>(dim).getPosition());
}

bool ElementScope::varies(AffineExpr expr) const {
  bool found = (laneDim && isFunctionOf(expr, laneDim)) ||
               llvm::any_of(laneBases, [&](auto &entry) { return isFunctionOf(expr, entry.first); });
  forEachLaneDim([&](AffineExpr dim, ArrayRef<AffineExpr>) { found = found || isFunctionOf(expr, dim); });
  return found;
}

void ElementScope::forEachLaneDim(llvm::function_ref<void(AffineExpr, ArrayRef<AffineExpr>)> function) const {
  for (const ElementScope *scope = this; scope; scope = scope->parent)
    for (auto &[dim, byLane] : scope->laneDims)
      function(dim, byLane);
}

bool ElementScope::owns(AffineExpr expr) const {
  return varies(expr) || llvm::any_of(dims, [&](auto &dim) { return isFunctionOf(expr, dim.first); });
}

bool ElementScope::dependsOnProvided(Value value) {
  if (!value || given.empty())
    return false;
  if (given.contains(value))
    return true;
  if (auto known = dependent.find(value); known != dependent.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  // A reduction is never computed from elements asked for here: the scope that finished it has its result.
  bool depends = op && !isa<dl::ReductionOpInterface>(op) &&
                 llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOnProvided(operand); });
  return dependent[value] = depends;
}

ElementScope *ElementScope::providerOf(Value value, AffineExpr offset) {
  for (ElementScope *scope = this; scope; scope = scope->parent)
    if (scope->given.contains(value) && (scope->providers.count({value, offset}) || scope->memo.count({value, offset})))
      return scope;
  return nullptr;
}

ElementScope &ElementScope::ownerOf(ArrayRef<AffineExpr> exprs, Value value) {
  ElementScope *scope = this;
  while (scope->parent && llvm::none_of(exprs, [&](AffineExpr expr) { return scope->owns(expr); }) &&
         !scope->dependsOnProvided(value))
    scope = scope->parent;
  return *scope;
}

Value ElementScope::at(llvm::function_ref<Value()> emit) {
  OpBuilder::InsertionGuard guard(getBuilder());
  if (anchor)
    getBuilder().setInsertionPoint(anchor);
  return emit();
}

Value ElementScope::splat(Value scalar) {
  if (!lane.width)
    return scalar;
  auto type = VectorType::get({lane.width}, scalar.getType());
  return vector::BroadcastOp::create(getBuilder(), kernel.getLoc(), type, scalar);
}

void ElementScope::provide(Value value, ArrayRef<AffineExpr> index, Value element) {
  memo[{value, space.linearize(shapeOf(value), index)}].emplace_back(Value(), element);
  given.insert(value);
  dependent.clear();
}

void ElementScope::provide(Value value, ArrayRef<AffineExpr> index, Provider emit) {
  providers[{value, space.linearize(shapeOf(value), index)}] = std::move(emit);
  given.insert(value);
  dependent.clear();
}

template <typename T>
static const T *lookupGuarded(ArrayRef<std::pair<Value, T>> entries, Value guard) {
  for (auto &[known, element] : entries)
    if (!known || known == guard)
      return &element;
  return nullptr;
}

static bool insideTensor(const IndexSpace &space, Value value, ArrayRef<AffineExpr> index) {
  return llvm::all_of(llvm::zip(shapeOf(value), index), [&](auto pair) {
    auto [extent, expr] = pair;
    return space.contains(expr, 0, extent);
  });
}

Value ElementScope::element(Value value, ArrayRef<AffineExpr> index, Value guard) {
  if (guard && insideTensor(space, value, index))
    guard = {};
  AffineExpr offset = space.linearize(shapeOf(value), index);
  if (auto entry = memo.find({value, offset}); entry != memo.end())
    if (const Value *element = lookupGuarded<Value>(entry->second, guard))
      return *element;
  Value result;
  ElementScope *provider = providerOf(value, offset);
  ElementScope &owner = provider ? *provider : ownerOf(index, value);
  if (provider)
    guard = {};
  if (!guard && &owner != this) {
    Value scalar = owner.element(value, index);
    result = owner.lane.width ? scalar : at([&] { return splat(scalar); });
  } else {
    result = at([&] { return compute(value, index, offset, guard); });
  }
  memo[{value, offset}].emplace_back(guard, result);
  return result;
}

static DenseElementsAttr constantOf(Operation *op) {
  Attribute attribute;
  if (!matchPattern(op, m_Constant(&attribute)))
    return {};
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData());
  return dyn_cast<DenseElementsAttr>(attribute);
}

Value ElementScope::compute(Value value, ArrayRef<AffineExpr> index, AffineExpr offset, Value guard) {
  if (auto provider = providers.find({value, offset}); provider != providers.end())
    return provider->second(*this);

  Type element = elementOf(value);
  int64_t count = cast<RankedTensorType>(value.getType()).getNumElements();
  if (auto argument = dyn_cast<BlockArgument>(value))
    return load(kernel.operand(argument.getArgNumber(), element), count, offset, guard);

  Operation *op = value.getDefiningOp();
  dl::ScalarBuilder scalar(getBuilder(), kernel.getLoc(), lane.width);
  if (DenseElementsAttr data = constantOf(op)) {
    if (!data.isSplat())
      return load(kernel.constantData(data), count, offset, guard);
    return isa<FloatType>(element) ? scalar.constant(data.getSplatValue<APFloat>().convertToDouble(), element)
                                   : scalar.constant(data.getSplatValue<APInt>().getSExtValue(), element);
  }
  if (auto body = dyn_cast<dl::ScalarBodyOpInterface>(op)) {
    SmallVector<Value> arguments;
    for (Value operand : op->getOperands())
      arguments.push_back(this->element(operand, index, guard));
    return body.emitScalar(scalar, arguments);
  }
  if (isa<dl::IndexMapOpInterface>(op))
    return computeSources(op, index, guard);
  if (isa<dl::IndirectIndexOpInterface>(op))
    return computeIndirect(op, index, guard);
  auto valued = cast<dl::IndexValuedOpInterface>(op);
  return scalar.cast(indexVector(space.simplify(valued.getIndexValue().replaceDims(index))), element);
}

std::optional<bool> ElementScope::holds(ArrayRef<dl::IndexBound> bounds, ArrayRef<AffineExpr> index, Value &condition) {
  dl::ScalarBuilder scalar(getBuilder(), kernel.getLoc(), lane.width);
  for (const dl::IndexBound &bound : bounds) {
    AffineExpr expr = space.simplify(bound.expr.replaceDims(index));
    auto [low, high] = space.range(expr);
    if (low >= bound.upper || high < bound.lower)
      return false;
    auto add = [&](Value one) { condition = condition ? scalar.bitAnd(condition, one) : one; };
    Type i64 = getBuilder().getI64Type();
    if (low < bound.lower)
      add(scalar.ge(indexVector(expr), scalar.constant(bound.lower, i64)));
    if (high >= bound.upper)
      add(scalar.lt(indexVector(expr), scalar.constant(bound.upper, i64)));
  }
  if (!condition)
    return true;
  return std::nullopt;
}

Value ElementScope::computeSources(Operation *op, ArrayRef<AffineExpr> index, Value guard) {
  dl::ScalarBuilder scalar(getBuilder(), kernel.getLoc(), lane.width);
  SmallVector<std::pair<Value, Value>> choices; // condition, element; the last without a condition
  for (const dl::IndexSource &source : cast<dl::IndexMapOpInterface>(op).getIndexSources()) {
    Value condition, operand = op->getOperand(source.operand);
    std::optional<bool> always = holds(source.bounds, index, condition);
    if (always && !*always)
      continue;
    Value live = guard;
    if (condition)
      live = guard ? scalar.bitAnd(guard, condition) : condition;
    choices.emplace_back(condition, element(operand, space.compose(source.map, index), live));
    if (always)
      break;
    Value otherwise = scalar.bitXor(condition, scalar.boolean(true));
    guard = guard ? scalar.bitAnd(guard, otherwise) : otherwise;
  }
  Value result = choices.back().second;
  for (auto [condition, chosen] : llvm::reverse(ArrayRef(choices).drop_back()))
    result = scalar.select(condition, chosen, result);
  return result;
}

// The position is clamped, so that nothing outside is read, and where that changed it the element replaced.
Value ElementScope::computeIndirect(Operation *op, ArrayRef<AffineExpr> index, Value guard) {
  dl::IndirectSource source = cast<dl::IndirectIndexOpInterface>(op).getIndirectSource();
  dl::ScalarBuilder scalar(getBuilder(), kernel.getLoc(), lane.width);
  Type type = elementOf(op->getResult(0));
  Value outside = isa<FloatType>(type) ? scalar.constant(std::numeric_limits<double>::quiet_NaN(), type)
                                       : scalar.constant(int64_t(0), type);
  if (!source.extent)
    return outside;
  Position at =
      position(op->getOperand(source.positions), space.compose(source.positionMap, index), source.extent, guard);
  SmallVector<AffineExpr> extended(index);
  extended.push_back(at.dim);
  Value found = element(op->getOperand(source.operand), space.compose(source.map, extended), guard);
  Value inside = at.scope->lane.width ? at.inside : splat(at.inside);
  return scalar.select(inside, found, outside);
}

ElementScope::Position ElementScope::position(Value table, ArrayRef<AffineExpr> index, int64_t extent, Value guard) {
  if (guard && insideTensor(space, table, index))
    guard = {};
  AffineExpr offset = space.linearize(shapeOf(table), index);
  auto remember = [&](const Position &result) {
    positions[{table, offset, extent}].emplace_back(guard, result);
    return result;
  };
  if (auto known = positions.find({table, offset, extent}); known != positions.end())
    if (const Position *found = lookupGuarded<Position>(known->second, guard))
      return *found;
  ElementScope *provider = providerOf(table, offset);
  ElementScope &owner = provider ? *provider : ownerOf(index, table);
  if (!guard && &owner != this)
    return remember(owner.position(table, index, extent, {}));
  Value read = element(table, index, guard);
  dl::ScalarBuilder scalar(getBuilder(), kernel.getLoc(), lane.width);
  Position result{{}, {}, this};
  at([&]() -> Value {
    Type i64 = getBuilder().getI64Type();
    Value value = scalar.cast(read, i64), zero = scalar.constant(int64_t(0), i64);
    result.inside = scalar.bitAnd(scalar.ge(value, zero), scalar.lt(value, scalar.constant(extent, i64)));
    value = scalar.minimum(scalar.maximum(value, zero), scalar.constant(extent - 1, i64));
    if (lane.width && varies(offset)) {
      result.dim = bindEach(value, 0, extent - 1);
      return {};
    }
    if (lane.width) // the same in all lanes
      value = vector::ExtractOp::create(getBuilder(), kernel.getLoc(), value, 0);
    result.dim = bind(value, 0, extent - 1);
    return {};
  });
  return remember(result);
}

Value ElementScope::i64(int64_t value) {
  return arith::ConstantOp::create(getBuilder(), kernel.getLoc(), getBuilder().getI64IntegerAttr(value));
}

AffineExpr ElementScope::atLane(AffineExpr expr, int64_t number) {
  llvm::DenseMap<AffineExpr, AffineExpr> values = {{laneDim, space.constant(number)}};
  for (auto [lanes, base] : laneBases)
    values[lanes] = base + number;
  forEachLaneDim([&](AffineExpr dim, ArrayRef<AffineExpr> byLane) { values[dim] = byLane[number]; });
  return space.simplify(expr.replace(values));
}

std::optional<int64_t> ElementScope::laneStride(AffineExpr expr) const {
  int64_t stride = 0;
  if (!laneDim)
    return stride;
  for (auto [term, coefficient] : space.linearForm(expr).terms) {
    if (term == laneDim || llvm::any_of(laneBases, [&](auto &entry) { return entry.first == term; }))
      stride += coefficient;
    else if (varies(term))
      return std::nullopt;
  }
  return stride;
}

// Guarded offsets may lie outside of the memory; what is read there is never used.
Value ElementScope::clamp(Value offset, int64_t count) {
  Value low = arith::MaxSIOp::create(getBuilder(), kernel.getLoc(), offset, i64(0));
  return arith::MinSIOp::create(getBuilder(), kernel.getLoc(), low, i64(count - 1));
}

Memory ElementScope::withDivisor(Memory memory, AffineExpr offset) {
  AffineExpr first = varies(offset) ? atLane(offset, 0) : offset;
  // 0 is a multiple of anything.
  memory.divisor = first == space.constant(0) ? 64 : first.getLargestKnownDivisor();
  return memory;
}

Value ElementScope::load(const Memory &memory, int64_t count, AffineExpr offset, Value guard) {
  OpBuilder &b = getBuilder();
  dl::ScalarBuilder scalar(b, kernel.getLoc(), lane.width);
  if (!count)
    return scalar.constant(int64_t(0), memory.element);
  std::optional<int64_t> stride = laneStride(offset);
  Value mask = lane.mask && guard ? scalar.bitAnd(lane.mask, guard) : lane.mask ? lane.mask : guard;
  if (stride && (*stride == 0 || !lane.width)) {
    Value at = index(offset);
    return kernel.load(memory, guard ? clamp(at, count) : at, 0, lane);
  }
  if (stride && (*stride == 1 || (*stride == 2 && lane.width % 2 == 0) || !mask))
    return kernel.load(withDivisor(memory, offset), index(offset), *stride, Lane{lane.width, mask});
  SmallVector<Value> elements;
  for (int64_t i = 0; i < lane.width; ++i) {
    Value at = index(atLane(offset, i));
    elements.push_back(kernel.load(memory, mask ? clamp(at, count) : at, 0, Lane{}));
  }
  auto type = VectorType::get({lane.width}, elements[0].getType());
  return vector::FromElementsOp::create(b, kernel.getLoc(), type, elements);
}

void ElementScope::store(const Memory &memory, AffineExpr offset, Value value) {
  kernel.store(withDivisor(memory, offset), index(offset), lane, value);
}

Value ElementScope::index(AffineExpr expr) {
  if (varies(expr))
    expr = atLane(expr, 0);
  ElementScope &owner = ownerOf(expr);
  if (&owner != this)
    return owner.index(expr);
  if (Value known = indices.lookup(expr))
    return known;
  Value sum = at([&]() -> Value {
    LinearForm form = space.linearForm(expr);
    AffineExpr outer = space.constant(form.constant);
    SmallVector<std::pair<AffineExpr, int64_t>> own;
    for (auto [term, coefficient] : form.terms) {
      if (parent && !owns(term))
        outer = outer + term * coefficient;
      else
        own.emplace_back(term, coefficient);
    }
    Value total;
    if (parent && outer != space.constant(0))
      total = parent->index(outer);
    else if (own.empty() || (!parent && form.constant))
      total = i64(form.constant);
    for (auto [each, coefficient] : own) {
      Value value = term(each);
      if (coefficient != 1)
        value = arith::MulIOp::create(getBuilder(), kernel.getLoc(), value, i64(coefficient));
      total = total ? Value(arith::AddIOp::create(getBuilder(), kernel.getLoc(), total, value)) : value;
    }
    return total;
  });
  return indices[expr] = sum;
}

// A dim, or a floordiv or mod by a positive constant, with floor semantics for negative dividends.
Value ElementScope::term(AffineExpr expr) {
  for (auto [dim, value] : dims)
    if (dim == expr)
      return value;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  OpBuilder &b = getBuilder();
  Location loc = kernel.getLoc();
  Value dividend = index(binary.getLHS());
  int64_t divisor = cast<AffineConstantExpr>(binary.getRHS()).getValue();
  bool quotient = expr.getKind() == AffineExprKind::FloorDiv;
  if (llvm::isPowerOf2_64(divisor)) {
    if (quotient)
      return arith::ShRSIOp::create(b, loc, dividend, i64(llvm::Log2_64(divisor)));
    return arith::AndIOp::create(b, loc, dividend, i64(divisor - 1));
  }
  if (space.range(binary.getLHS()).first >= 0)
    return quotient ? Value(arith::DivUIOp::create(b, loc, dividend, i64(divisor)))
                    : Value(arith::RemUIOp::create(b, loc, dividend, i64(divisor)));
  Value rest = arith::RemSIOp::create(b, loc, dividend, i64(divisor));
  Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, rest, i64(0));
  if (!quotient)
    return arith::SelectOp::create(b, loc, negative, arith::AddIOp::create(b, loc, rest, i64(divisor)), rest);
  Value whole = arith::DivSIOp::create(b, loc, dividend, i64(divisor));
  return arith::SelectOp::create(b, loc, negative, arith::SubIOp::create(b, loc, whole, i64(1)), whole);
}

Value ElementScope::indexVector(AffineExpr expr) {
  if (!lane.width)
    return index(expr);
  if (Value known = vectors.lookup(expr))
    return known;
  OpBuilder &b = getBuilder();
  Value result = at([&]() -> Value {
    auto type = VectorType::get({lane.width}, b.getI64Type());
    std::optional<int64_t> stride = laneStride(expr);
    SmallVector<Value> elements;
    if (!stride) {
      for (int64_t i = 0; i < lane.width; ++i)
        elements.push_back(index(atLane(expr, i)));
      return vector::FromElementsOp::create(b, kernel.getLoc(), type, elements);
    }
    Value first = splat(index(expr));
    if (!*stride)
      return first;
    SmallVector<int64_t> steps;
    for (int64_t i = 0; i < lane.width; ++i)
      steps.push_back(i * *stride);
    Value step = arith::ConstantOp::create(b, kernel.getLoc(), DenseElementsAttr::get(type, ArrayRef(steps)));
    return arith::AddIOp::create(b, kernel.getLoc(), first, step);
  });
  return vectors[expr] = result;
}
