#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dlc::codegen {

/// A run of `width` consecutive positions of the innermost loop. `mask` (vector of i1) is null when all are live.
struct Lane {
  int64_t width = 0; ///< 0: a scalar position
  mlir::Value mask = {};
};

/// A pointer to a kernel operand or to workspace, and the element type in memory (i1 is one byte, 0 or 1).
struct Memory {
  mlir::Value pointer; ///< !llvm.ptr, of any address space
  mlir::Type element;
  int64_t divisor = 1;    ///< what every offset used with this is known to be a multiple of, in elements
  mlir::Type narrow = {}; ///< of f32: the 16-bit type in memory, if that is one

  mlir::Type stored() const { return narrow ? narrow : element; }
};

/// What a kernel emitter writes against, whatever the target. A kernel is a sequence of parallel phases; nothing but
/// memory passes from one phase to the next.
class KernelBuilder {
public:
  virtual ~KernelBuilder() = default;

  virtual mlir::OpBuilder &getBuilder() = 0;
  virtual mlir::Location getLoc() = 0;
  /// Natural vector width for this element type on the target.
  virtual int64_t lanesOf(mlir::Type element) = 0;

  /// Operand `i` of the kernel: the group's inputs, then its results. Only inside a phase. As f32, one of 16-bit floats
  /// is converted when read and rounded when written.
  virtual Memory operand(unsigned i, mlir::Type element) = 0;
  /// `offset` bytes into the kernel's workspace, 64-byte aligned. Only inside a phase.
  virtual Memory workspace(int64_t offset, mlir::Type element) = 0;
  /// Memory of the running thread that lives until the phase ends; a few KiB. Only inside a phase.
  virtual Memory scratch(int64_t elements, mlir::Type element) = 0;
  /// Read-only data. Only inside a phase.
  virtual Memory constantData(mlir::DenseElementsAttr values) = 0;

  /// One phase: iterations [0, extent) in any partition into ranges of multiples of `multiple`, on any threads; `body`
  /// emits the code of one range [lo, hi), i64. `nanoseconds` is the estimated cost of an iteration: the phase runs on
  /// the calling thread alone when the whole is too short to share.
  virtual void parallelRange(int64_t extent, int64_t multiple, double nanoseconds,
                             llvm::function_ref<void(mlir::Value lo, mlir::Value hi)> body) = 0;

  /// Element `offset` (i64, in elements) for each lane: lane i reads offset + i * stride. Stride 0 reads one element
  /// and splats it, whatever the mask; a mask is allowed for strides 0, 1 and 2 only, and masked lanes read as 0.
  /// Converts from memory to compute type.
  virtual mlir::Value load(Memory memory, mlir::Value offset, int64_t stride, const Lane &lane) = 0;
  /// Stride 1. Converts from compute to memory type.
  virtual void store(Memory memory, mlir::Value offset, const Lane &lane, mlir::Value value) = 0;
};

} // namespace dlc::codegen
