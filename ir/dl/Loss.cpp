#include "dlc/ir/Loss.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Loss.cpp.inc"

void DlDialect::addLossOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Loss.cpp.inc"
      >();
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType logits = typeOf(adaptor.getLogits()), target = typeOf(adaptor.getTarget());
  if (logits.getRank() != 2)
    return emitOptionalError(location, "expects logits of rank 2 (rows, classes), got ", logits);
  if (target.getShape() != logits.getShape().take_front())
    return emitOptionalError(location, "expects one target a row of ", logits, ", got ", target);
  if (logits.getDimSize(1) < 1)
    return emitOptionalError(location, "expects at least one class, got ", logits);
  double smoothing = adaptor.getLabelSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing <= 1))
    return emitOptionalError(location, "expects label_smoothing in [0, 1], got ", smoothing);
  bool rows = adaptor.getReduction() == LossReduction::None;
  types.push_back(logits.clone(rows ? target.getShape() : ArrayRef<int64_t>()));
  return success();
}

LogicalResult MseOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(adaptor.getX());
  types.push_back(adaptor.getReduction() == LossReduction::None ? type : type.clone(ArrayRef<int64_t>()));
  return success();
}
