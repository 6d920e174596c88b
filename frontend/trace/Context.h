#pragma once

#include "dlc/runtime/Status.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "trace/Program.h"

#include <mutex>

namespace dlc::trace {

/// The front end's MLIR context with the dialects loaded; hold `lock` while using it.
struct Context {
  mlir::MLIRContext mlir;
  std::recursive_mutex lock;
  Context();
};
Context &context();

mlir::Type elementType(mlir::MLIRContext *context, DType dtype);
mlir::RankedTensorType convert(mlir::MLIRContext *context, TypeRef type);
TypeRef convert(mlir::Type type);
/// The dictionary; a parse fault is an internal error of the front end.
StatusOr<mlir::DictionaryAttr> convert(mlir::MLIRContext *context, AttributesRef attributes);

} // namespace dlc::trace
