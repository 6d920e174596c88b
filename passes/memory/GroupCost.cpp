#include "GroupCost.h"

#include "Placement.h"

#include "dlc/ir/Storage.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

// One core of 2020: products of a contraction, additions of a vectorized body, bytes between caches and memory.
static constexpr double productsPerSecond = 40e9, additionsPerSecond = 8e9, bytesPerSecond = 8e9, launchSeconds = 1e-6;

static double elementsOf(Value value) { return double(cast<RankedTensorType>(value.getType()).getNumElements()); }

/// Of one op, in seconds, its operands in registers.
static double computeSeconds(Operation &op) {
  if (auto kernel = dyn_cast<dl::OwnKernelOpInterface>(op))
    if (int64_t products = kernel.getFlops())
      return double(products) / productsPerSecond;
  double cost = 0;
  if (auto body = dyn_cast<dl::ScalarBodyOpInterface>(op))
    cost = body.getScalarCost() * elementsOf(op.getResult(0));
  else if (isa<dl::ReductionOpInterface>(op) || isa<dl::OwnKernelOpInterface>(op))
    for (Value operand : op.getOperands())
      cost += elementsOf(operand);
  return cost / additionsPerSecond;
}

double dlc::passes::estimatedSeconds(dl::GroupOp group) {
  if (isView(group))
    return 0;
  double bytes = 0, compute = 0;
  for (Type type : llvm::concat<const Type>(group.getOperandTypes(), group.getResultTypes()))
    bytes += double(dl::getStorageBytes(type));
  group.getBody().walk([&](Operation *op) {
    if (!op->hasTrait<OpTrait::IsTerminator>() && op->getNumResults())
      compute += computeSeconds(*op);
  });
  return std::max(bytes / bytesPerSecond, compute) + launchSeconds;
}
