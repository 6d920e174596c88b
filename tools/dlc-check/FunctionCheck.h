#pragma once

#include "Comparison.h"
#include "dlc/ir/Reference.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dlc::check {

/// What a function computes from given arguments and state.
struct Outcome {
  llvm::SmallVector<dl::ReferenceTensor> results;
  dl::ReferenceState state; // after the call
};

/// A function alone in a copy of its module, brought to a form by passes.
class Program {
public:
  enum class Form { AsWritten, Expanded, Primitive };

  /// Expanded: gradients replaced. Primitive: composites too, and simplified. Emits errors.
  static mlir::FailureOr<Program> make(mlir::func::FuncOp function, Form form);

  mlir::func::FuncOp function() const;
  mlir::ModuleOp module() const { return *owner; }
  /// In double.
  mlir::FailureOr<Outcome> run(llvm::ArrayRef<dl::ReferenceTensor> arguments, const dl::ReferenceState &state) const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> owner;
};

/// The tolerance an attribute of the function gives, or the default.
double toleranceOf(mlir::func::FuncOp function, llvm::StringRef attribute, double otherwise);

class CaseFile;

struct CheckOptions {
  uint64_t seed = 1;
  bool compiled = false;               // also compile for the cpu, run and compare
  bool sim = false;                    // likewise for the simulated device
  bool libraries = false;              // likewise for cuda:0, calling libraries where they have a call
  std::string cpu = "host";            // as CompileOptions::cpu
  std::vector<std::string> allow = {}; // as CompileOptions::allow
  std::string mesh = {};               // also on the members of a mesh, as "data=3"
  int64_t splitDim = 0;                // the dim of arguments that is split then, or their last one
  bool isRetyped = false;              // of other floats than as written: only what is compiled is compared
  CaseFile *cases = nullptr;           // what would be compiled and compared is written there instead
};

/// Value, decomposition, expected values, gradients; false if any is wrong, after telling what.
bool checkFunction(mlir::func::FuncOp function, const CheckOptions &options);

} // namespace dlc::check
