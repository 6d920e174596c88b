#ifndef DLC_IR_OPTIM
#define DLC_IR_OPTIM

include "dlc/ir/DlBase.td"

// Hyper-parameters are operands: changing one never compiles again. Scalar chains run in f64 and are rounded once to the
// parameter's type, as PyTorch's do.
def Dl_HyperScalar : RankedTensorOf<[F64]>;
def Dl_StepScalar : RankedTensorOf<[I64]>;

class Dl_Update<string mnemonic, string text, list<Trait> traits = []>
    : Dl_PureOp<mnemonic, !listconcat([InferTypeOpAdaptor, Decomposes, NonDifferentiable], traits)> {
  let summary = text;
  let hasVerifier = 1;
}

def Dl_SgdOp : Dl_Update<"sgd", "One step of stochastic gradient descent, PyTorch's SGD", [AttrSizedOperandSegments]> {
  let description = [{
    d = g + weight_decay * p; with momentum: buffer' = momentum * buffer + d, then d = buffer', or with nesterov
    d + momentum * buffer'; p' = p - lr * d. A buffer starts at 0, so its first value is d. Dampening is 0. The results are
    p' and, with momentum, buffer'.}];
  let arguments = (ins Dl_FloatTensor:$p, Dl_FloatTensor:$g, Dl_HyperScalar:$lr, Dl_HyperScalar:$weight_decay,
                       Optional<Dl_FloatTensor>:$buffer, Optional<Dl_HyperScalar>:$momentum, UnitAttr:$nesterov);
  let results = (outs Dl_FloatTensor:$new_p, Optional<Dl_FloatTensor>:$new_buffer);
  let assemblyFormat = [{
    $p `,` $g `lr` $lr `weight_decay` $weight_decay (`buffer` $buffer^ `momentum` $momentum)? (`nesterov` $nesterov^)?
    attr-dict `:` functional-type(operands, results)}];
}

class Dl_Adam<string mnemonic, string text> : Dl_Update<mnemonic, text> {
  let arguments = (ins Dl_FloatTensor:$p, Dl_FloatTensor:$g, Dl_FloatTensor:$m, Dl_FloatTensor:$v, Dl_StepScalar:$step,
                       Dl_HyperScalar:$lr, Dl_HyperScalar:$beta1, Dl_HyperScalar:$beta2, Dl_HyperScalar:$eps,
                       Dl_HyperScalar:$weight_decay);
  let results = (outs Dl_FloatTensor:$new_p, Dl_FloatTensor:$new_m, Dl_FloatTensor:$new_v);
  let assemblyFormat = [{
    $p `,` $g `,` $m `,` $v `step` $step `lr` $lr `betas` $beta1 `,` $beta2 `eps` $eps `weight_decay` $weight_decay attr-dict
    `:` functional-type(operands, results)}];
}

def Dl_AdamOp : Dl_Adam<"adam", "One step of Adam with L2 decay, PyTorch's Adam"> {
  let description = [{
    d = g + weight_decay * p; m' = m + (1 - beta1) * (d - m); v' = beta2 * v + (1 - beta2) * d * d;
    p' = p - lr / (1 - beta1^step) * m' / (sqrt(v') / sqrt(1 - beta2^step) + eps). `step` counts this step: 1 at first.}];
}
def Dl_AdamWOp : Dl_Adam<"adamw", "One step of Adam with decoupled decay, PyTorch's AdamW"> {
  let description = "As adam with d = g, and p * (1 - lr * weight_decay) in place of p.";
}

def Dl_RmsPropOp : Dl_Update<"rmsprop", "One step of RMSprop, PyTorch's RMSprop", [AttrSizedOperandSegments]> {
  let description = [{
    d = g + weight_decay * p; s' = alpha * s + (1 - alpha) * d * d; r = sqrt(s') + eps, or with the average gradient
    a' = a + (1 - alpha) * (d - a) (centered) r = sqrt(max(s' - a' * a', 0)) + eps; then p' = p - lr * d / r, or with momentum
    b' = momentum * b + d / r and p' = p - lr * b'. The results are p', s', then a' and b' as far as there are such.}];
  let arguments = (ins Dl_FloatTensor:$p, Dl_FloatTensor:$g, Dl_FloatTensor:$square, Dl_HyperScalar:$lr,
                       Dl_HyperScalar:$alpha, Dl_HyperScalar:$eps, Dl_HyperScalar:$weight_decay,
                       Optional<Dl_FloatTensor>:$average, Optional<Dl_FloatTensor>:$buffer,
                       Optional<Dl_HyperScalar>:$momentum);
  let results = (outs Dl_FloatTensor:$new_p, Dl_FloatTensor:$new_square, Variadic<Dl_FloatTensor>:$new_states);
  let assemblyFormat = [{
    $p `,` $g `,` $square `lr` $lr `alpha` $alpha `eps` $eps `weight_decay` $weight_decay (`average` $average^)?
    (`buffer` $buffer^ `momentum` $momentum)? attr-dict `:` functional-type(operands, results)}];
}

#endif
