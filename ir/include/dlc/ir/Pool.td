#ifndef DLC_IR_POOL
#define DLC_IR_POOL

include "dlc/ir/DlBase.td"

class Dl_Pool<string mnemonic, string text, dag operands, dag extra, string head, list<Trait> traits>
    : Dl_PureOp<mnemonic, !listconcat([OwnKernel, Shards], traits)> {
  let precision = "full";
  let summary = text;
  let arguments = !con(operands, (ins DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$padding_lo, DenseI64ArrayAttr:$padding_hi, UnitAttr:$ceil_mode), extra);
  let results = (outs Dl_FloatTensor:$y);
  let assemblyFormat = head # [{
    `kernel` $kernel `strides` $strides `padding_lo` $padding_lo `padding_hi` $padding_hi
    (`ceil_mode` $ceil_mode^)? attr-dict `:` functional-type(operands, $y)}];
  let extraClassDeclaration = [{
    /// Extents, windows and padding; valid once the op is verified.
    ::dlc::dl::PoolDims getDims();
  }];
}

def Dl_MaxPoolOp : Dl_Pool<"max_pool", "Maximum over 2-D windows of NCHW; NaN wins", (ins Dl_FloatTensor:$x), (ins),
    "$x", [InferTypeOpAdaptor, Diff]> {
  let precision = "follow";
  let description = [{
    Window i starts at i*stride - padding_lo; elements outside x do not take part. padding < kernel, so a window always
    holds an element. Extent (in + lo + hi - kernel) / stride + 1, rounded down, or with ceil_mode up; a last window that
    would start behind x is dropped.}];
}

def Dl_MaxPoolGradOp : Dl_Pool<"max_pool_grad", "Gradient of max_pool(x): dy goes to the first maximum of each window",
    (ins Dl_FloatTensor:$x, Dl_FloatTensor:$dy), (ins), "$x `,` $dy", [InferTypeOpAdaptor, DiffSome]> {
  let description = [{
    First in row-major order of the window; a NaN counts as maximum, the first NaN wins. An element that wins several windows
    gets the sum, in row-major order of the windows. Linear in dy; its derivative by x is 0.}];
}

def Dl_AvgPoolOp : Dl_Pool<"avg_pool", "Average over 2-D windows of NCHW", (ins Dl_FloatTensor:$x),
    (ins UnitAttr:$count_include_pad), "$x (`count_include_pad` $count_include_pad^)?", [InferTypeOpAdaptor, Diff]> {
  let description = [{
    Windows as for max_pool. The divisor is the number of the window's elements inside x, with count_include_pad inside x
    and its padding; what ceil_mode adds behind the padding never counts (as in PyTorch).}];
}

def Dl_AvgPoolGradOp : Dl_Pool<"avg_pool_grad", "Gradient of avg_pool: dy / divisor added over each window",
    (ins Dl_FloatTensor:$dy), (ins UnitAttr:$count_include_pad), "$dy (`count_include_pad` $count_include_pad^)?", [Diff]> {
  let description = "The result type is avg_pool's operand type. Windows are added in row-major order.";
  let hasVerifier = 1;
}

#endif
