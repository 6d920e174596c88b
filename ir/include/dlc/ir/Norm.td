#ifndef DLC_IR_NORM
#define DLC_IR_NORM

include "dlc/ir/DlBase.td"

class Dl_AxisNorm<string mnemonic, string text> : Dl_PureOp<mnemonic, [SameOperandsAndResultType, Kept, Diff]> {
  let summary = text;
  let arguments = (ins Dl_FloatTensor:$x, I64Attr:$axis);
  let results = (outs Dl_FloatTensor:$y);
  let assemblyFormat = "$x `axis` $axis attr-dict `:` type($y)";
  let hasVerifier = 1;
}

def Dl_SoftmaxOp : Dl_AxisNorm<"softmax", "exp(x - max) / sum(exp(x - max)) along the axis"> {
  let description = "A row of only -inf gives NaN, as in PyTorch. Adjoint: y * (g - sum(g * y)).";
}
def Dl_LogSoftmaxOp : Dl_AxisNorm<"log_softmax", "x - max - log(sum(exp(x - max))) along the axis"> {
  let description = "Adjoint: g - exp(y) * sum(g).";
}

def Dl_LayerNormOp : Dl_PureOp<"layer_norm", [AttrSizedOperandSegments, InferTypeOpAdaptor, Kept, Diff]> {
  let summary = "(x - mean) / sqrt(variance + eps) over the axes from `axis` on, times weight, plus bias";
  let description = [{
    Weight and bias have the shape of the axes that are normalized. The variance divides by the number of elements; it is
    taken from deviations from the mean. A row of equal elements is 0 before the bias.
    Adjoint: rstd * (h - mean(h) - n * mean(h * n)) with h = g * weight and n the normalized x; a backward pass needs x, mean
    and rstd = 1 / sqrt(variance + eps) only.}];
  let arguments = (ins Dl_FloatTensor:$x, Optional<Dl_FloatTensor>:$weight, Optional<Dl_FloatTensor>:$bias, I64Attr:$axis,
                       F64Attr:$eps);
  let results = (outs Dl_FloatTensor:$y);
  let assemblyFormat = [{
    $x (`weight` $weight^)? (`bias` $bias^)? `axis` $axis `eps` $eps attr-dict `:` functional-type(operands, $y)}];
}

#endif
