// RUN: dlc-opt %s --dlc-lower-gpu --dlc-print-ptx=arch=sm_80 -o %t | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: dlc-opt %s --dlc-lower-gpu --dlc-print-ptx=arch=sm_90 -o %t | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: dlc-opt %s --dlc-lower-gpu --dlc-print-ptx=arch=sm_100 -o %t | FileCheck %s --check-prefixes=CHECK,SM100
// RUN: not dlc-opt %s --dlc-lower-gpu --dlc-print-ptx=arch=sm_1 -o %t 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: unknown architecture 'sm_1'; expected sm_80, sm_90, sm_100

// IEEE arithmetic: nothing is contracted, approximated or flushed.
// SM80: .version 8.0
// SM80: .target sm_80
// SM90: .version 8.0
// SM90: .target sm_90
// SM100: .version 8.6
// SM100: .target sm_100
// CHECK: .entry ieee(
// CHECK: .maxntid 256
// CHECK-NOT: {{fma|approx|ftz}}
// CHECK: ld.global.nc.v{{4.b32|2.b64}}
// CHECK-NOT: {{fma|approx|ftz}}
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: div.rn.f32
// CHECK: sqrt.rn.f32
// CHECK-NOT: {{fma|approx|ftz}}
// CHECK: st.global.v4.b32
gpu.module @kernels {
  gpu.func @ieee(%p: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %q: !llvm.ptr<1> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %i = arith.index_castui %t : index to i64
    %from = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xf32>
    %x = llvm.load %from {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %xx = arith.mulf %x, %x : vector<4xf32>
    %s = arith.addf %xx, %x : vector<4xf32>
    %d = arith.divf %s, %x : vector<4xf32>
    %r = math.sqrt %d : vector<4xf32>
    %to = llvm.getelementptr %q[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xf32>
    llvm.store %r, %to {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    gpu.return
  }
}
