#ifndef DLC_IR_RTBASE
#define DLC_IR_RTBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Rt_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::dlc::rt";
  let summary = "The host program of a step: kernel calls and copies on byte ranges of arenas";
  let description = [{
    What is left of a step when every value has its place. Nothing here allocates, looks up or decides; each op is lowered
    to a few instructions over the frame of the call (runtime/Abi.h).
    ```mlir
    rt.arena @parameter.f32 class(parameter) bytes(832)
    rt.arena @activation class(activation) bytes(4096)
    rt.kernel @k0 workspace(0) {
    ^bb0(%a: tensor<4xf32>):
      %y = dl.group kind(pointwise) [4] (%x = %a : tensor<4xf32>) -> (tensor<4xf32>) {
        %0 = dl.neg %x : tensor<4xf32>
        dl.yield %0 : tensor<4xf32>
      }
      dl.yield %y : tensor<4xf32>
    }
    rt.program @step ("x": tensor<4xf32>) -> ("y": tensor<4xf32>) peak(4928) {
      %0 = rt.argument 0
      %1 = rt.result 0
      rt.launch @k0 reads(%0) writes(%1)
      rt.return
    }
    ```
    Entries, kernels and arenas live in one module with the `dl.variable`s (with slots).}];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void addProgramOps();";
  let dependentDialects = ["::dlc::dl::DlDialect"];
}

def Rt_BufferType : TypeDef<Rt_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "The name of a byte range; it owns nothing";
}
def Rt_Buffer : DialectType<Rt_Dialect, CPred<"::llvm::isa<::dlc::rt::BufferType>($_self)">, "buffer">,
                BuildableType<"::dlc::rt::BufferType::get($_builder.getContext())">;

def Rt_ArenaClass : I32EnumAttr<"ArenaClass", "what an arena's bytes are counted as", [
    I32EnumAttrCase<"Parameter", 0, "parameter">, I32EnumAttrCase<"Gradient", 1, "gradient">,
    I32EnumAttrCase<"OptimizerState", 2, "optimizer_state">, I32EnumAttrCase<"Buffer", 3, "buffer">,
    I32EnumAttrCase<"Hyper", 4, "hyper">, I32EnumAttrCase<"Counter", 5, "counter">,
    I32EnumAttrCase<"Activation", 6, "activation">, I32EnumAttrCase<"Constant", 7, "constant">,
    I32EnumAttrCase<"Coordinate", 8, "coordinate">]> {
  let cppNamespace = "::dlc::rt";
  let genSpecializedAttr = 0;
}
def Rt_ArenaClassAttr : EnumAttr<Rt_Dialect, Rt_ArenaClass, "arena_class"> { let assemblyFormat = "`(` $value `)`"; }

#endif
