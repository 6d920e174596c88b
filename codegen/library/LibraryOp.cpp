#include "library/LibraryOp.h"

#include "driver/MeshDescription.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

Type elementOf(MLIRContext *context, DType dtype) {
  return dtype == DType::F32   ? Type(Float32Type::get(context))
         : dtype == DType::F16 ? Type(Float16Type::get(context))
                               : Type(BFloat16Type::get(context));
}

rt::LibraryMatrixAttr attributeOf(MLIRContext *context, const MatMulCall::Matrix &matrix) {
  return rt::LibraryMatrixAttr::get(context, matrix.operand, matrix.offset, elementOf(context, matrix.dtype),
                                    matrix.rowStride, matrix.columnStride, matrix.batchStride);
}

Attribute attributeOf(MLIRContext *context, const MatMulCall &call) {
  return rt::MatMulCallAttr::get(context, call.batch, call.rows, call.columns, call.terms,
                                 attributeOf(context, call.left), attributeOf(context, call.right),
                                 attributeOf(context, call.result), rt::Epilogue(call.epilogue), call.bias, call.aux,
                                 call.tf32);
}

rt::LibraryTensorAttr attributeOf(MLIRContext *context, const ConvCall::Tensor &tensor) {
  return rt::LibraryTensorAttr::get(context, tensor.operand, tensor.offset,
                                    DenseI64ArrayAttr::get(context, tensor.extents),
                                    DenseI64ArrayAttr::get(context, tensor.strides));
}

Attribute attributeOf(MLIRContext *context, const ConvCall &call) {
  return rt::ConvCallAttr::get(context, rt::ConvKind(call.kind), elementOf(context, call.dtype),
                               attributeOf(context, call.input), attributeOf(context, call.weight),
                               attributeOf(context, call.output), DenseI64ArrayAttr::get(context, call.strides),
                               DenseI64ArrayAttr::get(context, call.padding),
                               DenseI64ArrayAttr::get(context, call.dilation), call.groups, call.tf32);
}

MatMulCall::Matrix matrixOf(rt::LibraryMatrixAttr matrix) {
  return {matrix.getOperand(),   matrix.getOffset(),       dtypeOf(matrix.getElement()),
          matrix.getRowStride(), matrix.getColumnStride(), matrix.getBatchStride()};
}

MatMulCall callOf(rt::MatMulCallAttr call) {
  return {call.getBatch(),
          call.getRows(),
          call.getColumns(),
          call.getTerms(),
          matrixOf(call.getLeft()),
          matrixOf(call.getRight()),
          matrixOf(call.getResult()),
          MatMulCall::Epilogue(call.getEpilogue()),
          call.getBias(),
          call.getAux(),
          call.getTf32()};
}

std::vector<int64_t> listOf(DenseI64ArrayAttr list) { return {list.asArrayRef().begin(), list.asArrayRef().end()}; }

ConvCall::Tensor tensorOf(rt::LibraryTensorAttr tensor) {
  return {tensor.getOperand(), tensor.getOffset(), listOf(tensor.getExtents()), listOf(tensor.getStrides())};
}

ConvCall callOf(rt::ConvCallAttr call) {
  return {ConvCall::Kind(call.getKind()),
          dtypeOf(call.getElement()),
          tensorOf(call.getInput()),
          tensorOf(call.getWeight()),
          tensorOf(call.getOutput()),
          listOf(call.getStrides()),
          listOf(call.getPadding()),
          listOf(call.getDilation()),
          call.getGroups(),
          call.getTf32()};
}

} // namespace

rt::LibraryOp codegen::createLibraryOp(OpBuilder &builder, Location loc, StringRef symbol, const LibraryCall &call) {
  Attribute what =
      std::visit([&](const auto &each) { return Attribute(attributeOf(builder.getContext(), each)); }, call.what);
  return rt::LibraryOp::create(builder, loc, symbol, what, call.workspace, call.workspaceOffset, call.workspaceBytes);
}

LibraryCall codegen::libraryCallOf(rt::LibraryOp op) {
  LibraryCall call;
  if (auto product = dyn_cast<rt::MatMulCallAttr>(op.getCall()))
    call.what = callOf(product);
  else
    call.what = callOf(cast<rt::ConvCallAttr>(op.getCall()));
  call.workspace = int64_t(op.getWorkspace());
  call.workspaceOffset = int64_t(op.getWorkspaceOffset());
  call.workspaceBytes = int64_t(op.getWorkspaceBytes());
  return call;
}

OwningOpRef<gpu::GPUModuleOp> codegen::functionsOf(gpu::GPUModuleOp kernels) {
  OwningOpRef<gpu::GPUModuleOp> copy = kernels.clone();
  for (auto call : llvm::make_early_inc_range(copy->getOps<rt::LibraryOp>()))
    call.erase();
  return copy;
}
