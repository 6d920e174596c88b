#include "gpu/GpuKernels.h"
#include "gpu/Lower.h"
#include "targets/cuda/Ptx.h"

#include "mlir/Pass/Pass.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

struct PrintPtxPass : PassWrapper<PrintPtxPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintPtxPass)
  PrintPtxPass() = default;
  PrintPtxPass(const PrintPtxPass &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "dlc-print-ptx"; }
  StringRef getDescription() const override { return "Print the PTX of the lowered gpu.modules"; }
  void getDependentDialects(DialectRegistry &registry) const override { registerGpuDialects(registry); }
  void runOnOperation() override {
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>()) {
      llvm::LLVMContext context;
      StatusOr<std::unique_ptr<llvm::Module>> translated = translateGpu(module, context);
      StatusOr<std::string> ptx = translated.ok() ? emitPtx(**translated, arch) : translated.status();
      if (!ptx.ok()) {
        module.emitError(ptx.status().message());
        return signalPassFailure();
      }
      llvm::outs() << *ptx;
    }
  }

  Option<std::string> arch{*this, "arch", llvm::cl::desc("sm_80, sm_90 or sm_100"), llvm::cl::init("sm_90")};
};

} // namespace

void dlc::codegen::registerCudaPasses() { PassRegistration<PrintPtxPass>(); }
