#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace dlc::dl {

/// Where every tensor in an arena starts, in bytes.
constexpr int64_t slotAlignment = 64;

/// Bytes of one element in memory: i1 takes one byte.
inline int64_t getElementBytes(mlir::Type element) { return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8); }

/// Bytes of a tensor in memory: dense, row-major, static shape.
inline int64_t getStorageBytes(mlir::Type type) {
  auto tensor = mlir::cast<mlir::RankedTensorType>(type);
  return tensor.getNumElements() * getElementBytes(tensor.getElementType());
}

/// Bytes of its slot: rounded up to the alignment.
inline int64_t getSlotBytes(mlir::Type type) { return llvm::alignTo(getStorageBytes(type), slotAlignment); }

} // namespace dlc::dl
