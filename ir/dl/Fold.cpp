#include "dlc/ir/Dl.h"
#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

static constexpr int64_t kMaxFoldedElements = 1024;

// Elementwise, so one element stands for a splat of any size.
static FailureOr<ReferenceTensor> toOperand(ElementsAttr value, bool asScalar) {
  if (!asScalar)
    return ReferenceTensor::fromElements(value);
  auto scalar = RankedTensorType::get({}, value.getElementType());
  return ReferenceTensor::fromElements(cast<DenseElementsAttr>(value).resizeSplat(scalar));
}

OpFoldResult dlc::dl::foldByReference(Operation *op, ArrayRef<Attribute> operands) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  const ReferenceRegistry::Function *function = referenceRegistry().lookup(op->getName().getStringRef());
  if (!function || !type || !type.hasStaticShape() || type.getNumElements() == 0 ||
      !llvm::all_of(operands, llvm::IsaAndPresentPred<ElementsAttr>))
    return {};
  bool asScalar = llvm::all_of(operands, llvm::IsaPred<SplatElementsAttr>);
  if (!asScalar && type.getNumElements() > kMaxFoldedElements)
    return {};
  SmallVector<ReferenceTensor> values;
  for (Attribute operand : operands) {
    FailureOr<ReferenceTensor> value = toOperand(cast<ElementsAttr>(operand), asScalar);
    if (failed(value))
      return {};
    values.push_back(std::move(*value));
  }
  ReferenceTensor result(asScalar ? RankedTensorType::get({}, type.getElementType()) : type);
  if (failed((*function)(op, values, result, {ReferencePrecision::Declared})))
    return {};
  result.wrapIntegers();
  DenseElementsAttr folded = result.toElements();
  return asScalar ? folded.resizeSplat(type) : folded;
}
