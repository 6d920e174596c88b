#pragma once

#include "dlc/ir/Dl.h"
#include "dlc/ir/Reference.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

namespace dlc {

/// A module from text whose functions the reference evaluator runs.
class EvaluatedModule {
public:
  explicit EvaluatedModule(llvm::StringRef text)
      : context(dialects(), mlir::MLIRContext::Threading::DISABLED),
        module(mlir::parseSourceString<mlir::ModuleOp>(text, &context)) {
    EXPECT_TRUE(module);
  }

  template <class... Pass>
  void run(Pass... pass) {
    mlir::PassManager manager(&context);
    (manager.addPass(std::move(pass)), ...);
    ASSERT_TRUE(succeeded(manager.run(*module)));
  }

  /// Results of the module's first function, in state `state`, each argument filled with one number.
  std::vector<dl::ReferenceTensor> call(llvm::ArrayRef<double> fills,
                                        dl::ReferencePrecision precision = dl::ReferencePrecision::Double) {
    mlir::func::FuncOp function = first();
    std::vector<dl::ReferenceTensor> arguments;
    for (auto [type, fill] : llvm::zip_equal(function.getArgumentTypes(), fills)) {
      dl::ReferenceTensor &argument = arguments.emplace_back(mlir::cast<mlir::RankedTensorType>(type));
      std::fill(argument.floats.begin(), argument.floats.end(), fill);
      std::fill(argument.integers.begin(), argument.integers.end(), int64_t(fill));
    }
    auto results = dl::evaluateFunction(function, arguments, state, precision);
    EXPECT_TRUE(succeeded(results));
    return succeeded(results) ? std::vector(results->begin(), results->end()) : std::vector<dl::ReferenceTensor>();
  }

  /// The first element of result `index`.
  double scalar(llvm::ArrayRef<double> fills, size_t index = 0,
                dl::ReferencePrecision precision = dl::ReferencePrecision::Double) {
    return call(fills, precision).at(index).at(0);
  }

  void set(const std::string &variable, mlir::Type element, llvm::ArrayRef<int64_t> shape, double fill) {
    dl::ReferenceTensor value(mlir::RankedTensorType::get(shape, element));
    std::fill(value.floats.begin(), value.floats.end(), fill);
    std::fill(value.integers.begin(), value.integers.end(), int64_t(fill));
    state.insert_or_assign(variable, value);
  }

  mlir::func::FuncOp first() { return *module->getOps<mlir::func::FuncOp>().begin(); }
  mlir::ModuleOp get() { return *module; }
  mlir::MLIRContext &getContext() { return context; }

  dl::ReferenceState state;

private:
  static mlir::DialectRegistry dialects() {
    mlir::DialectRegistry registry;
    registry.insert<dl::DlDialect, mlir::func::FuncDialect>();
    return registry;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace dlc
