#pragma once

#include "dlc/ir/Program.h"

namespace dlc::passes {

/// Whether two slots have bytes in common.
bool overlap(dl::SlotAttr a, dl::SlotAttr b);

/// The collectives that have started and not ended, with the bytes that are theirs until then; from the slots of a
/// planned module alone.
class UnderWay {
public:
  /// The collective starts; its operands lie, and its results stay, where it takes them. Gives the bytes it writes. One
  /// that no one waits for is done at once.
  mlir::FailureOr<llvm::SmallVector<dl::SlotAttr>> start(dl::GroupOp collective);
  void end(dl::GroupOp wait);

  /// Another group runs meanwhile.
  mlir::LogicalResult check(dl::GroupOp group, llvm::ArrayRef<dl::SlotAttr> reads,
                            llvm::ArrayRef<dl::SlotAttr> writes) const;
  mlir::LogicalResult checkNone() const;

private:
  struct Exchange {
    dl::GroupOp group;
    llvm::SmallVector<dl::SlotAttr> reads, writes;
  };
  llvm::SmallVector<Exchange> exchanges;
};

} // namespace dlc::passes
