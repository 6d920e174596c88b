#ifndef DLC_IR_LOSSSCALE
#define DLC_IR_LOSSSCALE

include "dlc/ir/DlBase.td"

// What stands between gradients and their use where the loss was multiplied by a scale, so that gradients in 16 bits stay in
// range; the rules are those of PyTorch's GradScaler. P. Micikevicius et al., "Mixed precision training", ICLR 2018.
class Dl_Scaling<string mnemonic, string text, list<Trait> traits = []>
    : Dl_PureOp<mnemonic, !listconcat([InferTypeOpAdaptor, Decomposes, NonDifferentiable], traits)> {
  let summary = text;
  let hasVerifier = 1;
}

def Dl_UnscaleOp : Dl_Scaling<"unscale", "A gradient without the scale of its loss, and whether all of it is finite"> {
  let description = [{
    y = g * (1 / scale), the inverse taken in f64 and rounded to the type of g; `finite` is of g as it came.
    ```mlir
    %y, %finite = dl.unscale %g scale %s : (tensor<4x8xf32>, tensor<f32>) -> (tensor<4x8xf32>, tensor<i1>)
    ```}];
  let arguments = (ins Dl_FloatTensor:$g, Dl_FloatTensor:$scale);
  let results = (outs Dl_FloatTensor:$y, Dl_BoolTensor:$finite);
  let assemblyFormat = "$g `scale` $scale attr-dict `:` functional-type(operands, results)";
}

def Dl_UpdateScaleOp : Dl_Scaling<"update_scale", "The scale for the next step, and how many steps it has been for"> {
  let description = [{
    After a step whose gradients were not all finite (`found`): scale * backoff, and count 0. Else the count is one more; at
    `interval` it is 0 again and the scale times `growth`, unless that is not finite.
    ```mlir
    %s1, %n1 = dl.update_scale %s, %n found %f growth 2.0 backoff 0.5 interval 2000
        : (tensor<f32>, tensor<i64>, tensor<i1>) -> (tensor<f32>, tensor<i64>)
    ```}];
  let arguments = (ins Dl_FloatTensor:$scale, RankedTensorOf<[I64]>:$count, Dl_BoolTensor:$found, F64Attr:$growth,
                       F64Attr:$backoff, I64Attr:$interval);
  let results = (outs Dl_FloatTensor:$new_scale, RankedTensorOf<[I64]>:$new_count);
  let assemblyFormat = [{
    $scale `,` $count `found` $found `growth` $growth `backoff` $backoff `interval` $interval attr-dict `:`
    functional-type(operands, results)}];
}

def Dl_ClipFactorOp : Dl_Scaling<"clip_factor", "The norm of several tensors as of one vector, and what to scale them by"> {
  let description = [{
    norm = sqrt(sum of squared `norms`) in f64; factor = min(1, max_norm / (norm + 1e-6)), PyTorch's clip_grad_norm_. NaN stays.
    ```mlir
    %norm, %factor = dl.clip_factor %a, %b max_norm %m : (tensor<f32>, tensor<f32>, tensor<f64>) -> (tensor<f32>, tensor<f32>)
    ```}];
  let arguments = (ins Variadic<Dl_FloatTensor>:$norms, RankedTensorOf<[F64]>:$max_norm);
  let results = (outs Dl_FloatTensor:$norm, Dl_FloatTensor:$factor);
  let assemblyFormat = "$norms `max_norm` $max_norm attr-dict `:` functional-type(operands, results)";
}

#endif
