#include "dlc/ir/Program.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

// Before:  dl.write @w, %v : tensor<4xf32>
//          %w = dl.read @w : tensor<4xf32>
//          %u = dl.add %w, %x : tensor<4xf32>
//          dl.write @w, %u : tensor<4xf32>
// After:   %w = dl.stop_gradient %v : tensor<4xf32>
//          %u = dl.add %w, %x : tensor<4xf32>
//          dl.write @w, %u : tensor<4xf32>

namespace dlc::passes {
#define GEN_PASS_DEF_FORWARDSTATEPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;

namespace {

/// What is known of one variable while the entry is walked.
struct VariableState {
  Value initial;     // the one read at the top
  dl::WriteOp write; // the last write
  Value written;     // what a read sees after it, created by the first such read
};

struct ForwardStatePass : passes::impl::ForwardStatePassBase<ForwardStatePass> {
  void runOnOperation() override {
    WalkResult verified = getOperation().walk([&](Operation *op) {
      return isa<dl::ReadOp, dl::WriteOp>(op) ? WalkResult(verifyPlace(op)) : WalkResult::advance();
    });
    if (verified.wasInterrupted())
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        forward(function.getBody().front());
  }

  static LogicalResult verifyPlace(Operation *op) {
    auto function = dyn_cast<func::FuncOp>(op->getParentOp());
    if (!function)
      return op->emitOpError("expects to be in the top block of an entry, got a place inside '")
             << op->getParentOp()->getName() << "'; pass the value in as an operand";
    if (!function->hasAttr("dl.entry"))
      return op->emitOpError("expects to be in an entry, got function @") << function.getName() << " without dl.entry";
    if (!function.getBody().hasOneBlock())
      return op->emitOpError("expects an entry of one block, got ") << function.getBody().getBlocks().size();
    return success();
  }

  static void forward(Block &block) {
    llvm::MapVector<StringAttr, VariableState> variables;
    Operation *lastRead = nullptr;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto read = dyn_cast<dl::ReadOp>(op)) {
        forwardRead(read, variables[read.getVariableAttr().getAttr()], lastRead);
      } else if (auto write = dyn_cast<dl::WriteOp>(op)) {
        VariableState &state = variables[write.getVariableAttr().getAttr()];
        if (state.write)
          state.write.erase();
        state.write = write;
        state.written = {};
      }
    }
    for (auto &[name, state] : variables) {
      if (!state.write)
        continue;
      if (state.initial && withoutStops(state.write.getValue()) == state.initial)
        state.write.erase();
      else
        state.write->moveBefore(block.getTerminator());
    }
  }

  static void forwardRead(dl::ReadOp read, VariableState &state, Operation *&lastRead) {
    if (state.write && !state.written) {
      OpBuilder builder(read);
      state.written = dl::StopGradientOp::create(builder, read.getLoc(), state.write.getValue());
    }
    if (Value known = state.write ? state.written : state.initial) {
      read.replaceAllUsesWith(known);
      read.erase();
      return;
    }
    state.initial = read.getValue();
    if (lastRead)
      read->moveAfter(lastRead);
    else
      read->moveBefore(&read->getBlock()->front());
    lastRead = read;
  }

  static Value withoutStops(Value value) {
    while (auto stop = value.getDefiningOp<dl::StopGradientOp>())
      value = stop.getX();
    return value;
  }
};

} // namespace
