#ifndef DLC_IR_RTBASE
#define DLC_IR_RTBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Rt_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::dlc::rt";
  let summary = "The host program of a step: kernel calls and copies on byte ranges of arenas";
  let description = [{
    What is left of a step when every value has its place. Nothing here allocates, looks up or decides; each op is lowered
    to a few instructions over the frame of the call (runtime/Abi.h).
    ```mlir
    rt.arena @parameter.f32 class(parameter) bytes(832)
    rt.arena @activation class(activation) bytes(4096)
    rt.kernel @k0 workspace(0) {
    ^bb0(%a: tensor<4xf32>):
      %y = dl.group kind(pointwise) [4] (%x = %a : tensor<4xf32>) -> (tensor<4xf32>) {
        %0 = dl.neg %x : tensor<4xf32>
        dl.yield %0 : tensor<4xf32>
      }
      dl.yield %y : tensor<4xf32>
    }
    rt.program @step ("x": tensor<4xf32>) -> ("y": tensor<4xf32>) peak(4928) {
      %0 = rt.argument 0
      %1 = rt.result 0
      rt.launch @k0 reads(%0) writes(%1)
      rt.return
    }
    ```
    Entries, kernels and arenas live in one module with the `dl.variable`s (with slots).}];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void addProgramOps();";
  let dependentDialects = ["::dlc::dl::DlDialect"];
}

def Rt_BufferType : TypeDef<Rt_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "The name of a byte range; it owns nothing";
}
def Rt_Buffer : DialectType<Rt_Dialect, CPred<"::llvm::isa<::dlc::rt::BufferType>($_self)">, "buffer">,
                BuildableType<"::dlc::rt::BufferType::get($_builder.getContext())">;

def Rt_ArenaClass : I32EnumAttr<"ArenaClass", "what an arena's bytes are counted as", [
    I32EnumAttrCase<"Parameter", 0, "parameter">, I32EnumAttrCase<"Gradient", 1, "gradient">,
    I32EnumAttrCase<"OptimizerState", 2, "optimizer_state">, I32EnumAttrCase<"Buffer", 3, "buffer">,
    I32EnumAttrCase<"Hyper", 4, "hyper">, I32EnumAttrCase<"Counter", 5, "counter">,
    I32EnumAttrCase<"Activation", 6, "activation">, I32EnumAttrCase<"Constant", 7, "constant">,
    I32EnumAttrCase<"Coordinate", 8, "coordinate">]> {
  let cppNamespace = "::dlc::rt";
  let genSpecializedAttr = 0;
}
// What a launch that a vendor's library does computes; operands are numbers of the kernel's operands, strides are in
// elements, offsets in bytes (runtime: dlc/runtime/LibraryCall.h).
class Rt_Attr<string name, string attrMnemonic> : AttrDef<Rt_Dialect, name> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
}

def Rt_LibraryMatrixAttr : Rt_Attr<"LibraryMatrix", "matrix"> {
  let summary = "a matrix, or as many as the product has batches, in an operand of the kernel";
  let parameters = (ins "int64_t":$operand, "int64_t":$offset, "::mlir::Type":$element, "int64_t":$row_stride,
                        "int64_t":$column_stride, "int64_t":$batch_stride);
}

def Rt_Epilogue : I32EnumAttr<"Epilogue", "what a library does to each element of a product", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Bias", 1, "bias">, I32EnumAttrCase<"Relu", 2, "relu">,
    I32EnumAttrCase<"ReluBias", 3, "relu_bias">, I32EnumAttrCase<"Gelu", 4, "gelu">,
    I32EnumAttrCase<"GeluBias", 5, "gelu_bias">, I32EnumAttrCase<"GeluGrad", 6, "gelu_grad">]> {
  let cppNamespace = "::dlc::rt";
  let genSpecializedAttr = 0;
}

def Rt_MatMulCallAttr : Rt_Attr<"MatMulCall", "matmul"> {
  let summary = "a product of matrices; bias and aux are operands, -1 where there are none";
  let parameters = (ins "int64_t":$batch, "int64_t":$rows, "int64_t":$columns, "int64_t":$terms,
                        "::dlc::rt::LibraryMatrixAttr":$left, "::dlc::rt::LibraryMatrixAttr":$right,
                        "::dlc::rt::LibraryMatrixAttr":$result, EnumParameter<Rt_Epilogue>:$epilogue,
                        DefaultValuedParameter<"int64_t", "-1">:$bias, DefaultValuedParameter<"int64_t", "-1">:$aux,
                        DefaultValuedParameter<"bool", "false">:$tf32);
}

def Rt_ConvKind : I32EnumAttr<"ConvKind", "which tensor of a convolution is the result", [
    I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"InputGrad", 1, "input_grad">,
    I32EnumAttrCase<"WeightGrad", 2, "weight_grad">]> {
  let cppNamespace = "::dlc::rt";
  let genSpecializedAttr = 0;
}

def Rt_LibraryTensorAttr : Rt_Attr<"LibraryTensor", "tensor"> {
  let summary = "a tensor in an operand of the kernel";
  let parameters = (ins "int64_t":$operand, "int64_t":$offset, "::mlir::DenseI64ArrayAttr":$extents,
                        "::mlir::DenseI64ArrayAttr":$strides);
}

def Rt_ConvCallAttr : Rt_Attr<"ConvCall", "conv"> {
  let summary = "a convolution or one of its gradients";
  let parameters = (ins EnumParameter<Rt_ConvKind>:$kind, "::mlir::Type":$element,
                        "::dlc::rt::LibraryTensorAttr":$input, "::dlc::rt::LibraryTensorAttr":$weight,
                        "::dlc::rt::LibraryTensorAttr":$output, "::mlir::DenseI64ArrayAttr":$strides,
                        "::mlir::DenseI64ArrayAttr":$padding, "::mlir::DenseI64ArrayAttr":$dilation,
                        DefaultValuedParameter<"int64_t", "1">:$groups, DefaultValuedParameter<"bool", "false">:$tf32);
}

def Rt_ArenaClassAttr : EnumAttr<Rt_Dialect, Rt_ArenaClass, "arena_class"> { let assemblyFormat = "`(` $value `)`"; }

#endif
