#pragma once

#include "dlc/runtime/Abi.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace dlc {

/// What a kernel does with one of its operands.
enum class SimAccess { Read, Write, ReadWrite, Workspace };

/// One operand of a kernel: how many bytes its pointer points to.
struct SimOperand {
  int64_t bytes = 0;
  SimAccess access = SimAccess::ReadWrite;
};

/// A kernel with its launch, as the manifest describes it. x, y, z.
struct SimKernel {
  std::string name;
  DlcSimKernel function = nullptr;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::vector<SimOperand> operands;
};

} // namespace dlc
