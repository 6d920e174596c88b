#pragma once

#include "FunctionCheck.h"
#include "dlc/runtime/Status.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <string>
#include <vector>

namespace dlc::check {

/// The programs that a file's checks would compile, for a machine without the compiler: one artifact, and one
/// safetensors file of their inputs and of what the reference gives.
///
/// An entry is named as its function, or `<function>.gradient`. Its tensors are `<entry>/argument/<i>` and
/// `<entry>/state/<variable>` in the declared type, `<entry>/result/<i>` and `<entry>/after/<variable>` in f64 or i64;
/// the metadata's `tolerances` is a JSON object of the tolerance of each of the latter, 0 for integers.
class CaseFile {
public:
  void add(Report &report, llvm::StringRef what, const Program &program, llvm::ArrayRef<dl::ReferenceTensor> arguments,
           const dl::ReferenceState &state, const Outcome &expected, double tolerance);

  struct Options {
    std::vector<std::string> targets;
    std::string cpu = "host";
    std::string maker = "generated"; ///< of matrix products and convolutions, as CompileOptions::matMul
  };
  /// Writes <path>.so and <path>.safetensors; nothing without programs.
  Status write(const std::string &path, const Options &options);

private:
  struct Tensor {
    dl::ReferenceTensor value;
    bool isExpected; // kept as the reference has it
  };
  void addExpected(const std::string &name, const dl::ReferenceTensor &value, double tolerance);
  Status writeTensors(const std::string &path);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::map<std::string, Tensor> tensors;
  llvm::json::Object tolerances;
};

} // namespace dlc::check
