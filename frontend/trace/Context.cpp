#include "trace/Context.h"

#include "dlc/codegen/CompileModule.h"
#include "dlc/ir/Dl.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace dlc::trace {

namespace {
DialectRegistry dialects() {
  DialectRegistry registry;
  codegen::registerDialects(registry);
  return registry;
}
} // namespace

Context::Context() : mlir(dialects(), MLIRContext::Threading::DISABLED) {
  mlir.loadDialect<dl::DlDialect, func::FuncDialect>();
  mlir.printOpOnDiagnostic(false); // users know their own text, not this
}

Context &context() {
  static Context *instance = new Context; // never destroyed: cached code may outlive static destruction order
  return *instance;
}

Type elementType(MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::F64:
    return Float64Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  default:
    return IntegerType::get(context, dtype == DType::I1 ? 1 : static_cast<unsigned>(8 * byteSize(dtype)));
  }
}

RankedTensorType convert(MLIRContext *context, TypeRef type) {
  return RankedTensorType::get(type->shape, elementType(context, type->dtype));
}

TypeRef convert(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  std::string spelling;
  llvm::raw_string_ostream(spelling) << tensor.getElementType();
  return internType(*dtypeFromName(spelling), std::span<const int64_t>(tensor.getShape().data(), tensor.getRank()));
}

StatusOr<DictionaryAttr> convert(MLIRContext *context, AttributesRef attributes) {
  if (attributes->empty())
    return DictionaryAttr::get(context);
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(parseAttribute("{" + *attributes + "}", context));
  if (!dictionary)
    return Status(StatusCode::Internal, "attributes {" + *attributes + "} do not parse");
  return dictionary;
}

} // namespace dlc::trace
