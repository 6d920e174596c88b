#ifndef DLC_PRECISION_PASSES
#define DLC_PRECISION_PASSES

include "mlir/Pass/PassBase.td"

def MarkAutocastPass : Pass<"dl-mark-autocast", "::mlir::ModuleOp"> {
  let summary = "Ask for arithmetic in 16 bits in all entries";
  let description = [{
    Gives every op of an entry that has a precision of its own the attribute `dl.autocast`; one that has it keeps it.
    ```mlir
    func.func @loss(…) attributes {dl.entry} { %h = dl.dot_general %x, %w … : (…) -> tensor<4x2xf32> … }          // before

    func.func @loss(…) attributes {dl.entry} { %h = dl.dot_general %x, %w … {dl.autocast = bf16} : (…) -> … }     // after
    ```
  }];
  let options = [
    Option<"type", "type", "::dlc::passes::AutocastType", "::dlc::passes::AutocastType::Bf16", "Type of 16 bits",
      [{::llvm::cl::values(clEnumValN(::dlc::passes::AutocastType::Bf16, "bf16", "8 bits of exponent, 7 of fraction"),
                           clEnumValN(::dlc::passes::AutocastType::Fp16, "fp16", "5 bits of exponent, 10 of fraction"))}]>];
  let dependentDialects = ["::dlc::dl::DlDialect"];
}

def AutocastPass : Pass<"dl-autocast", "::mlir::ModuleOp"> {
  let summary = "Insert casts where ops marked dl.autocast want another precision than their operands have";
  let description = [{
    By the op's own word: `LowPrecision` takes and gives 16 bits; `FullPrecision` f32; `FollowPrecision` 16 bits if all of its
    floats exist in 16 bits. Numbers, scalars and vectors of parameters go along: the op is computed in f32 and its result
    rounded once. Ops without mark, and results, see the types as written. f64, and 16 bits written by hand, stay.
    A value is cast once; a weight too, in front of what only moves its elements. `dl.reason` says why. Run before
    `dl-autodiff`: the adjoint of a cast is a cast, and gradients of f32 weights are f32.
    ```mlir
    %h = dl.dot_general %x, %w … {dl.autocast = bf16} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>       // before
    %r = dl.relu %h {dl.autocast = bf16} : tensor<4x2xf32>
    %s = dl.reduce_sum %r over [0, 1] {dl.autocast = bf16} : (tensor<4x2xf32>) -> tensor<f32>

    %0 = dl.cast %x {dl.reason = "operand of dl.dot_general, policy low"} : tensor<4x8xf32> to tensor<4x8xbf16>     // after
    %1 = dl.cast %w {dl.reason = "operand of dl.dot_general, policy low"} : tensor<8x2xf32> to tensor<8x2xbf16>
    %h = dl.dot_general %0, %1 … : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
    %r = dl.relu %h : tensor<4x2xbf16>
    %2 = dl.cast %r {dl.reason = "operand of dl.reduce_sum, policy full"} : tensor<4x2xbf16> to tensor<4x2xf32>
    %s = dl.reduce_sum %2 over [0, 1] : (tensor<4x2xf32>) -> tensor<f32>
    ```
    The marks stay; `dl-check-autocast` takes them away.
  }];
  let dependentDialects = ["::dlc::dl::DlDialect"];
}

def CheckAutocastPass : Pass<"dl-check-autocast", "::mlir::ModuleOp"> {
  let summary = "Check the types of ops marked dl.autocast, and take the marks away";
  let description = [{
    No op with `LowPrecision` has an operand of f32, none with `FullPrecision` one of 16 bits.
    ```mlir
    %h = dl.dot_general %0, %1 … {dl.autocast = bf16} : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>   // before

    %h = dl.dot_general %0, %1 … : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>                        // after
    ```
  }];
}

def ObserveCastsPass : Pass<"dl-observe-casts", "::mlir::ModuleOp"> {
  let summary = "Make the ranges of the values that dl-autocast casts results of the entries";
  let description = [{
    For each cast with a reason in an entry's block, behind the entry's own results: the largest magnitude, and the smallest
    that is not 0 (infinity if there is none); NaN wins in both.
    ```mlir
    %0 = dl.cast %x {dl.reason = "…"} : tensor<4xf32> to tensor<4xbf16>       // before
    return %y : tensor<f32>

    %0 = dl.cast %x {dl.reason = "…"} : tensor<4xf32> to tensor<4xbf16>       // after
    %a = dl.abs %x : tensor<4xf32>
    %most = dl.reduce_max %a over [0] : (tensor<4xf32>) -> tensor<f32>
    %p = dl.compare eq, %a, %zeros : tensor<4xf32>
    %b = dl.select %p, %infinities, %a : tensor<4xf32>
    %least = dl.reduce_min %b over [0] : (tensor<4xf32>) -> tensor<f32>
    return %y, %most, %least : tensor<f32>, tensor<f32>, tensor<f32>
    ```
  }];
  let dependentDialects = ["::dlc::dl::DlDialect"];
}

#endif
