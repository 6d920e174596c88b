#ifndef DLC_IR_NORM
#define DLC_IR_NORM

include "dlc/ir/DlBase.td"

class Dl_AxisNorm<string mnemonic, string text> : Dl_PureOp<mnemonic, [SameOperandsAndResultType, Kept, Diff]> {
  let precision = "full";
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
  let precision = "full";
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

def Dl_BatchNormOp : Dl_PureOp<"batch_norm", [AttrSizedOperandSegments, InferTypeOpAdaptor, Kept, Diff]> {
  let precision = "full";
  let summary = "(x - mean) / sqrt(var + eps) by channel (axis 1), times weight, plus bias";
  let description = [{
    x is [N, C, ...]; weight, bias, mean and var are [C]. With given mean and var (evaluation) y is the only result. Without
    (training) they are those of x over all axes but 1, and results after y: the variance divides by the number of elements
    and is taken from deviations from the mean. A channel of equal elements is 0 before the bias; one with an infinity or NaN
    is NaN in all results.
    The statistics are those of the whole batch also where it is spread over devices: counts and sums of the parts are added
    first, then the sums of deviations from that mean and of their squares.

    Adjoint in training: weight * rstd * (g - mean(g) - n * mean(g * n)) with rstd = 1 / sqrt(var + eps) and n = (x - mean) *
    rstd; the sums of g and g * n, which are dbias and dweight, are added over the parts first. In evaluation: weight * rstd *
    g for x, and the derivatives of the formula for mean and var.
    ```mlir
    %y, %mean, %var = dl.batch_norm %x weight %w bias %b eps 1.0e-05
        : (tensor<8x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<8x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)
    %z = dl.batch_norm %x mean %m var %v eps 1.0e-05
        : (tensor<8x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<8x3x4x4xf32>
    ```}];
  let arguments = (ins Dl_FloatTensor:$x, Optional<Dl_FloatTensor>:$weight, Optional<Dl_FloatTensor>:$bias,
                       Optional<Dl_FloatTensor>:$mean, Optional<Dl_FloatTensor>:$var, F64Attr:$eps);
  let results = (outs Dl_FloatTensor:$y, Variadic<Dl_FloatTensor>:$statistics);
  let assemblyFormat = [{
    $x (`weight` $weight^)? (`bias` $bias^)? (`mean` $mean^ `var` $var)? `eps` $eps attr-dict
    `:` functional-type(operands, results)}];
  let extraClassDeclaration = [{
    /// Whether the statistics are those of x.
    bool isTraining() { return !getMean(); }
  }];
}

#endif
