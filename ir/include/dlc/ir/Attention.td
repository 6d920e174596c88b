#ifndef DLC_IR_ATTENTION
#define DLC_IR_ATTENTION

include "dlc/ir/DlBase.td"

def Dl_AttentionOp : Dl_PureOp<"attention", [InferTypeOpAdaptor, Kept, Diff, Shards, OwnKernel]> {
  let precision = "low";
  let summary = "Scaled dot-product attention: softmax(scale * q k^T + mask) v, and the log-sum-exp of each row of scores";
  let description = [{
    For each batch, row i of q [batch…, T, D] and row j of k [batch…, S, D] have the score s[i, j] = scale * (q[i] . k[j]).
    A float mask [batch…, T, S] is added to the scores; with an i1 mask, and with `causal` (j <= i, also where T and S
    differ), a pair that may not attend has score -inf. Both may be given. lse[i] = log(sum over j of exp(s[i, j])) and
    y[i] = sum over j of exp(s[i, j] - lse[i]) * v[j], v [batch…, S, E]. A row that may attend to nothing gives y = 0,
    lse = -inf, and gradients of 0. With 16-bit q, lse is f32. Whether an infinity or NaN in v shows where the row may not attend is not specified.

    Adjoint (Dao et al. 2022) from lse, so that the weights are never stored: P = exp(s - lse), dv = P^T dy,
    ds = P * (dy v^T - rowsum(dy * y) + dlse), dq = scale * ds k, dk = scale * ds^T q, dmask = ds.
    ```mlir
    %y, %lse = dl.attention %q, %k, %v causal scale 0.25
        : (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x8xf32>)
    ```}];
  let arguments = (ins Dl_FloatTensor:$q, Dl_FloatTensor:$k, Dl_FloatTensor:$v,
                       Optional<RankedTensorOf<[I1, F64, F32, F16, BF16]>>:$mask, UnitAttr:$causal, F64Attr:$scale);
  let results = (outs Dl_FloatTensor:$y, Dl_FloatTensor:$lse);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`mask` $mask^)? (`causal` $causal^)? `scale` $scale attr-dict
    `:` functional-type(operands, results)}];
  let extraClassDeclaration = [{
    /// Extents; valid once the op is verified.
    ::dlc::dl::AttentionDims getDims();
  }];
}

#endif
