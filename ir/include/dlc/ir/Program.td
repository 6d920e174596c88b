#ifndef DLC_IR_PROGRAM
#define DLC_IR_PROGRAM

include "dlc/ir/DlAttrs.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Dl_ProgramOp<string mnemonic, list<Trait> traits = []> : Op<Dl_Dialect, mnemonic, traits>, Dl_SaysPrecision<"keeps">;

def Dl_VariableOp : Dl_ProgramOp<"variable", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "State that lives across steps, shared by all entries of the module";
  let description = [{
    Named like the module path (`conv1.weight`): the name is the key in checkpoints and logs. `slot` is its place in a
    state arena, given by the front end or by `dl-layout-state`.
    ```mlir
    dl.variable @fc1.weight : tensor<20x10xf32> role(parameter) init(#dl.uniform<-0.3, 0.3>)
    ```}];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Dl_Tensor>:$type, Dl_RoleAttr:$role,
                       AnyAttr:$init, OptionalAttr<Dl_SlotAttr>:$slot);
  let assemblyFormat = [{
    $sym_name `:` $type `role` `` $role `init` `` `(` $init `)` (`slot` `` `(` $slot^ `)`)? attr-dict}];
  let hasVerifier = 1;
}

def Dl_ReadOp : Dl_ProgramOp<"read", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, MemoryEffects<[MemRead]>]> {
  let summary = "The variable's value at this point of the program";
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Dl_Tensor:$value);
  let assemblyFormat = "$variable attr-dict `:` type($value)";
}

def Dl_WriteOp : Dl_ProgramOp<"write", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, MemoryEffects<[MemWrite]>]> {
  let summary = "Gives the variable a new value; a later read in the same step sees it";
  let arguments = (ins FlatSymbolRefAttr:$variable, Dl_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def Dl_GradientOp : Dl_ProgramOp<"gradient", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Derivatives of a scalar with respect to values; expanded by dl-autodiff, nests for higher order";
  let description = [{
    `wrt` may be any float values; the total derivative is returned. A `wrt` that does not influence the loss is an error
    unless `allow_unused` is given: then its gradient is zero.}];
  let arguments = (ins Dl_FloatTensor:$loss, Variadic<Dl_FloatTensor>:$wrt, UnitAttr:$allow_unused);
  let results = (outs Variadic<Dl_FloatTensor>:$gradients);
  let assemblyFormat = "$loss `wrt` $wrt (`allow_unused` $allow_unused^)? attr-dict `:` type($loss) `,` type($wrt)";
  let hasVerifier = 1;
}

def Dl_StopGradientOp : Dl_ProgramOp<"stop_gradient", [Pure, NonDifferentiable, SameOperandsAndResultType]> {
  let precision = "follow";
  let summary = "x, through which no derivative flows";
  let arguments = (ins Dl_Tensor:$x);
  let results = (outs Dl_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
}

def Dl_YieldOp : Dl_ProgramOp<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "Ends a region with its results";
  let arguments = (ins Variadic<Dl_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Dl_GroupOp : Dl_ProgramOp<"group", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "A fusion group: dl ops that become one kernel";
  let description = [{
    The body's arguments are the inputs; its ops are unchanged dl ops, ended by `dl.yield`. `domain` is the iteration
    space: the shape of the stored results, before reduction for row and column groups. Grouping never changes a bit.
    The body of a horizontal group are its parts, groups of kind pointwise that read its arguments and whose results it
    yields in order; it has no domain of its own.
    A group of kind collective holds one collective and yields its results, one of kind wait one `dl.wait`; neither is a
    kernel, and the second renames its inputs. One of kind control holds one op whose regions are programs of groups
    in turn; its workspace is the memory of those, in which their slots count from 0 (`argument` and `result` are then those
    of the region).
    `slots` (one a result) is set by `dl-plan-memory`, as is `in_place`: for each result the input whose bytes it takes over,
    or -1. Then every element of that input is read by the lane that writes the result there, or by a reduction of that
    lane's row. So a kernel evaluates all results of a lane before it stores any, and stores a result in place only when
    all reductions of the row are done. `workspace` is the kernel's scratch memory while it runs.}];
  let arguments = (ins Variadic<Dl_Tensor>:$inputs, Dl_GroupKindAttr:$kind,
                       DenseI64ArrayAttr:$domain, OptionalAttr<ArrayAttr>:$slots, OptionalAttr<DenseI64ArrayAttr>:$in_place,
                       OptionalAttr<Dl_SlotAttr>:$workspace);
  let results = (outs Variadic<Dl_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// Whether it is no kernel: of kind collective or wait.
    bool isExchange() { return getKind() == GroupKind::Collective || getKind() == GroupKind::Wait; }
    /// The op in a group of kind collective.
    CollectiveOpInterface getCollective();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif
