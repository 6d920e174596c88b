#include "dlc/ir/Constant.h"

#include "dlc/ir/Storage.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace dlc::dl;

#define GET_OP_CLASSES
#include "dlc/ir/Constant.cpp.inc"

void DlDialect::addConstantOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Constant.cpp.inc"
      >();
}

LogicalResult dlc::dl::verifyElements(Operation *op, ElementsAttr elements) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  if (!resource)
    return success();
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  int64_t expected = getStorageBytes(resource.getType()), found = blob ? int64_t(blob->getData().size()) : 0;
  if (!blob || expected != found)
    return op->emitOpError("expects ") << expected << " bytes of resource '" << resource.getRawHandle().getKey()
                                       << "', got " << found;
  return success();
}

LogicalResult ConstantOp::verify() { return verifyElements(*this, getValue()); }

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

Value ConstantOp::createSplat(OpBuilder &builder, Location location, RankedTensorType type, double value) {
  Type element = type.getElementType();
  Attribute splat = isa<FloatType>(element) ? Attribute(builder.getFloatAttr(element, value))
                                            : Attribute(builder.getIntegerAttr(element, int64_t(value)));
  return ConstantOp::create(builder, location, DenseElementsAttr::get(type, splat));
}

Operation *DlDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  return elements && elements.getShapedType() == type ? ConstantOp::create(builder, location, elements) : nullptr;
}

// Only a splat is ever split.
void ConstantOp::partitionLocal(PartitionBuilder &) {
  if (auto splat = dyn_cast<SplatElementsAttr>(getValue()))
    setValueAttr(splat.resizeSplat(getType()));
}
