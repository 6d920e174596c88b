#ifndef DLC_IR_MATH
#define DLC_IR_MATH

include "dlc/ir/DlBase.td"

// Functions of floats. Bodies use math ops, which codegen expands to dlc's own polynomials on every target; only sqrt is
// correctly rounded, so only sqrt folds.
class Dl_Math<string mnemonic, string text, list<Trait> traits = []>
    : Dl_Unary<mnemonic, Dl_FloatTensor, text, !listconcat([CostlyBody, Diff], traits)> {
  let precision = "full";
}
// Of results that are as large as their operands.
class Dl_TameMath<string mnemonic, string text, list<Trait> traits = []> : Dl_Math<mnemonic, text, traits> {
  let precision = "follow";
}

def Dl_ExpOp : Dl_Math<"exp", "e to the x">;
def Dl_Expm1Op : Dl_Math<"expm1", "e to the x, minus 1, accurate near 0">;
def Dl_LogOp : Dl_Math<"log", "natural logarithm; NaN below 0, -inf at 0">;
def Dl_Log1pOp : Dl_Math<"log1p", "log(1 + x), accurate near 0">;
def Dl_SqrtOp : Dl_TameMath<"sqrt", "square root, correctly rounded; NaN below 0", [FoldsByReference]>;
def Dl_RsqrtOp : Dl_Math<"rsqrt", "1 / sqrt(x), both rounded; inf at 0">;
def Dl_SinOp : Dl_TameMath<"sin", "sine of x in radians">;
def Dl_CosOp : Dl_TameMath<"cos", "cosine of x in radians">;
def Dl_TanhOp : Dl_TameMath<"tanh", "hyperbolic tangent">;
def Dl_ErfOp : Dl_TameMath<"erf", "error function">;

def Dl_PowOp : Dl_Binary<"pow", Dl_FloatTensor, "a to the b, as C's pow", [CostlyBody, Diff]> {
  let precision = "full";
}

#endif
