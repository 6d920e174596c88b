#include "gpu/Lower.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/TargetParser/Triple.h"

using namespace dlc;
using namespace dlc::codegen;

static Status internal(const llvm::Twine &message) { return Status(StatusCode::Internal, message.str()); }

// Index arithmetic is written in i64 and loops as they come; none of these passes changes a float.
static Status simplify(llvm::Module &module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  const char *pipeline = "function(scalarize-masked-mem-intrin,sroa,early-cse,instcombine<no-verify-fixpoint>,"
                         "correlated-propagation,simplifycfg,loop-mssa(licm),"
                         "gvn,instcombine<no-verify-fixpoint>,simplifycfg)";
  if (llvm::Error error = builder.parsePassPipeline(passes, pipeline))
    return internal(toString(std::move(error)));
  passes.run(module, modules);
  return Status();
}

static Status checkSelfContained(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic())
      return internal("expects generated code to define every function it calls, got undefined '" + function.getName() +
                      "'");
  return Status();
}

StatusOr<std::unique_ptr<llvm::Module>> dlc::codegen::translateGpu(mlir::gpu::GPUModuleOp module,
                                                                   llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(module, context, "dlc");
  if (!result)
    return internal("the translation to LLVM IR failed");
  llvm::Triple triple("nvptx64-nvidia-cuda");
  result->setTargetTriple(triple);
  result->setDataLayout(triple.computeDataLayout());
  for (llvm::Function &function : *result)
    if (!function.isDeclaration()) {
      function.addFnAttr("no-builtins"); // a loop must not become a call of memset
      function.addFnAttr(llvm::Attribute::NoUnwind);
    }
  Status status = checkSelfContained(*result);
  if (status.ok())
    status = simplify(*result);
  if (!status.ok())
    return status;
  return result;
}
