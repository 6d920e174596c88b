#pragma once

#include "kernels/KernelBuilder.h"

namespace dlc::codegen {

/// Loads and stores through `!llvm.ptr` of any address space: what targets with plain pointers share.
class PointerKernelBuilder : public KernelBuilder {
public:
  mlir::OpBuilder &getBuilder() override { return builder; }
  mlir::Location getLoc() override { return location; }
  mlir::Value load(Memory memory, mlir::Value offset, int64_t stride, const Lane &lane) override;
  void store(Memory memory, mlir::Value offset, const Lane &lane, mlir::Value value) override;

protected:
  PointerKernelBuilder(mlir::MLIRContext *context, mlir::Location location) : builder(context), location(location) {}

  /// Bytes that the address of `width` consecutive elements is known to be a multiple of.
  virtual unsigned alignmentOf(const Memory &memory, int64_t width);
  /// A constant array in `symbols`, an op with a symbol table, and a pointer to it at the insertion point.
  Memory constantIn(mlir::Operation *symbols, mlir::DenseElementsAttr values, unsigned addressSpace);
  mlir::Value i64(int64_t value);
  mlir::Value address(const Memory &memory, mlir::Value offset);
  /// The type of an element in memory: 16-bit floats are integers there, for which every target has all loads.
  static mlir::Type memoryType(mlir::Type element);
  static int64_t bytesOf(mlir::Type element);

  mlir::OpBuilder builder;
  mlir::Location location;

private:
  mlir::Value loadVector(const Memory &memory, mlir::Value offset, int64_t width, mlir::Value mask);
  mlir::Value loadEveryOther(const Memory &memory, mlir::Value offset, const Lane &lane);
  mlir::Value fromMemory(mlir::Value value, const Memory &memory);
  mlir::Value toMemory(mlir::Value value, const Memory &memory);
};

} // namespace dlc::codegen
