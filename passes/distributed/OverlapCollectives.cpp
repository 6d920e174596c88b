#include "dlc/ir/Collective.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

// Before:  %r = dl.group kind(collective) [] (%a = %g : tensor<4xf32>) -> (tensor<4xf32>) { … }
//          %y = dl.group kind(pointwise) [4] (%a = %r : tensor<4xf32>) -> (tensor<4xf32>) { … }
// After:   %r = dl.group kind(collective) [] (%a = %g : tensor<4xf32>) -> (tensor<4xf32>) { … }
//          %w = dl.group kind(wait) [] (%a = %r : tensor<4xf32>) -> (tensor<4xf32>) {
//            %0 = dl.wait %a : tensor<4xf32>
//            dl.yield %0 : tensor<4xf32>
//          }
//          %y = dl.group kind(pointwise) [4] (%a = %w : tensor<4xf32>) -> (tensor<4xf32>) { … }

namespace dlc::passes {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVESPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;

namespace {

struct OverlapCollectivesPass : passes::impl::OverlapCollectivesPassBase<OverlapCollectivesPass> {
  void runOnOperation() override {
    if (!dl::MeshOp::find(getOperation()))
      return;
    getOperation().walk([](dl::GroupOp group) {
      if (group.getKind() == dl::GroupKind::Collective && !isWaitedFor(group))
        addWait(group);
    });
  }

  static bool isWaitedFor(dl::GroupOp collective) {
    return llvm::any_of(collective->getUsers(), [](Operation *user) {
      auto group = dyn_cast<dl::GroupOp>(user);
      return group && group.getKind() == dl::GroupKind::Wait;
    });
  }

  /// The op before which the results must be there: the first that reads them, but in front of all writes of state.
  static Operation *firstReader(dl::GroupOp collective) {
    Block &block = *collective->getBlock();
    DenseSet<Operation *> readers;
    for (Operation *user : collective->getUsers())
      readers.insert(block.findAncestorOpInBlock(*user));
    for (Operation *op = collective->getNextNode(); op != block.getTerminator(); op = op->getNextNode())
      if (readers.contains(op) || isa<dl::WriteOp>(op))
        return op;
    return block.getTerminator();
  }

  static void addWait(dl::GroupOp collective) {
    OpBuilder builder(firstReader(collective));
    Location location = collective.getLoc();
    auto wait =
        dl::GroupOp::create(builder, location, collective.getResultTypes(), collective.getResults(),
                            dl::GroupKind::Wait, ArrayRef<int64_t>(), ArrayAttr(), DenseI64ArrayAttr(), dl::SlotAttr());
    Block &body = wait.getBody().emplaceBlock();
    body.addArguments(collective.getResultTypes(), SmallVector<Location>(collective.getNumResults(), location));
    builder.setInsertionPointToStart(&body);
    auto done = dl::WaitOp::create(builder, location, body.getArguments());
    dl::YieldOp::create(builder, location, done.getResults());
    for (auto [result, waited] : llvm::zip(collective.getResults(), wait.getResults()))
      result.replaceAllUsesExcept(waited, wait);
  }
};

} // namespace
