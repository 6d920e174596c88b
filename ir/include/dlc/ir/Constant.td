#ifndef DLC_IR_CONSTANT
#define DLC_IR_CONSTANT

include "dlc/ir/DlBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Dl_ConstantOp : Dl_PureOp<"constant", [ConstantLike, PartitionsItself, NonDifferentiable, AllTypesMatch<["value", "y"]>]> {
  let summary = "A constant tensor";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Dl_Tensor:$y);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Every element `value`, rounded to the element type.
    static ::mlir::Value createSplat(::mlir::OpBuilder &builder, ::mlir::Location location,
                                     ::mlir::RankedTensorType type, double value);
  }];
}

#endif
