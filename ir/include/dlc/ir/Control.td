#ifndef DLC_IR_CONTROL
#define DLC_IR_CONTROL

include "dlc/ir/DlBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Dl_ControlFlow<string mnemonic, list<Trait> traits>
    : Dl_PureOp<mnemonic, !listconcat([IsolatedFromAbove, SingleBlock, DiffSome], traits)> {
  let results = (outs Variadic<Dl_Tensor>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def Dl_ScanOp : Dl_ControlFlow<"scan", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Dl_Control, ["getNumCarried", "isSlice", "isStacked", "getBufferOffsets", "setBufferOffsets",
                                             "addWhole"]>]> {
  let summary = "Runs its body a fixed number of times, on slices of tensors and on values carried from step to step";
  let description = [{
    The arguments of the body are the carried values, one slice along dimension 0 of each sliced operand, and the whole
    operands, which are the same in every step. It yields the next carried values and one slice of each stacked result. The
    results are the carried values after the last step and the stacked results. `backwards` runs from the last slice to the
    first; a stacked slice lies where the slices of that step lie.
    ```mlir
    %last, %all = dl.scan 20 carry(%h = %h0 : tensor<4xf32>) slices(%x = %xs : tensor<20x4xf32>)
        whole(%w = %w0 : tensor<4xf32>) -> (tensor<4xf32>, tensor<20x4xf32>) {
      %0 = dl.mul %h, %w : tensor<4xf32>
      %n = dl.add %0, %x : tensor<4xf32>
      dl.yield %n, %n : tensor<4xf32>, tensor<4xf32>
    }
    ```
    With 0 steps the carried values are the first ones. Variables are read and written outside: a value a step needs is an
    operand, one it changes is carried. Adjoint: a scan the other way round over the saved values.
    `second_buffers` is set by `dl-plan-memory`: for each carried value the place in the body's memory that it has in every
    other step, or -1 if it is updated in place.}];
  let arguments = (ins Variadic<Dl_Tensor>:$carried, Variadic<Dl_Tensor>:$sliced, Variadic<Dl_Tensor>:$whole,
                       I64Attr:$trips, UnitAttr:$backwards, OptionalAttr<DenseI64ArrayAttr>:$second_buffers);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    ::mlir::Block &getBlock() { return getBody().front(); }
    ::mlir::ResultRange getStacked() { return getResults().drop_front(getCarried().size()); }
    /// The type of a slice along dimension 0.
    static ::mlir::RankedTensorType sliceType(::mlir::Type stacked);
    /// The type of `trips` slices.
    static ::mlir::RankedTensorType stackedType(::mlir::Type slice, int64_t trips);
  }];
}

def Dl_MicroBatchesOp : Dl_PureOp<"micro_batches", [DeclareOpInterfaceMethods<Dl_Decomposable, ["keepWhole"]>,
    DeclareOpInterfaceMethods<Dl_Shardable, ["getShardingRule", "settle", "partitionLocal"]>]> {
  let precision = "follow";
  let summary = "Rows of a batch in parts of equal size";
  let description = [{
    ```mlir
    %y = dl.micro_batches %x : tensor<64x784xf32> -> tensor<4x16x784xf32>
    ```
    On one device rows that follow each other go together. Which rows do is left open: where members hold blocks of rows, each
    part has as many rows of every member (so none moves), in the order of the members. `blocks` says of how many, 0: one
    device. Members whose rows cannot be shared out so gather them and each take some rows of every part. `first`: so many
    rows are in no part, nor are those behind the last.}];
  let arguments = (ins Dl_Tensor:$x, DefaultValuedAttr<I64Attr, "0">:$first, DefaultValuedAttr<I64Attr, "0">:$blocks);
  let results = (outs Dl_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether every row is in a part.
    bool takesAll();
  }];
}

def Dl_CondOp : Dl_ControlFlow<"cond", [DeclareOpInterfaceMethods<Dl_Control, ["addWhole"]>]> {
  let summary = "Runs its first region if the predicate holds, else its second";
  let description = [{
    Both regions have the operands as arguments and yield the results.
    ```mlir
    %y = dl.cond %p (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %0 = dl.exp %a : tensor<4xf32>
      dl.yield %0 : tensor<4xf32>
    } else (%b) {
      dl.yield %b : tensor<4xf32>
    }
    ```
    Only the region that is taken runs. Its adjoint is a cond on the same predicate; what only the region not taken used has
    a gradient of zeros.}];
  let arguments = (ins RankedTensorOf<[I1]>:$predicate, Variadic<Dl_Tensor>:$captured);
  let regions = (region SizedRegion<1>:$taken, SizedRegion<1>:$otherwise);
}

def Dl_BarrierValueOp : Dl_PureOp<"barrier_value", [DiffSome, AllTypesMatch<["x", "y"]>, Shards]> {
  let precision = "follow";
  let summary = "x, which nobody sees through: what is computed from y is not shared with what is computed from x";
  let description = [{
    Nor is it computed before the values behind `after` are there, whose elements are not read. It costs nothing: y has the
    bytes of x. Recomputation stands on it: the same ops on y are other values, late ones.
    ```mlir
    %y = dl.barrier_value %x : tensor<4xf32> after %g : tensor<8xf32>
    ```}];
  let arguments = (ins Dl_Tensor:$x, Variadic<Dl_Tensor>:$after);
  let results = (outs Dl_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) (`after` $after^ `:` type($after))?";
  let hasCanonicalizeMethod = 1;
}

def Dl_CheckpointOp : Dl_ControlFlow<"checkpoint", [Decomposes]> {
  let summary = "Its body, whose inner values no derivative keeps: the backward pass computes them again from the operands";
  let description = [{
    The body has the operands as arguments and yields the results.
    ```mlir
    %y = dl.checkpoint (%a = %x : tensor<4xf32>, %b = %w : tensor<4xf32>) -> (tensor<4xf32>) {
      %0 = dl.mul %a, %b : tensor<4xf32>
      %1 = dl.tanh %0 : tensor<4xf32>
      dl.yield %1 : tensor<4xf32>
    }
    ```
    Adjoint: the body once more, on `dl.barrier_value`s of the operands that wait for the results' cotangents, and its
    adjoint. Random draws inside are functions of their seed and offset, so they are the same again. Without a derivative it is
    its body.}];
  let arguments = (ins Variadic<Dl_Tensor>:$captured);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = "::mlir::Block &getBlock() { return getBody().front(); }";
}

#endif
