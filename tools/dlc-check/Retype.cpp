#include "Retype.h"

#include "dlc/ir/Cast.h"
#include "dlc/ir/Reference.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace dlc;

static APFloat rounded(APFloat value, FloatType to) {
  bool loses = false;
  value.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
  return value;
}

/// Results whose type is not that of the operands (statistics that stay f32) are cast to what their readers expect.
static void inferAgain(InferTypeOpInterface op) {
  SmallVector<Type> types;
  if (failed(op.inferReturnTypes(op.getContext(), op.getLoc(), op->getOperands(), op->getRawDictionaryAttrs(),
                                 op->getPropertiesStorage(), op->getRegions(), types)))
    return; // verification says why
  OpBuilder builder(op.getContext());
  builder.setInsertionPointAfter(op);
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types)) {
    Type expected = result.getType();
    if (type == expected)
      continue;
    result.setType(type);
    auto cast = dl::CastOp::create(builder, op.getLoc(), expected, result);
    result.replaceAllUsesExcept(cast, cast);
  }
}

LogicalResult dlc::check::retype(ModuleOp module, StringRef element) {
  auto to = dyn_cast_or_null<FloatType>(parseType(element, module.getContext()));
  if (!to || to.getWidth() != 16)
    return module.emitError("expects f16 or bf16 for the elements, got ") << element;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Float32Type) -> Type { return to; });
  replacer.addReplacement([&](FloatAttr number) -> std::optional<std::pair<Attribute, WalkResult>> {
    if (!number.getType().isF32())
      return std::nullopt;
    return std::pair(Attribute(FloatAttr::get(to, rounded(number.getValue(), to))), WalkResult::skip());
  });
  replacer.addReplacement([&](DenseElementsAttr numbers) -> std::optional<std::pair<Attribute, WalkResult>> {
    if (!numbers.getElementType().isF32())
      return std::nullopt;
    auto round = [&](const APFloat &value) { return rounded(value, to).bitcastToAPInt(); };
    return std::pair(Attribute(numbers.mapValues(to, round)), WalkResult::skip());
  });
  replacer.addReplacement([&](DenseResourceElementsAttr numbers) -> std::optional<std::pair<Attribute, WalkResult>> {
    FailureOr<dl::ReferenceTensor> values = dl::ReferenceTensor::fromElements(numbers);
    if (!numbers.getElementType().isF32() || failed(values))
      return std::nullopt;
    values->type = values->type.clone(to);
    return std::pair(Attribute(values->toElements()), WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  module.walk([](InferTypeOpInterface op) { inferAgain(op); });
  return verify(module);
}

bool dlc::check::mentions(func::FuncOp function, StringRef element) {
  Type wanted = parseType(element, function.getContext());
  auto has = [&](Type type) { return getElementTypeOrSelf(type) == wanted; };
  return function
      .walk([&](Operation *op) {
        bool found = llvm::any_of(op->getOperandTypes(), has) || llvm::any_of(op->getResultTypes(), has);
        for (Region &region : op->getRegions())
          for (Block &block : region)
            found = found || llvm::any_of(block.getArgumentTypes(), has);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
