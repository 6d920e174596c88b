#include "dlc/ir/Constant.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

static LogicalResult constant(ConstantOp op, ReferenceOperands, ReferenceResults results, ReferenceContext) {
  FailureOr<ReferenceTensor> value = ReferenceTensor::fromElements(op.getValue());
  if (failed(value))
    return op.emitOpError("expects its data to be present, got an unresolved resource");
  results[0] = std::move(*value);
  return success();
}

void dlc::dl::registerReferenceConstant(ReferenceRegistry &registry) { registry.addWithContext<ConstantOp>(constant); }
