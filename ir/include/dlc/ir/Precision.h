#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace dlc::dl {

/// What an op's float operands and results are where arithmetic in 16 bits is allowed: the op's word in its record.
enum class Precision {
  Low,    ///< 16 bits: products, whose sums are taken in f32
  Full,   ///< f32: sums, norms, losses, functions of wide range
  Follow, ///< as its operands are
  Keeps   ///< as written
};
/// Ops of other dialects keep theirs.
Precision precisionOf(mlir::Operation *op);

/// "low", "full", "follow", "keeps".
llvm::StringRef name(Precision precision);

/// The attribute of ops that were written where arithmetic in 16 bits is allowed: bf16 or f16, the type to use.
inline constexpr llvm::StringLiteral kAutocastAttr = "dl.autocast";
/// Of an entry's argument or result in f32: the type of 16 bits that holds its values exactly.
inline constexpr llvm::StringLiteral kExactAttr = "dl.exact";
/// Of a cast that a pass has inserted: why.
inline constexpr llvm::StringLiteral kReasonAttr = "dl.reason";

/// The type of the op's `dl.autocast`; null without one. An error when it is neither bf16 nor f16.
llvm::FailureOr<mlir::FloatType> autocastTypeOf(mlir::Operation *op);

} // namespace dlc::dl
