#include "SimKernels.h"

#include "drivers/sim/SimServices.h"
#include "gpu/GpuKernels.h"
#include "gpu/Lower.h"
#include "mlir/Parser/Parser.h"
#include "targets/cpu/Image.h"
#include "targets/cpu/Object.h"
#include "targets/sim/Locations.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "gtest/gtest.h"

using namespace dlc;
using namespace dlc::codegen;

StatusOr<std::string> SimKernels::compile(const std::string &text, bool check) {
  mlir::DialectRegistry registry;
  registerGpuDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "kernels.mlir");
  if (!module)
    return Status(StatusCode::InvalidInput, "no module");
  auto kernels = *module->getOps<mlir::gpu::GPUModuleOp>().begin();
  if (failed(lowerToNvvm(kernels)))
    return Status(StatusCode::Internal, "not lowered");
  if (check)
    keepLocations(kernels);
  llvm::LLVMContext llvmContext;
  auto translated = translateGpu(kernels, llvmContext);
  if (!translated.ok())
    return translated.status();
  SimCodeOptions options;
  options.check = check;
  return emitSimObject(translated.take(), *CpuTarget::host(), options);
}

// What an image defines.
static StatusOr<std::string> apiSlot() {
  llvm::LLVMContext context;
  llvm::Module module("slot", context);
  auto *pointer = llvm::PointerType::get(context, 0);
  new llvm::GlobalVariable(module, pointer, false, llvm::GlobalValue::ExternalLinkage,
                           llvm::ConstantPointerNull::get(pointer), kSimApiSymbol);
  return emitObject(module, *CpuTarget::host());
}

std::optional<SimKernels> SimKernels::load(const std::string &text, bool check) {
  StatusOr<std::string> object = compile(text, check), slot = apiSlot();
  if (!object.ok() || !slot.ok()) {
    ADD_FAILURE() << object.status().message() << slot.status().message();
    return std::nullopt;
  }
  StatusOr<JitCode> code = JitCode::load({*object, *slot});
  if (!code.ok()) {
    ADD_FAILURE() << code.status().message();
    return std::nullopt;
  }
  StatusOr<void *> api = code->lookup(kSimApiSymbol);
  if (!api.ok()) {
    ADD_FAILURE() << api.status().message();
    return std::nullopt;
  }
  *static_cast<const DlcSimApi **>(*api) = simServices();
  return SimKernels(code.take());
}

DlcSimKernel SimKernels::find(const std::string &name) const {
  StatusOr<void *> address = code.lookup(simKernelSymbol(name));
  if (!address.ok())
    ADD_FAILURE() << address.status().message();
  return address.ok() ? reinterpret_cast<DlcSimKernel>(*address) : nullptr;
}
