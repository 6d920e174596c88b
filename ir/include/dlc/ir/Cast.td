#ifndef DLC_IR_CAST
#define DLC_IR_CAST

include "dlc/ir/DlBase.td"

def Dl_CastOp : Dl_PureOp<"cast", [Body, FoldsByReference, DiffSome, PassesPartials]> {
  let summary = "x in another element type";
  let description = [{
    Float to integer: toward zero, saturating, NaN gives 0. Float to float: nearest even. Integer to integer: wraps.
    To i1: x != 0; from i1: 0 or 1.
    ```mlir
    %y = dl.cast %x : tensor<4x8xi64> to tensor<4x8xf32>
    ```}];
  let arguments = (ins Dl_Tensor:$x);
  let results = (outs Dl_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif
