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

#endif
