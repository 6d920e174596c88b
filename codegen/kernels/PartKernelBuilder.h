#pragma once

#include "dlc/ir/Program.h"
#include "kernels/ForwardingKernelBuilder.h"

namespace dlc::codegen {

/// The kernel of a horizontal group as one of its parts sees it: operands are the part's.
class PartKernelBuilder final : public ForwardingKernelBuilder {
public:
  PartKernelBuilder(KernelBuilder &whole, dl::GroupOp part);

  mlir::Location getLoc() override { return location; }
  Memory operand(unsigned i, mlir::Type element) override { return whole.operand(places[i], element); }

private:
  mlir::Location location;
  llvm::SmallVector<unsigned> places; ///< operand of the whole, for each of the part
};

} // namespace dlc::codegen
