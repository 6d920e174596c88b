#ifndef DLC_IR_MATMUL
#define DLC_IR_MATMUL

include "dlc/ir/DlBase.td"

def Dl_DotGeneralOp : Dl_PureOp<"dot_general", [InferTypeOpAdaptor, Diff, ShardsItself, OwnKernel]> {
  let precision = "low";
  let summary = "Sum of products over the contracted dimensions, for each batch and pair of free dimensions";
  let description = [{
    y[batch…, lhs free…, rhs free…] = sum over k of a[…] * b[…]. Dimension lhs_batch[i] pairs with rhs_batch[i] and
    lhs_contract[i] with rhs_contract[i] (equal extents); batch dimensions come in the order listed, free ones ascending.
    k runs in row-major order of the contracted dimensions as listed. A sum over an empty k is 0. Floats only.
    `leaves`, a power of two, fixes an order of the sum that blocks of the first contracted dimension can share: that many
    leaves of equally many of its indices (the last ones may be shorter or empty), each summed as a dot_general of its own,
    then added as the balanced binary tree over their numbers.
    ```mlir
    %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    ```}];
  let arguments = (ins Dl_FloatTensor:$a, Dl_FloatTensor:$b, DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contract, DenseI64ArrayAttr:$rhs_contract, DefaultValuedAttr<I64Attr, "1">:$leaves);
  let results = (outs Dl_FloatTensor:$y);
  let assemblyFormat = [{
    $a `,` $b `batch` $lhs_batch `x` $rhs_batch `contract` $lhs_contract `x` $rhs_contract
    (`leaves` `` `(` $leaves^ `)`)? attr-dict
    `:` functional-type(operands, $y)}];
  let hasVerifier = 1;
}

#endif
