#include "targets/cpu/CompileParallel.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "targets/cpu/Lower.h"
#include "targets/cpu/Object.h"

#include <atomic>
#include <thread>

using namespace dlc;
using namespace dlc::codegen;

std::string dlc::codegen::toBytecode(mlir::ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(mlir::writeBytecodeToFile(module, stream)))
    return {}; // only with an unsupported version, and none is asked for
  return bytes;
}

static StatusOr<std::string> compileOne(mlir::MLIRContext &context, const std::string &source, const CpuTarget &target,
                                        const ParallelStages &stages) {
  std::string message;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    mlir::ScopedDiagnosticHandler collect(&context, [&](mlir::Diagnostic &diagnostic) {
      llvm::raw_string_ostream(message) << diagnostic.getLocation() << ": " << diagnostic << "\n";
    });
    module = mlir::parseSourceString<mlir::ModuleOp>(source, mlir::ParserConfig(&context, /*verifyAfterParse=*/false));
    if (!module || (stages.emitKernels && failed(stages.emitKernels(*module))))
      return Status(StatusCode::Internal, message);
  }
  return compileToObject(*module, target);
}

StatusOr<std::vector<std::string>> dlc::codegen::compileInParallel(llvm::ArrayRef<std::string> modules,
                                                                   const CpuTarget &target, unsigned threads,
                                                                   const ParallelStages &stages) {
  std::vector<StatusOr<std::string>> results(modules.size(), std::string());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    mlir::DialectRegistry registry;
    registerCpuDialects(registry);
    if (stages.registerDialects)
      stages.registerDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    for (size_t i; (i = next++) < modules.size();)
      results[i] = compileOne(context, modules[i], target, stages);
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < std::min<size_t>(threads, modules.size()); ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();

  std::vector<std::string> objects;
  for (StatusOr<std::string> &result : results) {
    if (!result.ok())
      return result.status();
    objects.push_back(result.take());
  }
  return objects;
}
