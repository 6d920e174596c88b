#ifndef DLC_IR_INDEX
#define DLC_IR_INDEX

include "dlc/ir/DlAttrs.td"
include "dlc/ir/DlBase.td"

def Dl_IndexTensor : RankedTensorOf<[I64, I32]>;

def Dl_GatherOp : Dl_PureOp<"gather", [InferTypeOpAdaptor, MovesIndirectly, Diff]> {
  let precision = "follow";
  let summary = "Elements of x at indices along the axis";
  let description = [{
    x is [batch…, outer…, n, inner…] with n at `axis`, and indices [batch…, places…], `batch_dims` of them batch dims:
    y[batch…, outer…, places…, inner…] = x[batch…, outer…, indices[batch…, places…], inner…].
    An index outside [0, n) gives NaN, for integers 0; nothing outside is read. Indices do not count from the end.}];
  let arguments = (ins Dl_Tensor:$x, Dl_IndexTensor:$indices, I64Attr:$axis, DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs Dl_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $indices `axis` $axis (`batch_dims` $batch_dims^)? attr-dict `:` functional-type(operands, $y)}];
}

def Dl_ScatterOp : Dl_PureOp<"scatter", [InferTypeOpAdaptor, OwnKernel, Diff,
    DeclareOpInterfaceMethods<Dl_Shardable, ["getShardingRule", "getNeutral", "isLinearIn", "partitionLocal"]>]> {
  let precision = "full";
  let summary = "x with updates added to, or put in the place of, elements at indices along the axis";
  let description = [{
    Addresses as gather does; updates have the shape of gather(x, indices). Row-major order of the indices, one update after
    the other: added to the element (one chain, beginning with x's), or with kind(set) put there, so that the last one
    stays. An index outside [0, n) is left out.}];
  let arguments = (ins Dl_Tensor:$x, Dl_IndexTensor:$indices, Dl_Tensor:$updates, I64Attr:$axis,
                       DefaultValuedAttr<I64Attr, "0">:$batch_dims, Dl_ScatterKindAttr:$kind);
  let results = (outs Dl_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $indices `,` $updates `axis` $axis (`batch_dims` $batch_dims^)? `kind` `` $kind attr-dict `:`
    functional-type(operands, $y)}];
  let extraClassDeclaration = [{
    /// Merged extents; valid once the op is verified.
    ::dlc::dl::GatherDims getDims();
    bool acceptsSplat(unsigned operand) { return operand == 0; }
    void addInLeaves(::dlc::dl::PartitionBuilder &b, LeafSplit leaves);
  }];
}

#endif
