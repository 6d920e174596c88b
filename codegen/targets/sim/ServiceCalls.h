#pragma once

#include "dlc/runtime/SimAbi.h"
#include "targets/sim/SharedLayout.h"
#include "llvm/IR/IRBuilder.h"

namespace dlc::codegen {

/// Calls of DlcSimApi from one function. What every call needs is computed once, at the function's begin.
class ServiceCalls {
public:
  ServiceCalls(llvm::Function &function, const SharedLayout &layout) : function_(function), layout_(layout) {}

  /// The calling thread's DlcSimThread.
  llvm::Value *self();
  /// A special register: the word at a byte offset of DlcSimThread.
  llvm::Value *threadWord(size_t offset);
  /// The block's shared memory.
  llvm::Value *shared();
  /// Memory of the function for words that go to or come from a service.
  llvm::Value *words(unsigned count);

  /// Calls the service at `offset` of DlcSimApi with the calling thread in front of the arguments.
  llvm::Value *call(llvm::IRBuilderBase &builder, size_t offset, llvm::Type *result,
                    llvm::ArrayRef<llvm::Value *> arguments);

  /// A constant DlcSimSite for an access through `pointer`, at the instruction's line; without a pointer, for a
  /// barrier.
  llvm::Constant *site(const llvm::Instruction &at, DlcSimAccess access, const llvm::Value *pointer,
                       llvm::Align alignment = {});

private:
  llvm::Value *load(llvm::IRBuilderBase &builder, llvm::Value *base, size_t offset, llvm::Type *type);
  llvm::Value *api(llvm::IRBuilderBase &builder);

  llvm::Function &function_;
  const SharedLayout &layout_;
  llvm::Value *self_ = nullptr, *shared_ = nullptr;
};

/// What an access through a pointer touches, followed back through its arithmetic.
struct Provenance {
  enum Kind { Global, Shared, Private } kind = Global; ///< private: the thread's own memory, or constants
  int operand = -1;                                    ///< of a kernel; -1: unknown
  const llvm::GlobalVariable *variable = nullptr;      ///< shared; null: unknown
};
Provenance provenanceOf(const llvm::Value *pointer);

} // namespace dlc::codegen
