#pragma once

#include "dlc/runtime/Status.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace dlc::codegen {

/// The assembler of the CUDA toolkit: $DLC_PTXAS, or bin/ptxas below $CUDA_HOME or $CUDA_PATH, or `ptxas` in $PATH, or
/// that of /usr/local/cuda. Nothing depends on it but cubins and reports: drivers assemble PTX themselves.
std::optional<std::string> findPtxas();

struct Assembled {
  std::string cubin;
  std::string log; ///< what `ptxas -v` says about each kernel
};

/// A cubin for "sm_90", …. On failure: what ptxas said, with the PTX left where the command in the message finds it.
StatusOr<Assembled> assemble(llvm::StringRef ptx, llvm::StringRef arch);

} // namespace dlc::codegen
