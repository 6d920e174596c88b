#ifndef DLC_IR_RANDOM
#define DLC_IR_RANDOM

include "dlc/ir/DlBase.td"

// Counter-based: each element is a function of (seed, offset, its index) alone, so the bits do not depend on threads,
// on how a step is cut, or on the target. J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011.
def Dl_PhiloxOp : Dl_PureOp<"philox", [CostlyBody, NonDifferentiable, AllTypesMatch<["seed", "offset", "index"]>]> {
  let summary = "Philox 4x32-10 with key `seed` and counter (`index`, `offset`), each as (low word, high word)";
  let description = [{
    i32: word 0 of the four; i64: word 0 above word 1.
    ```mlir
    %y = dl.philox %seed, %offset, %index : tensor<8xi64> to tensor<8xi32>
    ```}];
  let arguments = (ins RankedTensorOf<[I64]>:$seed, RankedTensorOf<[I64]>:$offset, RankedTensorOf<[I64]>:$index);
  let results = (outs RankedTensorOf<[I64, I32]>:$y);
  let assemblyFormat = "$seed `,` $offset `,` $index attr-dict `:` type($index) `to` type($y)";
  let hasVerifier = 1;
}

class Dl_I64Scalar<string operand, string shaped = "y"> : TypesMatchWith<operand # " is tensor<i64>", shaped, operand,
    "::mlir::RankedTensorType::get({}, ::mlir::IntegerType::get($_self.getContext(), 64))">;

def Dl_RandomBitsOp : Dl_PureOp<"random_bits",
    [Decomposes, NonDifferentiable, Dl_I64Scalar<"seed">, Dl_I64Scalar<"offset">]> {
  let summary = "Uniform random bits: dl.philox of the row-major index of each element";
  let description = [{
    `seed` names the run, `offset` the draw within it: two draws of one step need different offsets.
    ```mlir
    %y = dl.random_bits %seed, %offset : tensor<4x8xi32>
    ```}];
  let arguments = (ins RankedTensorOf<[I64]>:$seed, RankedTensorOf<[I64]>:$offset);
  let results = (outs RankedTensorOf<[I64, I32]>:$y);
  let assemblyFormat = "$seed `,` $offset attr-dict `:` type($y)";
  let hasVerifier = 1;
}

def Dl_DropoutOp : Dl_PureOp<"dropout", [Decomposes, Diff, AllTypesMatch<["x", "y"]>, Dl_I64Scalar<"seed", "x">,
    Dl_I64Scalar<"offset", "x">]> {
  let summary = "x / (1 - p), or 0 for elements drawn with probability `p`";
  let description = [{
    An element is 0 where its word of dl.random_bits, unsigned, is below p 2^32. So the mask is a function of (seed, offset, index),
    and the adjoint draws it again instead of keeping it. N. Srivastava et al., "Dropout", JMLR 2014.
    ```mlir
    %y = dl.dropout %x seed %seed offset %offset p 0.1 : tensor<4x8xf32>
    ```}];
  let arguments = (ins Dl_FloatTensor:$x, RankedTensorOf<[I64]>:$seed, RankedTensorOf<[I64]>:$offset, F64Attr:$p);
  let results = (outs Dl_FloatTensor:$y);
  let assemblyFormat = "$x `seed` $seed `offset` $offset `p` $p attr-dict `:` type($x)";
  let hasVerifier = 1;
  let precision = "follow";
}

#endif
