#pragma once

#include "drivers/sim/SimEngine.h"
#include "targets/cpu/Jit.h"
#include "targets/sim/Retarget.h"

#include <optional>
#include <string>

/// Kernels of a gpu.module, compiled for simulated devices and loaded.
class SimKernels {
public:
  static dlc::StatusOr<std::string> compile(const std::string &text, bool check);
  /// A failure fails the test.
  static std::optional<SimKernels> load(const std::string &text, bool check = false);

  DlcSimKernel find(const std::string &name) const;

private:
  explicit SimKernels(dlc::codegen::JitCode code) : code(std::move(code)) {}
  dlc::codegen::JitCode code;
};
