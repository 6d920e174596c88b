#include "targets/sim/Checks.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace dlc;
using namespace dlc::codegen;

void dlc::codegen::insertAccessCheck(llvm::Instruction &before, ServiceCalls &services, DlcSimAccess access,
                                     llvm::Value *pointer, llvm::Value *bytes, llvm::Align alignment) {
  if (provenanceOf(pointer).kind == Provenance::Private)
    return;
  llvm::IRBuilder<> builder(&before);
  // An instruction even of a global, which a folded constant would keep when the global's uses are replaced.
  llvm::Value *address = builder.Insert(new llvm::AddrSpaceCastInst(pointer, builder.getPtrTy()));
  services.call(
      builder, offsetof(DlcSimApi, access), builder.getVoidTy(),
      {services.site(before, access, pointer, alignment), address, builder.CreateZExt(bytes, builder.getInt64Ty())});
}

static Status insertChecksOf(llvm::Instruction &instruction, ServiceCalls &services) {
  const llvm::DataLayout &types = instruction.getDataLayout();
  auto check = [&](DlcSimAccess access, llvm::Value *pointer, llvm::Type *type, llvm::Align alignment) {
    llvm::Value *bytes = llvm::ConstantInt::get(llvm::Type::getInt64Ty(instruction.getContext()),
                                                types.getTypeStoreSize(type).getFixedValue());
    insertAccessCheck(instruction, services, access, pointer, bytes, alignment);
  };
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    check(DLC_SIM_LOAD, load->getPointerOperand(), load->getType(), load->getAlign());
  } else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    check(DLC_SIM_STORE, store->getPointerOperand(), store->getValueOperand()->getType(), store->getAlign());
  } else if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    check(DLC_SIM_ATOMIC, update->getPointerOperand(), update->getType(), update->getAlign());
  } else if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    check(DLC_SIM_ATOMIC, exchange->getPointerOperand(), exchange->getNewValOperand()->getType(), exchange->getAlign());
  } else if (auto *copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) {
    insertAccessCheck(instruction, services, DLC_SIM_LOAD, copy->getRawSource(), copy->getLength(),
                      copy->getSourceAlign().valueOrOne());
    insertAccessCheck(instruction, services, DLC_SIM_STORE, copy->getRawDest(), copy->getLength(),
                      copy->getDestAlign().valueOrOne());
  } else if (auto *fill = llvm::dyn_cast<llvm::MemSetInst>(&instruction)) {
    insertAccessCheck(instruction, services, DLC_SIM_STORE, fill->getRawDest(), fill->getLength(),
                      fill->getDestAlign().valueOrOne());
  } else if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
             call && call->getCalledFunction()->getName().starts_with("llvm.masked.")) {
    return Status(StatusCode::Internal, "expects accesses that simulated devices can check, got " +
                                            call->getCalledFunction()->getName().str());
  }
  return Status();
}

Status dlc::codegen::insertAccessChecks(llvm::Function &function, ServiceCalls &services) {
  llvm::SmallVector<llvm::Instruction *> instructions;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    instructions.push_back(&instruction);
  for (llvm::Instruction *instruction : instructions)
    if (Status status = insertChecksOf(*instruction, services); !status.ok())
      return status;
  return Status();
}
