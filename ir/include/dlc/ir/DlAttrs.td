#ifndef DLC_IR_DLATTRS
#define DLC_IR_DLATTRS

include "dlc/ir/DlBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Dl_Attr<string name, string attrMnemonic> : AttrDef<Dl_Dialect, name> { let mnemonic = attrMnemonic; }

def Dl_Role : I32EnumAttr<"Role", "what a variable is to training", [
    I32EnumAttrCase<"Parameter", 0, "parameter">, I32EnumAttrCase<"Gradient", 1, "gradient">,
    I32EnumAttrCase<"OptimizerState", 2, "optimizer_state">, I32EnumAttrCase<"Buffer", 3, "buffer">,
    I32EnumAttrCase<"Hyper", 4, "hyper">, I32EnumAttrCase<"Counter", 5, "counter">,
    I32EnumAttrCase<"Coordinate", 6, "coordinate">]> {
  let cppNamespace = "::dlc::dl";
  let genSpecializedAttr = 0;
}

def Dl_GroupKind : I32EnumAttr<"GroupKind", "how the kernel of a fusion group is emitted", [
    I32EnumAttrCase<"Pointwise", 0, "pointwise">, I32EnumAttrCase<"Row", 1, "row">,
    I32EnumAttrCase<"Column", 2, "column">, I32EnumAttrCase<"Contract", 3, "contract">,
    I32EnumAttrCase<"Window", 4, "window">, I32EnumAttrCase<"Horizontal", 5, "horizontal">,
    I32EnumAttrCase<"Collective", 6, "collective">, I32EnumAttrCase<"Wait", 7, "wait">,
    I32EnumAttrCase<"Control", 8, "control">]> {
  let cppNamespace = "::dlc::dl";
  let genSpecializedAttr = 0;
}

def Dl_LossReduction : I32EnumAttr<"LossReduction", "how the losses of the rows are put together", [
    I32EnumAttrCase<"Mean", 0, "mean">, I32EnumAttrCase<"Sum", 1, "sum">, I32EnumAttrCase<"None", 2, "none">]> {
  let cppNamespace = "::dlc::dl";
  let genSpecializedAttr = 0;
}

def Dl_ScatterKind : I32EnumAttr<"ScatterKind", "what a scattered update does to the element at its place", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Set", 1, "set">]> {
  let cppNamespace = "::dlc::dl";
  let genSpecializedAttr = 0;
}

def Dl_ComparePredicate : I32EnumAttr<"ComparePredicate", "how two elements are compared; with a NaN only ne holds", [
    I32EnumAttrCase<"Eq", 0, "eq">, I32EnumAttrCase<"Ne", 1, "ne">, I32EnumAttrCase<"Lt", 2, "lt">,
    I32EnumAttrCase<"Le", 3, "le">, I32EnumAttrCase<"Gt", 4, "gt">, I32EnumAttrCase<"Ge", 5, "ge">]> {
  let cppNamespace = "::dlc::dl";
}

def Dl_GeluApproximation : I32EnumAttr<"GeluApproximation", "which formula of gelu", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Tanh", 1, "tanh">]> {
  let cppNamespace = "::dlc::dl";
}

def Dl_ReduceKind : I32EnumAttr<"ReduceKind", "how the members' parts of a value are put together", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::dlc::dl";
  let genSpecializedAttr = 0;
}

def Dl_CollectiveKind : I32EnumAttr<"CollectiveKind", "what members do with each other's values", [
    I32EnumAttrCase<"AllReduce", 0, "all_reduce">, I32EnumAttrCase<"AllGather", 1, "all_gather">,
    I32EnumAttrCase<"ReduceScatter", 2, "reduce_scatter">, I32EnumAttrCase<"AllToAll", 3, "all_to_all">]> {
  let cppNamespace = "::dlc::dl";
  let genSpecializedAttr = 0;
}

def Dl_ReduceKindAttr : EnumAttr<Dl_Dialect, Dl_ReduceKind, "reduce_kind"> { let assemblyFormat = "`` $value"; }
def Dl_CollectiveKindAttr : EnumAttr<Dl_Dialect, Dl_CollectiveKind, "collective_kind"> {
  let assemblyFormat = "`(` $value `)`";
}
def Dl_RoleAttr : EnumAttr<Dl_Dialect, Dl_Role, "role"> { let assemblyFormat = "`(` $value `)`"; }
def Dl_LossReductionAttr : EnumAttr<Dl_Dialect, Dl_LossReduction, "loss_reduction"> { let assemblyFormat = "`<` $value `>`"; }
def Dl_ScatterKindAttr : EnumAttr<Dl_Dialect, Dl_ScatterKind, "scatter_kind"> { let assemblyFormat = "`(` $value `)`"; }
def Dl_GroupKindAttr : EnumAttr<Dl_Dialect, Dl_GroupKind, "group_kind"> { let assemblyFormat = "`(` $value `)`"; }

// Initial values of variables, run by the runtime's own filler. A dense elements attribute is one too (given data).
def Dl_ZerosAttr : Dl_Attr<"Zeros", "zeros"> { let summary = "every element 0"; }
def Dl_ConstantAttr : Dl_Attr<"Constant", "constant"> {
  let summary = "every element the value";
  let parameters = (ins "::mlir::FloatAttr":$value);
  let assemblyFormat = "`<` $value `>`";
}
def Dl_UniformAttr : Dl_Attr<"Uniform", "uniform"> {
  let summary = "uniform in [lower, upper); Philox draw `offset` of the seed";
  let parameters = (ins "::mlir::FloatAttr":$lower, "::mlir::FloatAttr":$upper, DefaultValuedParameter<"uint64_t", "0">:$offset);
  let assemblyFormat = "`<` $lower `,` $upper (`,` `offset` `=` $offset^)? `>`";
}
def Dl_NormalAttr : Dl_Attr<"Normal", "normal"> {
  let summary = "normal; Philox draw `offset` of the seed";
  let parameters = (ins "::mlir::FloatAttr":$mean, "::mlir::FloatAttr":$deviation, DefaultValuedParameter<"uint64_t", "0">:$offset);
  let assemblyFormat = "`<` $mean `,` $deviation (`,` `offset` `=` $offset^)? `>`";
}

// Parts of #dl.sharding, never written by themselves.
def Dl_DimShardingAttr : AttrDef<Dl_Dialect, "DimSharding"> {
  let attrName = "dl.dim_sharding";
  let summary = "mesh axes a dimension is split over, major to minor; none: not split";
  let description = [{
    `leaf`: indices of one leaf along axes that have leaves; 0: the extent shared out evenly among them. `leaves`: how many
    there are of all members; 0: as many as the mesh has.}];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes, OptionalArrayRefParameter<"int64_t">:$borders,
                        "int64_t":$leaf, "int64_t":$leaves);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::mlir::StringAttr>":$axes, "::llvm::ArrayRef<int64_t>":$borders,
                                   CArg<"int64_t", "0">:$leaf),
                              "return $_get($_ctxt, axes, borders, leaf, 0);">];
}

def Dl_PartialAttr : AttrDef<Dl_Dialect, "Partial"> {
  let attrName = "dl.partial";
  let summary = "the value is what `kind` makes of the parts that the members along the axes hold";
  let description = "`leaves`: the sum is of so many leaves of those of the mesh; 0: of all.";
  let parameters = (ins "::dlc::dl::ReduceKind":$kind, ArrayRefParameter<"::mlir::StringAttr">:$axes, "int64_t":$leaves);
  let builders = [AttrBuilder<(ins "::dlc::dl::ReduceKind":$kind, "::llvm::ArrayRef<::mlir::StringAttr>":$axes),
                              "return $_get($_ctxt, kind, axes, 0);">];
}

def Dl_ShardingAttr : Dl_Attr<"Sharding", "sharding"> {
  let summary = "how the members of a mesh hold a tensor";
  let description = [{
    For each dim `_` or the axes it is split over, major to minor. Axes that are not named: replicated. Of an extent d split
    over n members each has blocks of b = ceil(d / n): member i owns [i b, min((i + 1) b, d)); borders may be given. A partial
    value is the sum (max, min) of what the members along the axes hold.
    ```mlir
    #dl.sharding<[data, _]>
    #dl.sharding<[data(0, 3, 4), model * pipe]>
    #dl.sharding<[data by 32]>                              // leaves of 32 indices
    #dl.sharding<[data by 32 of 4]>                         // four of them
    #dl.sharding<[_, _], partial = sum(data)>
    #dl.sharding<[_, _], partial = sum(data) of 4>          // of four leaves
    ```}];
  let parameters = (ins ArrayRefParameter<"::dlc::dl::DimShardingAttr">:$dims, OptionalParameter<"::dlc::dl::PartialAttr">:$partial);
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<::dlc::dl::DimShardingAttr>":$dims), "return $_get($_ctxt, dims, PartialAttr());">];
  let extraClassDeclaration = [{
    /// Every member holds all of a tensor of this rank.
    static ShardingAttr replicated(::mlir::MLIRContext *context, int64_t rank);
    /// Whether every member holds all of it, and no dim is split.
    bool isReplicated() const;
    /// The same with this dim split otherwise, or with another partial.
    ShardingAttr withDim(int64_t dim, DimShardingAttr sharding) const;
    ShardingAttr withPartial(PartialAttr partial) const;
    bool isSplit(int64_t dim) const { return !getDims()[dim].getAxes().empty(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dl_SlotAttr : Dl_Attr<"Slot", "slot"> {
  let summary = "a byte range of an arena: `arena` is the arena's name, `offset` a multiple of 64";
  let parameters = (ins StringRefParameter<"name of the arena">:$arena, "int64_t":$offset, "int64_t":$bytes);
  let assemblyFormat = "`<` $arena `,` $offset `,` $bytes `>`";
}

#endif
