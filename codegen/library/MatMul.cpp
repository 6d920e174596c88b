// Contractions that are one product of matrices, or a batch of them: calls of cuBLASLt.
//
//   dl.group kind(contract) { dot_general, broadcast bias, add, relu }  =>  one call with the epilogue relu_bias
//   dl.group kind(contract) { dot_general, what else }                  =>  a call that leaves the product of f32 in
//                                                                           workspace, and a launch that reads it
#include "dlc/ir/MatMul.h"

#include "dlc/ir/ContractionDims.h"
#include "dlc/ir/Widen.h"
#include "driver/MeshDescription.h"
#include "kernels/GroupAnalysis.h"
#include "library/Epilogues.h"
#include "library/LibraryRegistry.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

using Stride = int64_t dl::ContractionAxis::*;

/// One role's loop as a library sees it.
struct Loop {
  int64_t extent = 1;
  const dl::ContractionAxis *axis = nullptr;

  explicit Loop(ArrayRef<dl::ContractionAxis> axes) {
    if (!axes.empty()) {
      axis = axes.begin();
      extent = axis->extent;
    }
  }
  int64_t stride(Stride of) const { return axis ? axis->*of : 0; }
};

} // namespace

// One of both strides becomes 1, the other large enough; loops of one step have any stride.
static bool setStrides(MatMulCall::Matrix &matrix, const Loop &rows, const Loop &columns, Stride of) {
  int64_t row = rows.stride(of), column = columns.stride(of);
  if (columns.extent == 1 || column == 1) {
    matrix.columnStride = 1;
    matrix.rowStride = rows.extent == 1 ? columns.extent : row;
    if (matrix.rowStride >= columns.extent)
      return true;
  }
  if (rows.extent > 1 && row != 1)
    return false;
  matrix.rowStride = 1;
  matrix.columnStride = columns.extent == 1 ? rows.extent : column;
  return matrix.columnStride >= rows.extent;
}

// What one factor holds in memory, and where.
static bool setFactor(MatMulCall::Matrix &matrix, dl::GroupOp group, Value factor, std::string &why) {
  matrix.operand = inputNumber(factor);
  if (matrix.operand < 0) {
    why = "a factor that the group computes";
    return false;
  }
  Type element = getElementTypeOrSelf(group.getOperand(unsigned(matrix.operand)).getType());
  if (!element.isF32() && !dl::hasNarrowFloats(element)) {
    why = "elements that are not f32, f16 or bf16";
    return false;
  }
  matrix.dtype = dtypeOf(element);
  return true;
}

// Sizes, factors and strides; the result as a dense product.
static bool setProduct(MatMulCall &call, dl::GroupOp group, dl::DotGeneralOp op, std::string &why) {
  dl::ContractionDims dims = dl::ContractionDims::of(op);
  if (dims.leaves > 1) {
    why = "a sum in leaves";
    return false;
  }
  if (!dims.isMatrixProduct()) {
    why = "dimensions that are not one matrix";
    return false;
  }
  Value left = op->getOperand(0), right = op->getOperand(1);
  Stride leftStride = &dl::ContractionAxis::lhsStride, rightStride = &dl::ContractionAxis::rhsStride;
  // Without n, the rows are contiguous in the result: they become the columns.
  if (dims.n.empty()) {
    std::swap(dims.m, dims.n);
    std::swap(leftStride, rightStride);
    std::swap(left, right);
  }
  Loop batch(dims.batch), rows(dims.m), columns(dims.n), terms(dims.k);
  for (int64_t extent : {batch.extent, rows.extent, columns.extent, terms.extent})
    if (extent < 1 || extent > std::numeric_limits<int32_t>::max()) {
      why = "a dimension of " + std::to_string(extent);
      return false;
    }
  call.batch = batch.extent;
  call.rows = rows.extent;
  call.columns = columns.extent;
  call.terms = terms.extent;
  if (!setFactor(call.left, group, left, why) || !setFactor(call.right, group, right, why))
    return false;
  if (call.left.dtype != call.right.dtype) {
    why = "factors of two types";
    return false;
  }
  if (!setStrides(call.left, rows, terms, leftStride) || !setStrides(call.right, terms, columns, rightStride)) {
    why = "a matrix neither of whose dimensions is contiguous";
    return false;
  }
  call.left.batchStride = batch.stride(leftStride);
  call.right.batchStride = batch.stride(rightStride);
  call.result.rowStride = call.columns;
  call.result.batchStride = call.batch > 1 ? call.rows * call.columns : 0;
  return true;
}

// cuBLASLt splits a sum into a few parts where a result is small, each a whole result of f32; NVIDIA's own libraries
// give it 32 MiB on sm_90, and no more.
static int64_t workspaceOf(int64_t count) {
  constexpr int64_t kLeast = int64_t(1) << 20, kMost = int64_t(32) << 20, kParts = 8, kBytes = 4;
  return std::clamp(kParts * kBytes * count, kLeast, kMost);
}

// Whether the result is stored over an operand, which a library must not read then.
static bool isInPlace(dl::GroupOp group) {
  std::optional<ArrayRef<int64_t>> inPlace = group.getInPlace();
  return inPlace && llvm::any_of(*inPlace, [](int64_t input) { return input >= 0; });
}

static std::optional<LibraryPlan> planDot(dl::GroupOp group, Operation *anchor, const GpuOptions &options,
                                          std::string &why) {
  auto op = cast<dl::DotGeneralOp>(anchor);
  MatMulCall call;
  if (!setProduct(call, group, op, why))
    return {};
  LibraryPlan plan;
  plan.count = call.batch * call.rows * call.columns;
  plan.element = Float32Type::get(group.getContext());
  plan.finish = true;
  Type stored = getElementTypeOrSelf(group.getResult(0).getType());
  auto epilogue = matchEpilogue(group, anchor, call.columns);
  // cuBLASLt reads x of a gradient in rows of a multiple of 8 elements.
  constexpr int64_t kAuxColumns = 8;
  if (epilogue && epilogue->kind == MatMulCall::Epilogue::GeluGrad && call.columns % kAuxColumns != 0)
    epilogue.reset();
  if (epilogue && !isInPlace(group) && (stored.isF32() || dtypeOf(stored) == call.left.dtype)) {
    plan.finish = false;
    plan.element = stored;
    call.epilogue = epilogue->kind;
    call.bias = epilogue->bias;
    call.aux = epilogue->aux;
  }
  call.result.dtype = dtypeOf(plan.element);
  call.result.operand = group.getNumOperands() + (plan.finish ? group.getNumResults() : 0);
  call.tf32 = options.tf32 && call.left.dtype == DType::F32;
  Type factor = getElementTypeOrSelf(group.getOperand(unsigned(call.left.operand)).getType());
  plan.factor = call.tf32 ? Type(FloatTF32Type::get(group.getContext())) : factor;
  plan.multiplyAdds = double(plan.count) * double(call.terms);
  plan.call.what = call;
  planWorkspace(plan, group, workspaceOf(plan.count));
  // Memory is planned before it is known whether the result goes over x.
  if (call.aux >= 0)
    plan.workspaceBytes += int64_t(llvm::alignTo<kWorkspaceAlignment>(uint64_t(plan.count) * sizeof(float)));
  return plan;
}

void codegen::registerMatMulLibraries(LibraryRegistry &registry) {
  registry.add<dl::DotGeneralOp>({planDot, &GpuOptions::matMul, "MatMul"});
}
