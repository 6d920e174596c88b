#pragma once

#include "dlc/runtime/Status.h"
#include "llvm/ADT/DenseMap.h"

namespace llvm {
class Function;
class GlobalVariable;
class Module;
} // namespace llvm

namespace dlc::codegen {

/// NVPTX's numbers of address spaces.
enum AddressSpace : unsigned { kGlobalSpace = 1, kSharedSpace = 3 };

/// Where shared variables lie in the memory of a block. Variables of one kernel alone share the same range with those
/// of other kernels; variables that several functions use come first. Gaps between them make overruns land nowhere.
class SharedLayout {
public:
  /// Expects uses of shared variables to be instructions. Refuses dynamic shared memory.
  static StatusOr<SharedLayout> compute(llvm::Module &module);

  uint64_t offsetOf(const llvm::GlobalVariable *variable) const { return offsets_.lookup(variable); }
  /// Bytes that a block of the kernel needs; for another function, what it may touch.
  uint64_t bytesOf(const llvm::Function *function) const;

private:
  uint64_t common_ = 0;
  llvm::DenseMap<const llvm::GlobalVariable *, uint64_t> offsets_;
  llvm::DenseMap<const llvm::Function *, uint64_t> ends_;
};

} // namespace dlc::codegen
