#pragma once

#include "mlir/Parser/Parser.h"
#include "targets/cpu/Jit.h"
#include "targets/cpu/Lower.h"
#include "targets/cpu/Object.h"
#include "gtest/gtest.h"

/// Compiles text of kernels for this machine and loads it; a failure fails the test.
inline std::optional<dlc::codegen::JitCode> jitKernel(const std::string &text, const dlc::codegen::CpuTarget &target) {
  mlir::DialectRegistry registry;
  dlc::codegen::registerCpuDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "no module: " << text;
    return std::nullopt;
  }
  dlc::StatusOr<std::string> object = dlc::codegen::compileToObject(*module, target);
  if (!object.ok()) {
    ADD_FAILURE() << object.status().message();
    return std::nullopt;
  }
  auto code = dlc::codegen::JitCode::load(*object);
  if (!code.ok()) {
    ADD_FAILURE() << code.status().message();
    return std::nullopt;
  }
  return code.take();
}

inline std::optional<dlc::codegen::JitCode> jitKernel(const std::string &text) {
  return jitKernel(text, *dlc::codegen::CpuTarget::host());
}

template <typename Function>
Function symbol(const dlc::codegen::JitCode &code, llvm::StringRef name) {
  auto address = code.lookup(name);
  if (!address.ok())
    ADD_FAILURE() << address.status().message();
  return address.ok() ? reinterpret_cast<Function>(*address) : nullptr;
}
