#pragma once

#include "dlc/ir/DlAttrs.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

#define GET_OP_CLASSES
#include "dlc/ir/Collective.h.inc"

namespace dlc::dl {

/// Checks a sharding against a type and the module's mesh; the error is the op's.
llvm::LogicalResult verifySharding(mlir::Operation *op, mlir::RankedTensorType type, ShardingAttr sharding);

} // namespace dlc::dl
