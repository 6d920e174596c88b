#ifndef DLC_IR_LOSS
#define DLC_IR_LOSS

include "dlc/ir/DlAttrs.td"

def Dl_CrossEntropyOp : Dl_PureOp<"cross_entropy", [InferTypeOpAdaptor, Kept, Diff]> {
  let precision = "full";
  let summary = "Cross-entropy of logits [N, C] against class indices [N]";
  let description = [{
    loss[i] = (1 - s) * -logp[i, target[i]] + s * mean over c of -logp[i, c], logp = log_softmax(logits), s = label_smoothing.
    A row whose target is ignore_index, or outside [0, C), has loss 0 and is not counted. reduction: mean over the counted
    rows (NaN if there are none) or sum, both of rank 0; none: [N].}];
  let arguments = (ins Dl_FloatTensor:$logits, RankedTensorOf<[I64]>:$target,
                       DefaultValuedAttr<Dl_LossReductionAttr, "::dlc::dl::LossReduction::Mean">:$reduction,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing, DefaultValuedAttr<I64Attr, "-100">:$ignore_index);
  let results = (outs Dl_FloatTensor:$loss);
  let assemblyFormat = "$logits `,` $target attr-dict `:` functional-type(operands, $loss)";
}

def Dl_MseOp : Dl_PureOp<"mse", [NamesBothTypes, InferTypeOpAdaptor, Decomposes]> {
  let precision = "full";
  let summary = "Squared difference (x - target)^2: its mean, sum, or (none) each";
  let arguments = (ins Dl_FloatTensor:$x, Dl_FloatTensor:$target,
                       DefaultValuedAttr<Dl_LossReductionAttr, "::dlc::dl::LossReduction::Mean">:$reduction);
  let results = (outs Dl_FloatTensor:$loss);
  let assemblyFormat = "$x `,` $target attr-dict `:` functional-type(operands, $loss)";
}

#endif
