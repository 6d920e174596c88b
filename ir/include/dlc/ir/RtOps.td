#ifndef DLC_IR_RTOPS
#define DLC_IR_RTOPS

include "dlc/ir/DlAttrs.td"
include "dlc/ir/RtBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Rt_Op<string mnemonic, list<Trait> traits = []> : Op<Rt_Dialect, mnemonic, traits>;

def Rt_ArenaOp : Rt_Op<"arena", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Memory a session gives to the program, 64-byte aligned";
  let description = "The order of the arenas in the module is their index in the manifest and in DlcFrame.arenas.";
  let arguments = (ins SymbolNameAttr:$sym_name, Rt_ArenaClassAttr:$arena_class, I64Attr:$bytes);
  let assemblyFormat = "$sym_name `class` `` $arena_class `bytes` `` `(` $bytes `)` attr-dict";
  let hasVerifier = 1;
}

def Rt_DataOp : Rt_Op<"data", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "Bytes of a constant arena, written once when a session is made";
  let arguments = (ins FlatSymbolRefAttr:$arena, I64Attr:$offset, ElementsAttr:$value);
  let assemblyFormat = "$arena `` `[` $offset `]` attr-dict $value";
}

def Rt_KernelOp : Rt_Op<"kernel", [Symbol, IsolatedFromAbove, HasParent<"::mlir::ModuleOp">, SingleBlock]> {
  let summary = "One dl.group, shared by every launch of equal structure";
  let description = [{
    The block's arguments are the group's inputs; it holds exactly one `dl.group` (no slots) and `dl.yield` of all its
    results, so that a kernel emitter sees the same `GroupOp` here and in a fused module. Operands of the kernel: the
    group's inputs, then its results, dense and row-major in their logical shapes; `workspace` bytes more, if not 0.
    Only where the group's `in_place` says so do a result and an input share bytes; all other operands are disjoint.}];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$workspace);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `workspace` `` `(` $workspace `)` attr-dict-with-keyword $body";
  let extraClassDeclaration = "::dlc::dl::GroupOp getGroup();";
  let hasVerifier = 1;
}

def Rt_LibraryOp : Rt_Op<"library", [Symbol]> {
  let summary = "A launch of a kernel that a vendor's library does";
  let description = [{
    Stands among the functions of the `gpu.module`, in the order in which a kernel's launches run, and is named like them.
    `workspace`: operand of the kernel with memory for the library, from byte `at` on; -1: none.
    ```mlir
    rt.library @k0_0 call #rt.matmul<batch = 1, rows = 8, columns = 20, terms = 10,
      left = <operand = 0, offset = 0, element = f32, row_stride = 10, column_stride = 1, batch_stride = 0>, …,
      epilogue = bias, bias = 2> workspace(4, at 0, 1048576)
    ```}];
  let arguments = (ins SymbolNameAttr:$sym_name, AnyAttr:$call, DefaultValuedAttr<I64Attr, "-1">:$workspace,
                       DefaultValuedAttr<I64Attr, "0">:$workspace_offset,
                       DefaultValuedAttr<I64Attr, "0">:$workspace_bytes);
  let assemblyFormat = [{
    $sym_name `call` $call (`workspace` `` `(` $workspace^ `,` `at` $workspace_offset `,` $workspace_bytes `)`)? attr-dict}];
  let hasVerifier = 1;
}

def Rt_ProgramOp : Rt_Op<"program", [Symbol, IsolatedFromAbove, HasParent<"::mlir::ModuleOp">, SingleBlock]> {
  let summary = "The host program of one entry";
  let description = [{
    ```mlir
    rt.program @step ("x": tensor<4xf32>) -> ("y": tensor<4xf32>) peak(4928) { … rt.return }
    ```
    `peak`: bytes of every arena the entry needs, arguments and results.}];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$argument_names, TypeArrayAttr:$argument_types,
                       StrArrayAttr:$result_names, TypeArrayAttr:$result_types, I64Attr:$peak);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Rt_CollectiveOp : Rt_Op<"collective", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "An exchange of bytes between the members that differ along the axes only";
  let description = [{
    The order in the module is the index in the manifest. `count`: elements of all of an all_reduce (what lies between its
    tensors included), of one member's part of an all_gather and a reduce_scatter. Collectives of a channel follow each
    other, those of different ones may overlap. `tensors` names what travels, for reports.
    ```mlir
    rt.collective @c0 kind(all_reduce) reduce(sum) axes(["data"]) element(f32) count(401408) channel(0) tensors(["fc1.weight"])
    ```}];
  let arguments = (ins SymbolNameAttr:$sym_name, Dl_CollectiveKindAttr:$kind, OptionalAttr<Dl_ReduceKindAttr>:$reduce,
                       StrArrayAttr:$axes, TypeAttr:$element, I64Attr:$count, I64Attr:$channel, StrArrayAttr:$tensors);
  let assemblyFormat = [{
    $sym_name `kind` `` $kind (`reduce` `` `(` `` $reduce^ `)`)? `axes` `` `(` $axes `)` `element` `` `(` $element `)`
    `count` `` `(` $count `)` `channel` `` `(` $channel `)` `tensors` `` `(` $tensors `)` attr-dict}];
  let extraClassDeclaration = [{
    /// Bytes that a start reads, and writes, on a mesh with so many members along the axes.
    int64_t getFromBytes(int64_t members);
    int64_t getToBytes(int64_t members);
  }];
  let hasVerifier = 1;
}

class Rt_InProgram<string mnemonic, list<Trait> traits = []>
    : Rt_Op<mnemonic, !listconcat([ParentOneOf<["ProgramOp", "LoopOp", "IfOp"]>], traits)>;

def Rt_ArgumentOp : Rt_InProgram<"argument", [Pure]> {
  let summary = "The caller's memory of an argument; never written";
  let arguments = (ins I64Attr:$index);
  let results = (outs Rt_Buffer:$buffer);
  let assemblyFormat = "$index attr-dict";
  let hasVerifier = 1;
}

def Rt_ResultOp : Rt_InProgram<"result", [Pure]> {
  let summary = "The caller's memory for a result";
  let arguments = (ins I64Attr:$index);
  let results = (outs Rt_Buffer:$buffer);
  let assemblyFormat = "$index attr-dict";
  let hasVerifier = 1;
}

def Rt_SliceOp : Rt_InProgram<"slice", [Pure]> {
  let summary = "Bytes [offset, offset + bytes) of an arena; offset is a multiple of 64";
  let arguments = (ins FlatSymbolRefAttr:$arena, I64Attr:$offset, I64Attr:$bytes);
  let results = (outs Rt_Buffer:$buffer);
  let assemblyFormat = "$arena `` `[` $offset `,` $bytes `]` attr-dict";
}

def Rt_LaunchOp : Rt_InProgram<"launch", [AttrSizedOperandSegments]> {
  let summary = "Runs a kernel to its end";
  let description = "`reads` are the group's inputs in order, `writes` its results; in place is the same buffer in both.";
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Rt_Buffer>:$reads, Variadic<Rt_Buffer>:$writes, Optional<Rt_Buffer>:$workspace);
  let assemblyFormat = [{
    $kernel `reads` `` `(` $reads `)` `writes` `` `(` $writes `)` (`workspace` `` `(` $workspace^ `)`)? attr-dict}];
}

def Rt_CopyOp : Rt_InProgram<"copy"> {
  let summary = "Copies bytes between buffers that do not overlap";
  let arguments = (ins Rt_Buffer:$from, Rt_Buffer:$to, I64Attr:$bytes);
  let assemblyFormat = "$from `to` $to `bytes` `` `(` $bytes `)` attr-dict";
}

def Rt_CollectiveStartOp : Rt_InProgram<"collective_start"> {
  let summary = "Starts a collective; its bytes are its own until the wait";
  let description = "An all_reduce takes and leaves them in one buffer.";
  let arguments = (ins FlatSymbolRefAttr:$collective, Rt_Buffer:$from, Rt_Buffer:$to);
  let assemblyFormat = "$collective `from` `` `(` $from `)` `to` `` `(` $to `)` attr-dict";
}

def Rt_CollectiveWaitOp : Rt_InProgram<"collective_wait"> {
  let summary = "Waits until a collective that was started is done";
  let arguments = (ins FlatSymbolRefAttr:$collective);
  let assemblyFormat = "$collective attr-dict";
}

def Rt_LoopOp : Rt_InProgram<"loop", [AttrSizedOperandSegments, SingleBlock]> {
  let summary = "Runs its body a fixed number of times, once or more";
  let description = [{
    The body's arguments are, for each of `slices`, the part of the buffer that belongs to the step (its bytes divided by the
    steps; `backwards`: the last part first), then for each carried value two buffers: the one the step before wrote, in the
    first step that of `first`, and the one this step writes. The latter take turns, so that the last step writes `last`.}];
  let arguments = (ins Variadic<Rt_Buffer>:$slices, Variadic<Rt_Buffer>:$first, Variadic<Rt_Buffer>:$last,
                       Variadic<Rt_Buffer>:$other, I64Attr:$trips, UnitAttr:$backwards);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $trips (`backwards` $backwards^)? `slices` `` `(` $slices `)` `first` `` `(` $first `)` `last` `` `(` $last `)`
    `other` `` `(` $other `)` attr-dict-with-keyword $body}];
  let hasVerifier = 1;
}

def Rt_IfOp : Rt_InProgram<"if", [SingleBlock]> {
  let summary = "Runs its first region if the byte of the predicate is not 0, else its second";
  let description = "On a device the predicate is copied to the host, which waits for it.";
  let arguments = (ins Rt_Buffer:$predicate);
  let regions = (region SizedRegion<1>:$taken, SizedRegion<1>:$otherwise);
  let assemblyFormat = "$predicate attr-dict-with-keyword $taken `else` $otherwise";
}

def Rt_ReturnOp : Rt_InProgram<"return", [Terminator]> {
  let summary = "Ends the program, or the region of a loop or a branch";
  let assemblyFormat = "attr-dict";
}

#endif
