// func.func @f(%x: vector<8xf32>) -> vector<8xf32> {        llvm.func @f(%x: vector<8xf32>) -> vector<8xf32> {
//   %y = math.exp %x : vector<8xf32>                  →       %0 = llvm.mlir.constant(dense<…>) …
//   return %y : vector<8xf32>                                 … llvm.intr.fma, llvm.fmul: no call
// }                                                         }
#include "targets/cpu/Lower.h"

#include "math/VectorMath.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

void dlc::codegen::registerCpuDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void dlc::codegen::loadCpuDialects(MLIRContext &context) {
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                      math::MathDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
}

/// LLVM has calls of its own for what it cannot select (memcpy, fmodf); those show only in the object, which `link`
/// checks.
static LogicalResult checkSelfContained(ModuleOp module) {
  LogicalResult result = success();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function.isExternal() && function.getVisibility_() != LLVM::Visibility::Hidden)
      result = module.emitError() << "expects generated code to define every function it calls, got undefined '"
                                  << function.getSymName() << "'; this is an internal error of dlc";
  return result;
}

LogicalResult dlc::codegen::lowerToLLVMDialect(ModuleOp module) {
  MLIRContext *context = module.getContext();
  // What the patterns create; a parsed module loads only what it mentions.
  context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect, math::MathDialect,
                       scf::SCFDialect, vector::VectorDialect>();
  expandMath(module);

  LLVMTypeConverter types(context, LowerToLLVMOptions(context));
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  ConversionConfig config;
  config.allowPatternRollback = false; // a tenth of the time; nothing here relies on undoing a pattern
  if (failed(applyFullConversion(module, target, std::move(patterns), config)))
    return failure();
  return checkSelfContained(module);
}

namespace {

struct LowerCpuPass : PassWrapper<LowerCpuPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerCpuPass)
  StringRef getArgument() const override { return "dlc-lower-cpu"; }
  StringRef getDescription() const override { return "Expand math and convert kernels to the llvm dialect, at once"; }
  void getDependentDialects(DialectRegistry &registry) const override { dlc::codegen::registerCpuDialects(registry); }
  void runOnOperation() override {
    if (failed(dlc::codegen::lowerToLLVMDialect(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void dlc::codegen::registerCpuPasses() { PassRegistration<LowerCpuPass>(); }
