#include "targets/cuda/CudaArch.h"

#include "llvm/ADT/STLExtras.h"

using namespace dlc::codegen;

static constexpr CudaArch kArchs[] = {
    {"sm_80", "+ptx80", 64, 32, 65536, 256, 4, 164 << 10, 128, 1024},
    {"sm_90", "+ptx80", 64, 32, 65536, 256, 4, 228 << 10, 128, 1024},
    {"sm_100", "+ptx86", 64, 32, 65536, 256, 4, 228 << 10, 128, 1024},
};

llvm::ArrayRef<CudaArch> dlc::codegen::cudaArchs() { return kArchs; }

const CudaArch *dlc::codegen::findCudaArch(llvm::StringRef name) {
  const auto *found = llvm::find_if(kArchs, [&](const CudaArch &arch) { return arch.name == name; });
  return found == std::end(kArchs) ? nullptr : found;
}
