// RUN: dlc-opt %s --dlc-lower-gpu --split-input-file --verify-diagnostics | FileCheck %s

// Expanded, not called: exp is a chain of fma; sqrt is LLVM's.
// CHECK-LABEL: llvm.func @math
// CHECK-SAME: {llvm.noalias, llvm.readonly}
// CHECK-SAME: nvvm.kernel, nvvm.maxntid = array<i32: 64, 1, 1>
// CHECK-NOT: llvm.call
// CHECK: nvvm.read.ptx.sreg.tid.x range <i32, 0, 64>
// CHECK-COUNT-7: llvm.intr.fma
// CHECK: llvm.intr.sqrt
// CHECK: nvvm.barrier
gpu.module @kernels {
  gpu.func @math(%p: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %q: !llvm.ptr<1>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %i = arith.index_castui %t : index to i64
    %from = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %x = llvm.load %from : !llvm.ptr<1> -> f32
    %y = math.exp %x : f32
    %z = math.sqrt %y : f32
    gpu.barrier
    %to = llvm.getelementptr %q[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %z, %to : f32, !llvm.ptr<1>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{expects generated code to define every function it calls, got undefined 'malloc'}}
  llvm.func @malloc(i64) -> !llvm.ptr
  gpu.func @f(%p: !llvm.ptr<1>) kernel {
    gpu.return
  }
}
