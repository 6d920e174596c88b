#include "CaseFile.h"
#include "FunctionCheck.h"
#include "Retype.h"
#include "dlc/codegen/CompileModule.h"
#include "dlc/ir/Dl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static llvm::cl::opt<std::string> path(llvm::cl::Positional, llvm::cl::desc("<file.mlir>"), llvm::cl::Required);
static llvm::cl::opt<std::string> only("function", llvm::cl::desc("Check the function of this name only"));
static llvm::cl::opt<uint64_t> seed("seed", llvm::cl::desc("Seed of the test values"), llvm::cl::init(1));
static llvm::cl::opt<bool> compiled("compiled",
                                    llvm::cl::desc("Also compile for the cpu, run and compare with the reference"));
static llvm::cl::opt<bool> sim("sim", llvm::cl::desc("Likewise for the simulated device, with every access checked"));
static llvm::cl::opt<bool>
    libraries("libraries", llvm::cl::desc("Likewise for cuda:0, with calls of libraries wherever they have one"));
static llvm::cl::opt<std::string> mesh("mesh",
                                       llvm::cl::desc("Also as a program of several members, as data=3, evaluated"));
static llvm::cl::opt<int64_t> splitDim("split-dim", llvm::cl::desc("The dim of arguments that is split over data"));
static llvm::cl::opt<std::string> element("element",
                                          llvm::cl::desc("Functions of f32 only, in this type instead: f16 or bf16"));
static llvm::cl::opt<std::string> cpu("cpu", llvm::cl::desc("As in dlc compile"), llvm::cl::init("host"));
static llvm::cl::list<std::string> allow("allow", llvm::cl::desc("As in dlc compile"));

static llvm::cl::opt<std::string>
    cases("cases",
          llvm::cl::desc("Compile nothing to compare here; write <path>.so and <path>.safetensors instead: the "
                         "programs for --target, their inputs, and what the reference gives"));
static llvm::cl::list<std::string> targets("target", llvm::cl::CommaSeparated,
                                           llvm::cl::desc("Of --cases, as in dlc compile"));
static llvm::cl::opt<std::string> maker("maker", llvm::cl::desc("Of --cases, as dlc compile --matmul and --conv"),
                                        llvm::cl::init("generated"));

// Exit codes: 0 all right, 1 a check failed, 2 the file cannot be read.
int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv, "dlc-check: checks the functions of a file against the reference\n");
  DialectRegistry registry;
  dlc::codegen::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string message;
  auto buffer = openInputFile(path, &message);
  if (!buffer) {
    llvm::errs() << message << "\n";
    return 2;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 2;
  if (!element.empty() && mlir::failed(dlc::check::retype(*module, element)))
    return 2;
  dlc::check::CaseFile file;
  int checked = 0, failed = 0;
  for (auto function : module->getOps<func::FuncOp>()) {
    if (function.isExternal() || (!only.empty() && function.getName() != only))
      continue;
    if (!element.empty() && !dlc::check::mentions(function, element)) {
      ++checked;
      continue;
    }
    bool ok = dlc::check::checkFunction(function, {.seed = seed,
                                                   .compiled = compiled,
                                                   .sim = sim,
                                                   .libraries = libraries,
                                                   .cpu = cpu,
                                                   .allow = {allow.begin(), allow.end()},
                                                   .mesh = mesh,
                                                   .splitDim = splitDim,
                                                   .isRetyped = !element.empty(),
                                                   .cases = cases.empty() ? nullptr : &file});
    llvm::outs() << (ok ? "ok   @" : "FAIL @") << function.getName() << "\n";
    ++checked;
    failed += !ok;
  }
  if (!checked) {
    llvm::errs() << path << ": expects a function to check, got none\n";
    return 1;
  }
  if (!cases.empty())
    if (dlc::Status written = file.write(cases, {{targets.begin(), targets.end()}, cpu, maker}); !written.ok()) {
      llvm::errs() << path << ": " << written.message() << "\n";
      return 1;
    }
  return failed ? 1 : 0;
}
