#include "dlc/ir/Program.h"

#include "reference/Registry.h"

using namespace mlir;
using namespace dlc::dl;

static LogicalResult readVariable(ReadOp op, ReferenceOperands, ReferenceResults results, ReferenceContext context) {
  if (context.state)
    if (auto found = context.state->find(op.getVariable().str()); found != context.state->end()) {
      results[0] = found->second;
      return success();
    }
  return op.emitOpError("expects the value of ") << op.getVariable() << " in the state, got none";
}

static LogicalResult writeVariable(WriteOp op, ReferenceOperands operands, ReferenceResults, ReferenceContext context) {
  if (!context.state)
    return op.emitOpError("expects a state to write to");
  context.state->insert_or_assign(op.getVariable().str(), operands[0]);
  return success();
}

static LogicalResult evaluateGroup(GroupOp op, ReferenceOperands operands, ReferenceResults results,
                                   ReferenceContext context) {
  FailureOr<SmallVector<ReferenceTensor>> values = evaluateBlock(op.getBody().front(), operands, context);
  if (succeeded(values))
    llvm::move(*values, results.begin());
  return values;
}

void dlc::dl::registerReferenceProgram(ReferenceRegistry &registry) {
  registry.addWithContext<ReadOp>(readVariable);
  registry.addWithContext<WriteOp>(writeVariable);
  registry.addWithContext<GroupOp>(evaluateGroup);
  registry.add<StopGradientOp>([](StopGradientOp, ReferenceOperands x, ReferenceResults y) { y[0] = x[0]; });
}
