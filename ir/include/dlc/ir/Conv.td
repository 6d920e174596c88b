#ifndef DLC_IR_CONV
#define DLC_IR_CONV

include "dlc/ir/DlBase.td"

class Dl_Conv<string mnemonic, string text, list<Trait> traits>
    : Dl_PureOp<mnemonic, !listconcat([Diff, OwnKernel], traits)> {
  let precision = "low";
  let summary = text;
  let results = (outs Dl_FloatTensor:$y);
  dag attributes = (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding_lo, DenseI64ArrayAttr:$padding_hi,
                        DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$rhs_dilation,
                        DefaultValuedAttr<I64Attr, "1">:$groups);
  let extraClassDeclaration = [{
    /// Extents, strides and padding; valid once the op is verified.
    ::dlc::dl::ConvDims getDims();
  }];
}

def Dl_ConvOp : Dl_Conv<"conv", "2-D cross-correlation, NCHW by OIHW", [InferTypeOpAdaptor, Shards]> {
  let description = [{
    y[n, o, i, j] = sum over c, p, q of x[n, c, i*sh - lh + p, j*sw - lw + q] * w[o, c, p, q], x being 0 outside: padding_lo
    (lh, lw) before, padding_hi behind. Dilation and groups other than 1 are refused.}];
  let arguments = !con((ins Dl_FloatTensor:$x, Dl_FloatTensor:$w), attributes);
  let assemblyFormat = [{
    $x `,` $w `strides` $strides `padding_lo` $padding_lo `padding_hi` $padding_hi attr-dict
    `:` functional-type(operands, $y)}];
}

def Dl_ConvInputGradOp : Dl_Conv<"conv_input_grad", "Gradient of conv by its input; also the transposed convolution", [Shards]> {
  let description = [{
    The adjoint of `x -> conv(x, w)` with the same attributes applied to dy. The result type is the input's; it decides
    among the extents that give dy's.}];
  let arguments = !con((ins Dl_FloatTensor:$dy, Dl_FloatTensor:$w), attributes);
  let assemblyFormat = [{
    $dy `,` $w `strides` $strides `padding_lo` $padding_lo `padding_hi` $padding_hi attr-dict
    `:` functional-type(operands, $y)}];
  let hasVerifier = 1;
}

def Dl_ConvWeightGradOp : Dl_Conv<"conv_weight_grad", "Gradient of conv by its weight", [ShardsItself]> {
  let description = [{
    The adjoint of `w -> conv(x, w)` with the same attributes applied to dy. The result type is the weight's. `leaves` fixes
    the order of the sum over images, as in dot_general over its first contracted dimension.}];
  let arguments = !con((ins Dl_FloatTensor:$x, Dl_FloatTensor:$dy), attributes, (ins DefaultValuedAttr<I64Attr, "1">:$leaves));
  let assemblyFormat = [{
    $x `,` $dy `strides` $strides `padding_lo` $padding_lo `padding_hi` $padding_hi
    (`leaves` `` `(` $leaves^ `)`)? attr-dict
    `:` functional-type(operands, $y)}];
  let hasVerifier = 1;
}

#endif
