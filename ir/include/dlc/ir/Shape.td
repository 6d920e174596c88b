#ifndef DLC_IR_SHAPE
#define DLC_IR_SHAPE

include "dlc/ir/DlBase.td"

class Dl_Move<string mnemonic, string text, list<Trait> traits = []>
    : Dl_PureOp<mnemonic, !listconcat([Moves, Diff], traits)> {
  let precision = "follow";
  let summary = text;
  let results = (outs Dl_Tensor:$y);
}

def Dl_ReshapeOp : Dl_Move<"reshape", "The same elements in row-major order under another shape",
    [PassesPartials]> {
  let description = "The result type is given; it has as many elements as the operand.";
  let extraClassDeclaration = "bool keepsOrder() { return true; }";
  let arguments = (ins Dl_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Dl_TransposeOp : Dl_Move<"transpose", "Dimension i of y is dimension permutation[i] of x",
    [InferTypeOpAdaptor, PassesPartials]> {
  let arguments = (ins Dl_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$x `permutation` $permutation attr-dict `:` functional-type($x, $y)";
  let hasFolder = 1;
}

def Dl_BroadcastOp : Dl_Move<"broadcast", "Repeats x along new and stretched dimensions"> {
  let description = [{
    Dimension i of x becomes dimension dims[i] of y (dims ascending). It keeps its extent, or has extent 1 and is stretched;
    the other dimensions of y are new.}];
  let arguments = (ins Dl_Tensor:$x, DenseI64ArrayAttr:$dims);
  let assemblyFormat = "$x `dims` $dims attr-dict `:` functional-type($x, $y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Dl_SliceOp : Dl_Move<"slice", "y[i] = x[starts + i * strides], up to limits (excluded)",
    [InferTypeOpAdaptor, DeclareOpInterfaceMethods<Dl_Shardable, ["passesPartial", "partitionLocal"]>]> {
  let description = "0 <= starts <= limits <= extent, strides >= 1; the extent of y is ceil((limit - start) / stride).";
  let arguments = (ins Dl_Tensor:$x, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$limits, DenseI64ArrayAttr:$strides);
  let assemblyFormat = [{
    $x `starts` $starts `limits` $limits `strides` $strides attr-dict `:` functional-type($x, $y)}];
  let hasFolder = 1;
}

def Dl_PadOp : Dl_Move<"pad", "x with `value` before (lo), behind (hi) and between (interior) its elements",
    [InferTypeOpAdaptor, Linear]> {
  let description = [{
    All three >= 0. The extent of y is lo + max(0, extent + (extent - 1) * interior) + hi; `value` has rank 0.}];
  let arguments = (ins Dl_Tensor:$x, Dl_Tensor:$value, DenseI64ArrayAttr:$lo, DenseI64ArrayAttr:$hi,
                       DenseI64ArrayAttr:$interior);
  let assemblyFormat = [{
    $x `,` $value `lo` $lo `hi` $hi `interior` $interior attr-dict `:` functional-type(operands, $y)}];
  let hasFolder = 1;
}

def Dl_ConcatOp : Dl_Move<"concat", "The inputs one behind the other along the axis",
    [InferTypeOpAdaptor, DeclareOpInterfaceMethods<Dl_Shardable, ["getShardingRule", "passesPartial"]>]> {
  let arguments = (ins Variadic<Dl_Tensor>:$inputs, I64Attr:$axis);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` functional-type($inputs, $y)";
  let hasFolder = 1;
}

def Dl_ReverseOp : Dl_Move<"reverse", "x with the order of elements along the axes reversed", [InferTypeOpAdaptor]> {
  let arguments = (ins Dl_Tensor:$x, DenseI64ArrayAttr:$axes);
  let assemblyFormat = "$x `axes` $axes attr-dict `:` functional-type($x, $y)";
  let hasFolder = 1;
}

def Dl_IotaOp : Dl_PureOp<"iota", [DeclareOpInterfaceMethods<Dl_IndexValued>, PartitionsItself, NonDifferentiable]> {
  let summary = "Each element is its index along the axis";
  let description = "The result type is given. Indices a float type cannot hold are rounded to it.";
  let arguments = (ins I64Attr:$axis);
  let results = (outs RankedTensorOf<[I64, I32, F64, F32, F16, BF16]>:$y);
  let assemblyFormat = "`axis` $axis attr-dict `:` type($y)";
  let hasVerifier = 1;
}

#endif
