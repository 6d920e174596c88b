// gpu.func @k(%p: !llvm.ptr<1>) kernel … {            llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel, …} {
//   %t = gpu.thread_id x                                %t = nvvm.read.ptx.sreg.tid.x …
//   %y = math.exp %x : f32                      →       … llvm.intr.fma, llvm.fmul: no call
//   gpu.barrier                                         nvvm.barrier0
// }                                                   }
#include "gpu/Lower.h"

#include "gpu/GpuKernelBuilder.h"
#include "math/VectorMath.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

void dlc::codegen::registerGpuDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, gpu::GPUDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

void dlc::codegen::loadGpuDialects(MLIRContext &context) {
  context
      .loadDialect<arith::ArithDialect, cf::ControlFlowDialect, gpu::GPUDialect, LLVM::LLVMDialect, math::MathDialect,
                   memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
}

static LogicalResult checkSelfContained(gpu::GPUModuleOp module) {
  LogicalResult result = success();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function.isExternal())
      result = function.emitError() << "expects generated code to define every function it calls, got undefined '"
                                    << function.getSymName() << "'; this is an internal error of dlc";
  return result;
}

// What loops are annotated with arrives at their branches as an attribute that nothing reads.
static void annotateLoops(gpu::GPUModuleOp module) {
  module.walk([](LLVM::BrOp branch) {
    auto annotation =
        dyn_cast_or_null<LLVM::LoopAnnotationAttr>(branch->removeDiscardableAttr(dlc::codegen::loopAnnotation));
    if (annotation)
      branch.setLoopAnnotationAttr(annotation);
  });
}

LogicalResult dlc::codegen::lowerToNvvm(gpu::GPUModuleOp module) {
  MLIRContext *context = module.getContext();
  loadGpuDialects(*context);
  expandMath(module);

  LLVMTypeConverter types(context, LowerToLLVMOptions(context));
  configureGpuToNVVMTypeConverter(types);
  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  // Before what the gpu patterns bring along, calls of libdevice.
  populateMathToLLVMConversionPatterns(types, patterns, /*approximateLog1p=*/true, /*benefit=*/2);
  populateVectorToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  populateGpuToNVVMConversionPatterns(types, patterns);
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    return failure();
  annotateLoops(module);
  return checkSelfContained(module);
}

namespace {

struct LowerGpuPass : PassWrapper<LowerGpuPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerGpuPass)
  StringRef getArgument() const override { return "dlc-lower-gpu"; }
  StringRef getDescription() const override {
    return "Expand math and convert the gpu.modules to the llvm and nvvm dialects, at once";
  }
  void getDependentDialects(DialectRegistry &registry) const override { dlc::codegen::registerGpuDialects(registry); }
  void runOnOperation() override {
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      if (failed(dlc::codegen::lowerToNvvm(module)))
        return signalPassFailure();
  }
};

struct EmitGpuPass : PassWrapper<EmitGpuPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitGpuPass)
  EmitGpuPass() = default;
  EmitGpuPass(const EmitGpuPass &other) : PassWrapper(other) {}
  Option<bool> unorderedAtomics{*this, "unordered-atomics", llvm::cl::desc("Scatter may add floats in any order")};
  Option<bool> tf32{*this, "tf32", llvm::cl::desc("Products of f32 may see 10 bits of their factors' mantissas")};
  StringRef getArgument() const override { return "dlc-emit-gpu"; }
  StringRef getDescription() const override { return "Replace rt.kernel ops by a gpu.module with their launches"; }
  void getDependentDialects(DialectRegistry &registry) const override { dlc::codegen::registerGpuDialects(registry); }
  void runOnOperation() override {
    if (failed(dlc::codegen::emitGpuModule(getOperation(), {.unorderedAtomics = unorderedAtomics, .tf32 = tf32})))
      signalPassFailure();
  }
};

} // namespace

void dlc::codegen::registerGpuPasses() {
  PassRegistration<LowerGpuPass>();
  PassRegistration<EmitGpuPass>();
}
