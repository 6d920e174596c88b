#include "dlc/ir/Reference.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "reference/Registry.h"
#include "llvm/ADT/APFloat.h"

#include <cstring>

using namespace mlir;
using namespace dlc::dl;

ReferenceTensor::ReferenceTensor(RankedTensorType type) : type(type) {
  size_t count = size_t(type.getNumElements());
  if (isFloat())
    floats.resize(count);
  else
    integers.resize(count);
}

static double toDouble(APFloat value) {
  bool loses = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

template <class T>
static void copyBytes(ArrayRef<char> bytes, auto &elements) {
  for (size_t i = 0; i < elements.size(); ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    elements[i] = element;
  }
}

static LogicalResult fillFromResource(ReferenceTensor &tensor, DenseResourceElementsAttr resource) {
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  unsigned bytes = (tensor.type.getElementTypeBitWidth() + 7) / 8;
  if (!blob || blob->getData().size() != size_t(tensor.size()) * bytes)
    return failure();
  ArrayRef<char> data = blob->getData();
  if (auto type = dyn_cast<FloatType>(tensor.type.getElementType()); type && bytes == 2) {
    copyBytes<uint16_t>(data, tensor.floats);
    for (double &value : tensor.floats)
      value = toDouble(APFloat(type.getFloatSemantics(), APInt(16, uint64_t(value))));
  } else if (tensor.isFloat() && bytes == 8)
    copyBytes<double>(data, tensor.floats);
  else if (tensor.isFloat())
    copyBytes<float>(data, tensor.floats);
  else if (bytes == 8)
    copyBytes<int64_t>(data, tensor.integers);
  else if (bytes == 4)
    copyBytes<int32_t>(data, tensor.integers);
  else
    copyBytes<int8_t>(data, tensor.integers);
  return success();
}

FailureOr<ReferenceTensor> ReferenceTensor::fromElements(ElementsAttr elements) {
  ReferenceTensor tensor(cast<RankedTensorType>(elements.getShapedType()));
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    if (failed(fillFromResource(tensor, resource)))
      return failure();
  } else if (tensor.isFloat()) {
    for (auto [i, value] : llvm::enumerate(elements.getValues<APFloat>()))
      tensor.floats[i] = toDouble(value);
  } else {
    for (auto [i, value] : llvm::enumerate(elements.getValues<APInt>()))
      tensor.integers[i] = value.getSExtValue();
    tensor.wrapIntegers();
  }
  return tensor;
}

DenseElementsAttr ReferenceTensor::toElements() const {
  if (auto element = dyn_cast<FloatType>(type.getElementType())) {
    SmallVector<APFloat> values;
    for (double value : floats) {
      bool loses = false;
      values.emplace_back(value).convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
    }
    return DenseElementsAttr::get(type, values);
  }
  unsigned width = type.getElementTypeBitWidth();
  SmallVector<APInt> values;
  for (int64_t value : integers)
    values.emplace_back(width, uint64_t(value), /*isSigned=*/true, /*implicitTrunc=*/true);
  return DenseElementsAttr::get(type, values);
}

void ReferenceTensor::roundFloats() {
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element || element.isF64())
    return;
  for (double &value : floats)
    if (element.isF32()) {
      value = float(value);
    } else {
      APFloat rounded(value);
      bool loses = false;
      rounded.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
      value = toDouble(rounded);
    }
}

void ReferenceTensor::wrapIntegers() {
  unsigned width = isFloat() ? 64 : type.getElementTypeBitWidth();
  for (int64_t &value : integers)
    value = width == 1 ? value & 1 : int64_t(uint64_t(value) << (64 - width)) >> (64 - width);
}

SmallVector<int64_t> dlc::dl::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t dim = int64_t(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  return strides;
}

void dlc::dl::forEachIndex(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<int64_t>, int64_t)> function) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0;; ++i) {
    function(index, i);
    int64_t dim = int64_t(shape.size()) - 1;
    while (dim >= 0 && ++index[dim] == shape[dim])
      index[dim--] = 0;
    if (dim < 0)
      return;
  }
}

static ReferenceRegistry makeRegistry() {
  ReferenceRegistry registry;
#define DLC_FAMILY(Name) registerReference##Name(registry);
#include "dlc/ir/Families.inc"
#undef DLC_FAMILY
  return registry;
}

const ReferenceRegistry &dlc::dl::referenceRegistry() {
  static const ReferenceRegistry registry = makeRegistry();
  return registry;
}

FailureOr<SmallVector<ReferenceTensor>> dlc::dl::evaluate(Operation *op, ArrayRef<ReferenceTensor> operands,
                                                          ReferenceContext context) {
  const ReferenceRegistry::Function *function = referenceRegistry().lookup(op->getName().getStringRef());
  if (!function)
    return op->emitOpError("expects an op with a reference value, got one without");
  SmallVector<ReferenceTensor> results;
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return op->emitOpError("expects static tensor results to evaluate, got ") << type;
    results.emplace_back(tensor);
  }
  if (failed((*function)(op, operands, results, context)))
    return failure();
  for (ReferenceTensor &result : results) {
    result.wrapIntegers();
    if (context.precision == ReferencePrecision::Declared)
      result.roundFloats();
  }
  return results;
}

FailureOr<SmallVector<ReferenceTensor>> dlc::dl::evaluateBlock(Block &block, ArrayRef<ReferenceTensor> arguments,
                                                               ReferenceContext context) {
  DenseMap<Value, ReferenceTensor> values;
  for (auto [value, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    values.try_emplace(value, tensor);
  for (Operation &op : block) {
    SmallVector<ReferenceTensor> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.at(operand));
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    FailureOr<SmallVector<ReferenceTensor>> results = evaluate(&op, operands, context);
    if (failed(results))
      return failure();
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *results))
      values.try_emplace(value, std::move(tensor));
  }
  return block.getParentOp()->emitOpError("expects a terminated block to evaluate");
}

FailureOr<SmallVector<ReferenceTensor>> dlc::dl::evaluateFunction(func::FuncOp function,
                                                                  ArrayRef<ReferenceTensor> arguments,
                                                                  ReferenceState &state, ReferencePrecision precision) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expects one block to evaluate");
  if (function.getNumArguments() != arguments.size())
    return function.emitOpError("expects ") << function.getNumArguments() << " arguments, got " << arguments.size();
  return evaluateBlock(function.getBody().front(), arguments, {precision, &state});
}
