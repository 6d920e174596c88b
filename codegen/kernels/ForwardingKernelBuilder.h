#pragma once

#include "kernels/KernelBuilder.h"

namespace dlc::codegen {

/// Passes everything on to another builder; the base of those that change a part.
class ForwardingKernelBuilder : public KernelBuilder {
public:
  mlir::OpBuilder &getBuilder() override { return whole.getBuilder(); }
  mlir::Location getLoc() override { return whole.getLoc(); }
  int64_t lanesOf(mlir::Type element) override { return whole.lanesOf(element); }
  Memory operand(unsigned i, mlir::Type element) override { return whole.operand(i, element); }
  Memory workspace(int64_t offset, mlir::Type element) override { return whole.workspace(offset, element); }
  Memory scratch(int64_t elements, mlir::Type element) override { return whole.scratch(elements, element); }
  Memory constantData(mlir::DenseElementsAttr values) override { return whole.constantData(values); }
  void parallelRange(int64_t extent, int64_t multiple, double nanoseconds,
                     llvm::function_ref<void(mlir::Value lo, mlir::Value hi)> body) override {
    whole.parallelRange(extent, multiple, nanoseconds, body);
  }
  mlir::Value load(Memory memory, mlir::Value offset, int64_t stride, const Lane &lane) override {
    return whole.load(memory, offset, stride, lane);
  }
  void store(Memory memory, mlir::Value offset, const Lane &lane, mlir::Value value) override {
    whole.store(memory, offset, lane, value);
  }

protected:
  explicit ForwardingKernelBuilder(KernelBuilder &whole) : whole(whole) {}

  KernelBuilder &whole;
};

} // namespace dlc::codegen
