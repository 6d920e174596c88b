#ifndef DLC_IR_ACTIVATION
#define DLC_IR_ACTIVATION

include "dlc/ir/DlAttrs.td"

def Dl_ReluOp : Dl_Unary<"relu", Dl_FloatTensor, "0 where x <= 0, else x; NaN stays", [Body, FoldsByReference, Diff]>;
def Dl_SigmoidOp : Dl_Unary<"sigmoid", Dl_FloatTensor, "1 / (1 + exp(-x))", [CostlyBody, Diff]>;
def Dl_SiluOp : Dl_Unary<"silu", Dl_FloatTensor, "x * sigmoid(x)", [CostlyBody, Diff]>;
def Dl_SoftplusOp : Dl_Unary<"softplus", Dl_FloatTensor, "log(1 + exp(x)), without overflow or cancellation", [CostlyBody, Diff]> {
  let precision = "full";
}

def Dl_GeluOp : Dl_Unary<"gelu", Dl_FloatTensor, "x times the normal distribution function of x", [CostlyBody, Diff]> {
  let description = [{
    approximate none: x/2 (1 + erf(x/√2)); tanh: x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))).
    ```mlir
    %y = dl.gelu %x approximate(tanh) : tensor<4x8xf32>
    ```}];
  let arguments = (ins Dl_FloatTensor:$x, DefaultValuedAttr<Dl_GeluApproximation,
                       "::dlc::dl::GeluApproximation::None">:$approximate);
  let assemblyFormat = "$x (`approximate` `(` $approximate^ `)`)? attr-dict `:` type($y)";
}

def Dl_ClampOp : Dl_Unary<"clamp", Dl_FloatTensor, "x limited to [min, max]; NaN stays", [Body, FoldsByReference, Diff]> {
  let description = [{
    A bound that is not given does not limit; bounds are rounded to the element type. The derivative is 1 on the closed
    interval. relu6 is min = 0, max = 6; hardtanh is min = -1, max = 1.
    ```mlir
    %y = dl.clamp %x min(0.0) max(6.0) : tensor<4x8xf32>
    ```}];
  let arguments = (ins Dl_FloatTensor:$x, OptionalAttr<F64Attr>:$min, OptionalAttr<F64Attr>:$max);
  let assemblyFormat = "$x (`min` `(` $min^ `)`)? (`max` `(` $max^ `)`)? attr-dict `:` type($y)";
  let hasVerifier = 1;
}

#endif
