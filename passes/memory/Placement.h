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

/// Decides which groups write variables and entry results directly, adds groups that copy where none can, and orders
/// the groups: readers of an old value before its writer, and early what frees memory. The block holds reads,
/// constants, groups, writes and the terminator; every write and every entry result then is a root with its own fixed
/// slot.
mlir::FailureOr<FixedSlots> placeState(mlir::func::FuncOp function);

/// The name of the arena of entry results (`offset` is the result's index) and of entry arguments.
constexpr llvm::StringLiteral resultArena = "result", argumentArena = "argument", activationArena = "activation",
                              constantArena = "constant";

/// Where a value lies after dl-plan-memory; null when not planned.
dl::SlotAttr slotOf(mlir::Value value);

} // namespace dlc::passes
