// RUN: dlc-opt %s --dlc-lower-cpu --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: llvm.func @loop
// CHECK-NOT: scf.
// CHECK: llvm.cond_br
func.func @loop(%p: !llvm.ptr, %lo: i64, %hi: i64) {
  %one = arith.constant 1 : i64
  %x = arith.constant 1.0 : f32
  scf.for %i = %lo to %hi step %one : i64 {
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %x, %q : f32, !llvm.ptr
  }
  return
}

// -----

// Expanded, not called: exp is a chain of fma.
// CHECK-LABEL: llvm.func @math
// CHECK-NOT: llvm.call
// CHECK-NOT: llvm.intr.exp
// CHECK-COUNT-7: llvm.intr.fma
func.func @math(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// A rounding to bf16 is integer arithmetic: LLVM would call a library.
// CHECK-LABEL: llvm.func @narrow
// CHECK-NOT: llvm.fptrunc
// CHECK: llvm.lshr
// CHECK: llvm.bitcast {{.*}} : vector<8xi32> to vector<16xi16>
// CHECK: llvm.shufflevector
// CHECK: llvm.bitcast {{.*}} to vector<8xbf16>
func.func @narrow(%x: vector<8xf32>) -> vector<8xbf16> {
  %y = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  return %y : vector<8xbf16>
}

// -----

// expected-error@+1 {{expects generated code to define every function it calls, got undefined 'malloc'}}
module {
  func.func private @malloc(i64) -> !llvm.ptr
  func.func @f(%n: i64) -> !llvm.ptr {
    %p = func.call @malloc(%n) : (i64) -> !llvm.ptr
    return %p : !llvm.ptr
  }
}
