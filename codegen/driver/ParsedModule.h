#pragma once

#include "dlc/codegen/CompileModule.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <string>

namespace dlc::codegen {

/// "file:line:column: ", or nothing.
inline std::string placeText(mlir::Location location) {
  auto file = location->findInstanceOf<mlir::FileLineColLoc>();
  if (!file)
    return {};
  return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn()) +
         ": ";
}

/// Collects what goes wrong as `file:line:column: error: text` lines.
class DiagnosticText {
public:
  explicit DiagnosticText(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) { add(diagnostic); }) {}

  /// The status with the collected lines in place of the bare name of the pass.
  Status explain(const Status &status) const {
    return status.ok() || text.empty() ? status : Status(status.code(), text);
  }

  /// The collected lines, once all went well: remarks.
  void tell(const CompileOptions &options) const {
    if (options.remark && !text.empty())
      options.remark(text);
  }

private:
  void add(mlir::Diagnostic &diagnostic) {
    static constexpr const char *kSeverities[] = {"note", "warning", "error", "remark"};
    text += placeText(diagnostic.getLocation()) + kSeverities[size_t(diagnostic.getSeverity())] + ": " +
            diagnostic.str() + "\n";
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      add(note);
  }

  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

/// A module read from text, with the context it lives in.
struct ParsedModule {
  ParsedModule() : context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED), diagnostics(&context) {
    context.printOpOnDiagnostic(false); // the user's line says enough
  }

  Status parse(std::string_view text, const std::string &name) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context), name);
    return diagnostics.explain(module ? Status() : Status(StatusCode::InvalidInput, name + ": not a dl module"));
  }

  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  mlir::MLIRContext context;
  DiagnosticText diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace dlc::codegen
