#include "kernels/Epilogue.h"

#include "dlc/ir/Cast.h"
#include "dlc/ir/Widen.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

FailureOr<unsigned> codegen::operandNumber(Operation *anchor, unsigned i) {
  Value operand = anchor->getOperand(i);
  if (auto cast = operand.getDefiningOp<dl::CastOp>(); cast && dl::hasNarrowFloats(cast.getX().getType()))
    operand = cast.getX(); // converted as it is read
  if (auto argument = dyn_cast<BlockArgument>(operand))
    return argument.getArgNumber();
  return anchor->emitOpError("expects operand ") << i << " to be an input of its group";
}

bool codegen::yieldsResultsOf(dl::GroupOp group, Operation *anchor) {
  OperandRange yielded = resultsOf(group);
  return yielded.size() == anchor->getNumResults() &&
         llvm::all_of(llvm::zip(yielded, anchor->getResults()), [](auto pair) {
           auto [value, result] = pair;
           auto cast = value.template getDefiningOp<dl::CastOp>();
           return value == result || (cast && cast.getX() == result && dl::hasNarrowFloats(cast.getType()));
         });
}

Epilogue::Epilogue(KernelBuilder &kernel, dl::GroupOp group, Operation *anchor)
    : kernel(kernel), group(group), anchor(anchor) {
  int64_t stride = 1;
  for (int64_t extent : llvm::reverse(shapeOf(anchor->getResult(0)))) {
    axes.insert(axes.begin(), Axis{extent, stride});
    stride *= extent;
  }
}

LogicalResult Epilogue::verify() {
  IndexSpace space(group.getContext());
  Value result = anchor->getResult(0);
  int64_t count = product(shapeOf(result));
  AffineExpr offset = space.simplify(space.addDim(0, count - 1));
  AccessCollector accesses(space);
  accesses.stopAt(result);
  for (Value yielded : resultsOf(group)) {
    if (product(shapeOf(yielded)) != count)
      return group.emitOpError("expects results of as many elements as the anchor's, got ") << yielded.getType();
    if (failed(accesses.visit(yielded, space.delinearize(shapeOf(yielded), offset))))
      return failure();
  }
  for (auto [value, at] : accesses.getGivenReads())
    if (at != offset)
      return anchor->emitOpError("expects its result to be used element by element in its group");
  return success();
}

void Epilogue::store(ArrayRef<Value> index, const Lane &lane, Value value) {
  IndexSpace space(group.getContext());
  ElementScope root(kernel, space), outer(root), lanes(outer, lane);
  AffineExpr offset = space.constant(0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    bool last = i + 1 == axes.size() && lane.width;
    AffineExpr dim = last ? lanes.bindLanes(index[i], axis.extent) : outer.bind(index[i], 0, axis.extent - 1);
    offset = offset + dim * axis.stride;
  }
  store(lanes, space.simplify(offset), value);
}

void Epilogue::store(ElementScope &lanes, AffineExpr offset, Value value) {
  IndexSpace &space = lanes.getSpace();
  Value result = anchor->getResult(0);
  lanes.provide(result, space.delinearize(shapeOf(result), offset), value);
  SmallVector<Value> elements;
  for (Value yielded : resultsOf(group))
    elements.push_back(lanes.element(yielded, space.delinearize(shapeOf(yielded), offset)));
  for (auto [i, element] : llvm::enumerate(elements))
    lanes.store(resultMemory(kernel, group, i), offset, element);
}
