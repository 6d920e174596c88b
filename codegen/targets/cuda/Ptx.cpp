#include "targets/cuda/Ptx.h"

#include "targets/cuda/CudaArch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace dlc;
using namespace dlc::codegen;

static Status internal(const llvm::Twine &message) { return Status(StatusCode::Internal, message.str()); }

// Only who asks for PTX pays for the target.
static StatusOr<std::unique_ptr<llvm::TargetMachine>> createMachine(const CudaArch &arch) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backend)
    return internal("LLVM cannot generate PTX: " + message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, arch.name, arch.features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

StatusOr<std::string> dlc::codegen::emitPtx(const llvm::Module &module, llvm::StringRef name) {
  const CudaArch *arch = findCudaArch(name);
  if (!arch) {
    std::string known = llvm::join(llvm::map_range(cudaArchs(), [](const CudaArch &each) { return each.name; }), ", ");
    return Status(StatusCode::InvalidInput, "unknown architecture '" + name.str() + "'; expected " + known);
  }
  StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = createMachine(*arch);
  if (!machine.ok())
    return machine.status();
  std::unique_ptr<llvm::Module> own = llvm::CloneModule(module);
  own->setDataLayout((*machine)->createDataLayout());
  llvm::StripDebugInfo(*own);
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return internal("LLVM cannot write PTX for " + name);
  passes.run(*own);
  llvm::StringRef ptx(text.data(), text.size());
  if (size_t at = ptx.find(".extern .func"); at != llvm::StringRef::npos)
    return internal("expects PTX to call nothing outside of it, got '" +
                    ptx.substr(at).take_until([](char c) { return c == '\n'; }) + "'");
  return ptx.str();
}
