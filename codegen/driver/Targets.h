#pragma once

#include "dlc/codegen/Compiler.h"
#include "gpu/GpuKernels.h"
#include "targets/cpu/CpuTarget.h"

#include <string>
#include <vector>

namespace dlc::codegen {

/// "cuda:sm_80, cuda:sm_90 or …": the targets of CUDA, for messages.
std::string cudaTargets();

/// What a compilation is for.
struct Targets {
  CpuTarget host;                ///< the processor of host programs, of the cpu's kernels and of sim's
  bool cpu = false, sim = false; ///< kernels for the cpu; GPU kernels that the simulated device runs
  std::vector<std::string> cuda; ///< GPU kernels as PTX (and cubins) for "sm_90", …

  GpuOptions gpu; ///< of the GPU kernels

  /// Whether kernels become GPU kernels for some target.
  bool hasGpu() const { return sim || !cuda.empty(); }

  /// As the manifest lists them: "cpu", "sim", "sm_90".
  std::vector<std::string> names() const;

  /// From the names of `CompileOptions::targets`, `CompileOptions::cpu` and `CompileOptions::allow`.
  static StatusOr<Targets> parse(const CompileOptions &options);
};

} // namespace dlc::codegen
