#pragma once

#include "dlc/ir/Program.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc::codegen {

/// What is known of some ops, by op; `EmitterT` says how a target emits their kernels.
template <typename EmitterT>
class OpRegistry {
public:
  using Emitter = EmitterT;

  explicit OpRegistry(mlir::MLIRContext *context) : context(context) {}

  template <typename OpTy>
  void add(Emitter emitter) {
    emitters[mlir::OperationName(OpTy::getOperationName(), context)] = emitter;
  }

  /// The group's op that is registered, with its emitter; null when there is none.
  std::pair<mlir::Operation *, Emitter> anchorOf(dl::GroupOp group) const {
    for (mlir::Operation &op : group.getBody().front().without_terminator())
      if (auto found = emitters.find(op.getName()); found != emitters.end())
        return {&op, found->second};
    return {};
  }

private:
  mlir::MLIRContext *context;
  llvm::DenseMap<mlir::OperationName, Emitter> emitters;
};

} // namespace dlc::codegen
