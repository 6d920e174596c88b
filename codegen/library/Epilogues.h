#pragma once

#include "dlc/ir/Program.h"
#include "dlc/runtime/LibraryCall.h"

#include <optional>

namespace dlc::codegen {

/// All that a group does with the result of its anchor, as a library's epilogue.
struct LibraryEpilogue {
  MatMulCall::Epilogue kind = MatMulCall::Epilogue::None;
  int64_t bias = -1; ///< operand of the kernel
  int64_t aux = -1;  ///< likewise, x of GeluGrad
};

/// The epilogue of a group with one result, if a library has it. Between ops values may be rounded to 16 bits: the
/// library does that once, at the end. `columns`: elements of the bias, along the last dim of the result.
std::optional<LibraryEpilogue> matchEpilogue(dl::GroupOp group, mlir::Operation *anchor, int64_t columns);

/// The operand of the kernel that `value` is, as it lies in memory; -1: none.
int64_t inputNumber(mlir::Value value);

} // namespace dlc::codegen
