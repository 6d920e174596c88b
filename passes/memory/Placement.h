#pragma once

#include "dlc/ir/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc::passes {

/// Whether the group only renames its inputs' bytes, result i those of input i (a reshape, a wait): no kernel, no
/// memory.
bool isView(dl::GroupOp group);

/// Whether the group only copies its input.
bool isCopy(dl::GroupOp group);

/// The op with regions that a group of kind control holds; null for other groups.
dl::ControlOpInterface controlOf(dl::GroupOp group);

/// The operand of a control group that is the argument of a block of its op.
mlir::Value operandOf(dl::GroupOp group, mlir::BlockArgument argument);

/// A new group that copies the value, at the builder's place.
mlir::Value createCopy(mlir::OpBuilder &builder, mlir::Value value, mlir::Location location);

/// The value whose bytes a value shares through views.
mlir::Value rootOf(mlir::Value value);

/// Groups that read the bytes of a root; in use order, once each. None is a view, but for the waits of collectives that
/// read them: bytes are in use until then.
llvm::SmallVector<dl::GroupOp> readersOfBytes(mlir::Value root);

/// The roots whose bytes the group reads, as readersOfBytes counts it; once each.
llvm::SmallVector<mlir::Value> rootsReadBy(dl::GroupOp group);

/// The groups of kind wait that read results of a group of kind collective; once each.
llvm::SmallVector<dl::GroupOp> waitsOf(dl::GroupOp collective);

/// The groups of kind collective whose results a group of kind wait reads; once each.
llvm::SmallVector<dl::GroupOp> collectivesOf(dl::GroupOp wait);

/// Whether the group is a collective that leaves its results in its operands' bytes (an all_reduce), which then lie one
/// behind the other.
bool isInPlaceCollective(dl::GroupOp group);

/// Whether a result may be written over an input that dies: equal shape and element size, and each element is read only
/// by the lane that writes it, or by a reduction of that lane's row.
bool canTakeOver(dl::GroupOp group, unsigned result, unsigned input);

/// Where values that are not activations lie: variables' new values and entry results, by root.
using FixedSlots = llvm::DenseMap<mlir::Value, dl::SlotAttr>;

/// Decides which groups write variables and results of the block directly, adds groups that copy where none can, and
/// orders the groups: readers of an old value before its writer, and early what frees memory. The block holds reads,
/// constants, groups, writes and the terminator; every write and every result then is a root with its own fixed slot.
/// The first `carried` results are the next values of the arguments of the same number, whose slot they take if all
/// readers of the old value can run before.
mlir::FailureOr<FixedSlots> placeState(mlir::Block &block, unsigned carried = 0);

/// The name of the arena of results of an entry or a region (`offset` is the result's index) and of its arguments.
constexpr llvm::StringLiteral resultArena = "result", argumentArena = "argument", activationArena = "activation",
                              constantArena = "constant";

/// Where a value lies after dl-plan-memory; null when not planned.
dl::SlotAttr slotOf(mlir::Value value);

} // namespace dlc::passes
