#pragma once

#include "kernels/ForwardingKernelBuilder.h"
#include "kernels/GroupAnalysis.h"

namespace dlc::codegen {

/// A kernel whose operands have the types of a group's in memory.
class GroupKernelBuilder final : public ForwardingKernelBuilder {
public:
  GroupKernelBuilder(KernelBuilder &whole, dl::GroupOp group) : ForwardingKernelBuilder(whole), group(group) {}

  Memory operand(unsigned i, mlir::Type element) override { return asStored(group, i, whole.operand(i, element)); }

private:
  dl::GroupOp group;
};

} // namespace dlc::codegen
