#include "targets/cpu/Object.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "targets/cpu/Lower.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace dlc;
using namespace dlc::codegen;

static Status internal(const llvm::Twine &message) { return Status(StatusCode::Internal, message.str()); }

static StatusOr<std::unique_ptr<llvm::TargetMachine>> createMachine(const CpuTarget &target) {
  static const bool initialized = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string message = "no native target";
  const llvm::Target *backend = initialized ? llvm::TargetRegistry::lookupTarget(triple, message) : nullptr;
  if (!backend)
    return internal("LLVM cannot generate code for " + triple.str() + ": " + message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard; // an fma only where one is written
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(triple, target.cpu, target.features, options,
                                                                           llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                           llvm::CodeGenOptLevel::Less));
}

static void setAttributes(llvm::Module &module, const llvm::TargetMachine &machine, const CpuTarget &target) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", llvm::utostr(uint64_t(target.vectorBytes) * 8));
    function.addFnAttr("no-builtins"); // a loop must not become a call of memset
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

static Status runPasses(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, "function(early-cse,loop-mssa(licm))"))
    return internal(toString(std::move(error)));
  passes.run(module, modules);
  return Status();
}

static StatusOr<std::unique_ptr<llvm::TargetMachine>> optimize(llvm::Module &module, const CpuTarget &target) {
  StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = createMachine(target);
  if (!machine.ok())
    return machine.status();
  setAttributes(module, **machine, target);
  if (Status status = runPasses(module, **machine); !status.ok())
    return status;
  return machine;
}

static StatusOr<std::string> emit(llvm::Module &module, const CpuTarget &target, llvm::CodeGenFileType kind) {
  StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = optimize(module, target);
  if (!machine.ok())
    return machine.status();
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, kind))
    return internal("LLVM cannot write this kind of file for " + target.cpu);
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

StatusOr<std::unique_ptr<llvm::Module>> dlc::codegen::translateToLlvm(mlir::ModuleOp module,
                                                                      llvm::LLVMContext &context) {
#ifdef NDEBUG
  constexpr bool skipVerifier = true;
#else
  constexpr bool skipVerifier = false;
#endif
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(module, context, "dlc", skipVerifier);
  if (!result)
    return internal("the translation to LLVM IR failed");
  return result;
}

StatusOr<std::string> dlc::codegen::emitObject(llvm::Module &module, const CpuTarget &target) {
  return emit(module, target, llvm::CodeGenFileType::ObjectFile);
}

StatusOr<std::string> dlc::codegen::emitAssembly(llvm::Module &module, const CpuTarget &target) {
  return emit(module, target, llvm::CodeGenFileType::AssemblyFile);
}

StatusOr<std::string> dlc::codegen::emitLlvm(llvm::Module &module, const CpuTarget &target) {
  StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = optimize(module, target);
  if (!machine.ok())
    return machine.status();
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

StatusOr<std::string> dlc::codegen::compileToObject(mlir::ModuleOp module, const CpuTarget &target) {
  std::string message;
  mlir::ScopedDiagnosticHandler collect(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      llvm::raw_string_ostream(message) << diagnostic.getLocation() << ": " << diagnostic << "\n";
  });
  if (failed(lowerToLLVMDialect(module)))
    return internal(message);
  llvm::LLVMContext context;
  StatusOr<std::unique_ptr<llvm::Module>> translated = translateToLlvm(module, context);
  if (!translated.ok())
    return translated.status().withContext(message);
  return emitObject(**translated, target);
}

Status dlc::codegen::checkSelfContained(llvm::ArrayRef<std::string> objects, llvm::ArrayRef<llvm::StringRef> provided) {
  llvm::StringSet<> defined, used;
  defined.insert(provided.begin(), provided.end());
  for (const std::string &bytes : objects) {
    auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "object"));
    if (!object)
      return internal(toString(object.takeError()));
    for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
      auto flags = symbol.getFlags();
      auto name = symbol.getName();
      if (!flags || !name)
        return internal(toString(joinErrors(flags.takeError(), name.takeError())));
      (*flags & llvm::object::SymbolRef::SF_Undefined ? used : defined).insert(*name);
    }
  }
  for (const auto &name : used)
    if (!defined.contains(name.first()) && name.first() != "_GLOBAL_OFFSET_TABLE_")
      return internal("expects generated code to define every symbol it uses, got undefined '" + name.first() + "'");
  return Status();
}
