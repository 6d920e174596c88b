#ifndef DLC_IR_COLLECTIVE
#define DLC_IR_COLLECTIVE

include "dlc/ir/DlAttrs.td"
include "mlir/IR/SymbolInterfaces.td"

// What a program of several members says about them. Up to dl-partition tensors are global: only dl.mesh and dl.reshard
// exist. Behind it they are what one member holds, and the others exchange them.

def UsesMesh : DeclareOpInterfaceMethods<SymbolUserOpInterface>;

def Dl_MeshOp : Op<Dl_Dialect, "mesh", [Symbol, HasParent<"::mlir::ModuleOp">]>, Dl_SaysPrecision<"keeps"> {
  let summary = "The members a module is for, along named axes";
  let description = [{
    Axes are major to minor; a member's number is its row-major position. A module has one mesh at most.
    ```mlir
    dl.mesh @mesh ["data" = 4, "model" = 2]
    dl.mesh @mesh ["data" = 4 of 8]
    ```
    `of`: sums over what is split along the axis are taken in that many leaves, a power of two, and added as a balanced binary
    tree, so that their bits are the same for every number of members that divides it. A dim's blocks are then whole leaves of
    ceil(extent / leaves).}];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axis_names, DenseI64ArrayAttr:$axis_sizes,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axis_leaves);
  let assemblyFormat = "$sym_name custom<MeshAxes>($axis_names, $axis_sizes, $axis_leaves) attr-dict";
  let extraClassDeclaration = [{
    /// The module's mesh; null if it has none.
    static MeshOp find(::mlir::Operation *inside);
    /// Members of the whole mesh.
    int64_t size();
    /// Members along the axes together; 0 for an axis the mesh does not have.
    int64_t size(::llvm::ArrayRef<::mlir::StringAttr> axes);
    int64_t size(::mlir::ArrayAttr axes);
    /// Whether sums along the axes are taken in leaves, and how many one member has (1 without).
    bool isOrdered(::llvm::ArrayRef<::mlir::StringAttr> axes);
    int64_t leavesOfMember(::llvm::ArrayRef<::mlir::StringAttr> axes);
    /// The same of a split dim, which may have fewer leaves than the mesh.
    int64_t leavesOfMember(DimShardingAttr sharding);
    /// Whether the axes tell members or leaves apart.
    bool isSplit(::llvm::ArrayRef<::mlir::StringAttr> axes) { return size(axes) != 1 || isOrdered(axes); }
    /// The member's number along the axes, row-major in their order.
    int64_t coordinate(int64_t member, ::llvm::ArrayRef<::mlir::StringAttr> axes);
    /// The members that differ from `member` along the axes only, it among them, by their number along the axes.
    ::llvm::SmallVector<int64_t> group(int64_t member, ::llvm::ArrayRef<::mlir::StringAttr> axes);
    /// Indices of a leaf of a dim that is split along axes with leaves; 0 without them, or where borders are given.
    int64_t leafExtent(DimShardingAttr sharding, int64_t extent);
    /// Borders of a dim's parts, one more than there are: those given, or blocks.
    ::llvm::SmallVector<int64_t> borders(DimShardingAttr sharding, int64_t extent);
    /// What a member holds of a tensor: each split dim has the extent of its largest part.
    ::mlir::RankedTensorType localType(::mlir::RankedTensorType type, ShardingAttr sharding);
  }];
  let hasVerifier = 1;
}

def Dl_ReshardOp : Op<Dl_Dialect, "reshard", [Pure, Diff, UsesMesh, SameOperandsAndResultType]>,
    Dl_SaysPrecision<"follow"> {
  let summary = "x, held by the members in another way";
  let description = [{
    The only op that changes a sharding; written by the user it is a constraint. As a value it is x.
    ```mlir
    %y = dl.reshard %x to <[data, _]> : tensor<8x4xf32>
    ```}];
  let arguments = (ins Dl_Tensor:$x, Dl_ShardingAttr:$sharding);
  let results = (outs Dl_Tensor:$y);
  let assemblyFormat = "$x `to` $sharding attr-dict `:` type($y)";
  let hasVerifier = 1;
}

// Local level. `axes` are mesh axes, major to minor; `tensors` names what is exchanged, for reports.
class Dl_CollectiveOp<string mnemonic, string text, list<Trait> traits>
    : Dl_PureOp<mnemonic, !listconcat([UsesMesh], traits)> {
  let summary = text;
  let hasVerifier = 1;
}

def Dl_AllReduceOp : Dl_CollectiveOp<"all_reduce", "The sum (max, min) of the members' values, on all of them",
    [InferTypeOpAdaptor, CollectsAndReduces]> {
  let description = [{
    Of members that differ along the axes only. Several tensors of one element type travel together. Max and min: a NaN of any
    member wins.
    ```mlir
    %r:2 = dl.all_reduce sum(data) %a, %b : tensor<4x8xf32>, tensor<8xf32>
    ```}];
  let arguments = (ins Variadic<Dl_ArithTensor>:$values, Dl_ReduceKindAttr:$kind, StrArrayAttr:$axes,
                       OptionalAttr<StrArrayAttr>:$tensors);
  let results = (outs Variadic<Dl_ArithTensor>:$results);
  let assemblyFormat = "$kind `` custom<Axes>($axes) $values attr-dict `:` type($values)";
}

def Dl_AllGatherOp : Dl_CollectiveOp<"all_gather", "The members' values one behind the other along dim, on all of them", [Collects]> {
  let description = [{
    ```mlir
    %r = dl.all_gather(data) %a dim(0) : tensor<2x5xf32> -> tensor<8x5xf32>
    ```}];
  let arguments = (ins Dl_Tensor:$x, StrArrayAttr:$axes, I64Attr:$dim, OptionalAttr<StrArrayAttr>:$tensors);
  let results = (outs Dl_Tensor:$y);
  let assemblyFormat = "`` custom<Axes>($axes) $x `dim` `` `(` $dim `)` attr-dict `:` type($x) `->` type($y)";
}

def Dl_ReduceScatterOp : Dl_CollectiveOp<"reduce_scatter", "Each member's part along dim of the sum (max, min) of their values",
    [CollectsAndReduces]> {
  let description = [{
    ```mlir
    %r = dl.reduce_scatter sum(data) %a dim(0) : tensor<8x5xf32> -> tensor<2x5xf32>
    ```}];
  let arguments = (ins Dl_ArithTensor:$x, Dl_ReduceKindAttr:$kind, StrArrayAttr:$axes, I64Attr:$dim,
                       OptionalAttr<StrArrayAttr>:$tensors);
  let results = (outs Dl_ArithTensor:$y);
  let assemblyFormat = "$kind `` custom<Axes>($axes) $x `dim` `` `(` $dim `)` attr-dict `:` type($x) `->` type($y)";
}

def Dl_AllToAllOp : Dl_CollectiveOp<"all_to_all", "Part i along dim of each member's value, on member i",
    [Collects, SameOperandsAndResultType]> {
  let description = [{
    In order of members; all parts have one size.
    ```mlir
    %r = dl.all_to_all(data) %a dim(0) : tensor<8x5xf32>
    ```}];
  let arguments = (ins Dl_Tensor:$x, StrArrayAttr:$axes, I64Attr:$dim, OptionalAttr<StrArrayAttr>:$tensors);
  let results = (outs Dl_Tensor:$y);
  let assemblyFormat = "`` custom<Axes>($axes) $x `dim` `` `(` $dim `)` attr-dict `:` type($y)";
}

def Dl_WaitOp : Dl_PureOp<"wait", [InferTypeOpAdaptor]> {
  let summary = "The values, where the collective they come from must be done";
  let description = [{
    Between a collective and its wait the program does other work. Without a wait it is done at once.
    ```mlir
    %w:2 = dl.wait %r#0, %r#1 : tensor<4x8xf32>, tensor<8xf32>
    ```}];
  let arguments = (ins Variadic<Dl_Tensor>:$values);
  let results = (outs Variadic<Dl_Tensor>:$results);
  let assemblyFormat = "$values attr-dict `:` type($values)";
  let hasVerifier = 1;
}

#endif
