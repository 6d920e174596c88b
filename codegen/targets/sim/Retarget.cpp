// define ptx_kernel void @k(ptr addrspace(1) %x)      →  define hidden void @dlc_sim_k(ptr %pointers)
//   @tile = addrspace(3) global [32 x float]                %shared = call ptr %…(ptr %self, i64 192)
//   %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()          %t = load i32, ptr %self
#include "targets/sim/Retarget.h"

#include "targets/cpu/Image.h"
#include "targets/cpu/Object.h"
#include "targets/sim/Checks.h"
#include "targets/sim/DeviceIntrinsics.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"

using namespace dlc;
using namespace dlc::codegen;

static Status internal(const llvm::Twine &message) { return Status(StatusCode::Internal, message.str()); }

static bool isKernel(const llvm::Function &function) {
  return function.getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

std::string dlc::codegen::simKernelSymbol(llvm::StringRef kernel) { return ("dlc_sim_" + kernel).str(); }

// What is not a kernel stays within its object, and nothing says it is for a GPU.
static Status internalize(llvm::Module &module) {
  for (llvm::GlobalVariable &variable : module.globals()) {
    if (variable.getAddressSpace() == kSharedSpace)
      continue;
    if (!variable.isConstant() || variable.isDeclaration())
      return internal("expects constants and shared variables, got '" + variable.getName() +
                      "': simulated devices have no variables of a module");
    variable.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && !isKernel(function))
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  if (llvm::NamedMDNode *annotations = module.getNamedMetadata("nvvm.annotations"))
    annotations->eraseFromParent();
  return Status();
}

static void replaceSharedVariables(llvm::Function &function, const SharedLayout &layout, ServiceCalls &services,
                                   llvm::ArrayRef<llvm::GlobalVariable *> variables) {
  for (llvm::GlobalVariable *variable : variables) {
    llvm::Value *place = nullptr;
    for (llvm::Use &use : llvm::make_early_inc_range(variable->uses())) {
      auto *user = llvm::cast<llvm::Instruction>(use.getUser());
      if (user->getFunction() != &function)
        continue;
      if (!place) {
        auto *base = llvm::cast<llvm::Instruction>(services.shared());
        llvm::IRBuilder<> builder(base->getParent(), std::next(base->getIterator()));
        llvm::Value *address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, layout.offsetOf(variable));
        place = builder.CreateAddrSpaceCast(address, variable->getType(), variable->getName());
      }
      use.set(place);
    }
  }
}

// The kernel's body under its host signature, where each parameter is loaded from the list of pointers.
static Status wrapKernel(llvm::Function &kernel) {
  llvm::Module &module = *kernel.getParent();
  llvm::IRBuilder<> builder(module.getContext());
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  auto *function =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, simKernelSymbol(kernel.getName()), module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  function->setDSOLocal(true);
  function->splice(function->begin(), &kernel);
  llvm::BasicBlock &entry = function->getEntryBlock();
  builder.SetInsertPoint(&entry, entry.begin());
  for (llvm::Argument &argument : kernel.args()) {
    if (!argument.getType()->isPointerTy())
      return internal("expects kernels of pointers, got a parameter of another type in '" + kernel.getName() + "'");
    llvm::Value *place =
        builder.CreateConstInBoundsGEP1_64(builder.getPtrTy(), function->getArg(0), argument.getArgNo());
    llvm::Value *pointer = builder.CreateLoad(builder.getPtrTy(), place);
    argument.replaceAllUsesWith(builder.CreateAddrSpaceCast(pointer, argument.getType()));
  }
  kernel.eraseFromParent();
  return Status();
}

static Status retargetFunction(llvm::Function &function, const SharedLayout &layout,
                               llvm::ArrayRef<llvm::GlobalVariable *> shared, const SimCodeOptions &options) {
  ServiceCalls services(function, layout);
  if (options.check)
    if (Status status = insertAccessChecks(function, services); !status.ok())
      return status;
  if (Status status = replaceDeviceIntrinsics(function, services, options.check); !status.ok())
    return status;
  // The checks have made constants of their own.
  llvm::convertUsersOfConstantsToInstructions(llvm::SmallVector<llvm::Constant *>(shared.begin(), shared.end()));
  replaceSharedVariables(function, layout, services, shared);
  function.setAttributes(llvm::AttributeList()); // of the GPU: its processor, the kernel's launch bounds
  return Status();
}

Status dlc::codegen::retargetToSim(llvm::Module &module, const SimCodeOptions &options) {
  if (Status status = internalize(module); !status.ok())
    return status;
  llvm::SmallVector<llvm::GlobalVariable *> shared;
  for (llvm::GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() == kSharedSpace)
      shared.push_back(&variable);
  llvm::convertUsersOfConstantsToInstructions(llvm::SmallVector<llvm::Constant *>(shared.begin(), shared.end()));
  StatusOr<SharedLayout> layout = SharedLayout::compute(module);
  if (!layout.ok())
    return layout.status();
  llvm::SmallVector<llvm::Function *> functions, kernels;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      functions.push_back(&function);
  for (llvm::Function *function : functions)
    if (Status status = retargetFunction(*function, *layout, shared, options); !status.ok())
      return status;
  for (llvm::GlobalVariable *variable : shared)
    variable->eraseFromParent();
  llvm::StripDebugInfo(module); // sites hold what is needed of it
  for (llvm::Function *function : functions)
    if (isKernel(*function))
      if (Status status = wrapKernel(*function); !status.ok())
        return status;
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream))
    return internal("retargeting kernels to the host made invalid code: " + problem);
  return Status();
}

StatusOr<std::string> dlc::codegen::emitSimObject(std::unique_ptr<llvm::Module> module, const CpuTarget &target,
                                                  const SimCodeOptions &options) {
  if (Status status = retargetToSim(*module, options); !status.ok())
    return status;
  StatusOr<std::string> object = emitObject(*module, target);
  if (!object.ok())
    return object;
  llvm::StringRef provided = kSimApiSymbol;
  if (Status status = checkSelfContained(*object, provided); !status.ok())
    return status;
  return object;
}
