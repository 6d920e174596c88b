#include "targets/sim/ServiceCalls.h"

#include "targets/cpu/Image.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

using namespace dlc;
using namespace dlc::codegen;

Provenance dlc::codegen::provenanceOf(const llvm::Value *pointer) {
  llvm::SmallVector<const llvm::Value *> objects;
  llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
  auto isPrivate = [](const llvm::Value *object) {
    auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(object);
    return llvm::isa<llvm::AllocaInst>(object) || (variable && variable->getAddressSpace() != kSharedSpace);
  };
  if (llvm::all_of(objects, isPrivate))
    return {Provenance::Private};
  const llvm::Value *only = llvm::all_equal(objects) ? objects.front() : nullptr;
  auto *variable = llvm::dyn_cast_or_null<llvm::GlobalVariable>(only);
  if (variable || pointer->getType()->getPointerAddressSpace() == kSharedSpace)
    return {Provenance::Shared, -1, variable};
  auto *argument = llvm::dyn_cast_or_null<llvm::Argument>(only);
  if (argument && argument->getParent()->getCallingConv() == llvm::CallingConv::PTX_Kernel)
    return {Provenance::Global, int(argument->getArgNo())};
  return {Provenance::Global};
}

// Nothing a kernel does changes the table or its own record.
llvm::Value *ServiceCalls::load(llvm::IRBuilderBase &builder, llvm::Value *base, size_t offset, llvm::Type *type) {
  llvm::Value *address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
  llvm::LoadInst *value = builder.CreateLoad(type, address);
  value->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder.getContext(), {}));
  return value;
}

llvm::Value *ServiceCalls::api(llvm::IRBuilderBase &builder) {
  llvm::Module &module = *function_.getParent();
  llvm::GlobalVariable *slot = module.getNamedGlobal(kSimApiSymbol);
  if (!slot) {
    slot = new llvm::GlobalVariable(module, builder.getPtrTy(), false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                    kSimApiSymbol);
    slot->setVisibility(llvm::GlobalValue::HiddenVisibility);
    slot->setDSOLocal(true);
  }
  return load(builder, slot, 0, builder.getPtrTy());
}

llvm::Value *ServiceCalls::self() {
  if (!self_) {
    llvm::BasicBlock &entry = function_.getEntryBlock();
    llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
    llvm::Type *pointer = builder.getPtrTy();
    llvm::Value *function = load(builder, api(builder), offsetof(DlcSimApi, self), pointer);
    self_ = builder.CreateCall(llvm::FunctionType::get(pointer, false), function, {}, "self");
  }
  return self_;
}

llvm::Value *ServiceCalls::threadWord(size_t offset) {
  auto *thread = llvm::cast<llvm::Instruction>(self());
  llvm::IRBuilder<> builder(thread->getParent(), std::next(thread->getIterator()));
  return load(builder, thread, offset, builder.getInt32Ty());
}

llvm::Value *ServiceCalls::shared() {
  if (!shared_) {
    auto *thread = llvm::cast<llvm::Instruction>(self());
    llvm::IRBuilder<> builder(thread->getParent(), std::next(thread->getIterator()));
    shared_ =
        call(builder, offsetof(DlcSimApi, shared), builder.getPtrTy(), {builder.getInt64(layout_.bytesOf(&function_))});
    shared_->setName("shared");
  }
  return shared_;
}

llvm::Value *ServiceCalls::words(unsigned count) {
  llvm::IRBuilder<> builder(&function_.getEntryBlock(), function_.getEntryBlock().begin());
  return builder.CreateAlloca(llvm::ArrayType::get(builder.getInt32Ty(), count));
}

llvm::Value *ServiceCalls::call(llvm::IRBuilderBase &builder, size_t offset, llvm::Type *result,
                                llvm::ArrayRef<llvm::Value *> arguments) {
  llvm::SmallVector<llvm::Value *> all = {self()};
  llvm::append_range(all, arguments);
  llvm::SmallVector<llvm::Type *> types;
  for (llvm::Value *argument : all)
    types.push_back(argument->getType());
  llvm::Value *function = load(builder, api(builder), offset, builder.getPtrTy());
  return builder.CreateCall(llvm::FunctionType::get(result, types, false), function, all);
}

llvm::Constant *ServiceCalls::site(const llvm::Instruction &at, DlcSimAccess access, const llvm::Value *pointer,
                                   llvm::Align alignment) {
  llvm::Module &module = *function_.getParent();
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Constant *none = llvm::ConstantPointerNull::get(builder.getPtrTy());
  auto text = [&](llvm::StringRef value) -> llvm::Constant * {
    return value.empty() ? none : builder.CreateGlobalString(value, "", 0, &module);
  };
  Provenance from = pointer ? provenanceOf(pointer) : Provenance{Provenance::Private};
  uint64_t offset = 0, bytes = 0;
  if (from.variable) {
    offset = layout_.offsetOf(from.variable);
    bytes = module.getDataLayout().getTypeAllocSize(from.variable->getValueType());
  }
  uint32_t space = from.kind == Provenance::Shared    ? DLC_SIM_SHARED
                   : from.kind == Provenance::Private ? DLC_SIM_CONSTANT
                                                      : DLC_SIM_GLOBAL;
  const llvm::DILocation *line = at.getDebugLoc();
  static_assert(offsetof(DlcSimSite, line) == 8 && offsetof(DlcSimSite, alignment) == 28 &&
                offsetof(DlcSimSite, variable) == 32 && sizeof(DlcSimSite) == 56);
  llvm::Constant *value = llvm::ConstantStruct::getAnon(
      {text(line ? line->getFilename() : ""), builder.getInt32(line ? line->getLine() : 0),
       builder.getInt32(line ? line->getColumn() : 0), builder.getInt32(access), builder.getInt32(space),
       builder.getInt32(uint32_t(from.operand)), builder.getInt32(uint32_t(alignment.value())),
       text(from.variable ? from.variable->getName() : ""), builder.getInt64(offset), builder.getInt64(bytes)});
  // Not mergeable: two barriers of one line are two sites.
  return new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value, "site");
}
