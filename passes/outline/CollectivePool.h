#pragma once

#include "dlc/ir/Rt.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace dlc::passes {

/// The rt.collective ops of a module, in the order of their starts.
class CollectivePool {
public:
  explicit CollectivePool(mlir::ModuleOp module) : symbols(module) {}

  /// One for a planned group of kind collective, in front of the program that starts it.
  mlir::FlatSymbolRefAttr add(dl::GroupOp group, rt::ProgramOp program);

  /// The bytes from the first value's slot to the end of the last one's.
  static dl::SlotAttr wholeOf(mlir::ValueRange values);

  /// The program keeps, as `argument_shardings` and `result_shardings`, of which whole its values are parts.
  static void keepShardings(mlir::func::FuncOp function, rt::ProgramOp program);

private:
  mlir::SymbolTable symbols;
  unsigned count = 0;
};

} // namespace dlc::passes
