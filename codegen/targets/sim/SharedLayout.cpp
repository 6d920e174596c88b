#include "targets/sim/SharedLayout.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Alignment.h"

using namespace dlc;
using namespace dlc::codegen;

static constexpr uint64_t kGap = 64;

static const llvm::Function *onlyKernelUsing(const llvm::GlobalVariable &variable) {
  llvm::SmallPtrSet<const llvm::Function *, 2> users;
  for (const llvm::User *user : variable.users())
    if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(user))
      users.insert(instruction->getFunction());
  if (users.size() != 1 || (*users.begin())->getCallingConv() != llvm::CallingConv::PTX_Kernel)
    return nullptr;
  return *users.begin();
}

StatusOr<SharedLayout> SharedLayout::compute(llvm::Module &module) {
  SharedLayout layout;
  const llvm::DataLayout &types = module.getDataLayout();
  auto place = [&](const llvm::GlobalVariable &variable, uint64_t &end) {
    uint64_t begin = llvm::alignTo(end, std::max<uint64_t>(16, variable.getAlign().valueOrOne().value()));
    layout.offsets_[&variable] = begin;
    end = begin + types.getTypeAllocSize(variable.getValueType()) + kGap;
  };
  llvm::SmallVector<std::pair<const llvm::GlobalVariable *, const llvm::Function *>> owned;
  for (const llvm::GlobalVariable &variable : module.globals()) {
    if (variable.getAddressSpace() != kSharedSpace)
      continue;
    if (variable.isDeclaration() || types.getTypeAllocSize(variable.getValueType()) == 0)
      return Status(StatusCode::Internal, "expects shared variables of a fixed size, got '" + variable.getName().str() +
                                              "'; simulated devices have no dynamic ones");
    if (const llvm::Function *kernel = onlyKernelUsing(variable))
      owned.emplace_back(&variable, kernel);
    else
      place(variable, layout.common_);
  }
  for (auto [variable, kernel] : owned)
    place(*variable, layout.ends_.try_emplace(kernel, layout.common_).first->second);
  return layout;
}

uint64_t SharedLayout::bytesOf(const llvm::Function *function) const {
  auto end = ends_.find(function);
  return end == ends_.end() ? common_ : end->second;
}
