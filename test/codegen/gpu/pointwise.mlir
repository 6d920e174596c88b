// RUN: dlc-opt %s --dlc-emit-gpu --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-emit-gpu --dlc-lower-gpu --split-input-file --dlc-print-ptx -o %t | FileCheck %s --check-prefix=PTX

// A thread computes four elements; operands share no bytes.
// CHECK-LABEL: gpu.func @flat_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !llvm.ptr<1> {{[^%]*}}llvm.noalias, llvm.readonly},
// CHECK-SAME: %[[B:[a-z0-9]+]]: !llvm.ptr<1> {{[^%]*}}llvm.noalias, llvm.readonly},
// CHECK-SAME: %[[Y:[a-z0-9]+]]: !llvm.ptr<1> {{[^%]*}}llvm.noalias}) kernel
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 6, 1, 1>
// 300 * 20 / 4 threads are not whole blocks.
// CHECK: arith.cmpi slt
// CHECK: scf.if
// CHECK-DAG: %[[FROM:.*]] = llvm.getelementptr inbounds %[[X]][
// CHECK-DAG: llvm.load %[[FROM]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-DAG: arith.remui
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}} : vector<4xf32>
// CHECK: llvm.store %[[SUM]], %{{.*}} {alignment = 16 : i64} : vector<4xf32>

// The index arithmetic is 32 bit wide.
// PTX-LABEL: .entry flat_0(
// PTX-NOT: {{(div|rem).[us]64}}
// PTX: ld.global.nc.v4.b32
// PTX-NOT: {{(div|rem).[us]64}}
// PTX: add.rn.f32
// PTX-NOT: {{(div|rem).[us]64}}
// PTX: st.global.v4.b32
rt.kernel @flat workspace(0) {
^bb0(%x: tensor<300x20xf32>, %b: tensor<20xf32>):
  %0 = dl.group kind(pointwise) [300, 20] (%x1 = %x : tensor<300x20xf32>, %b1 = %b : tensor<20xf32>) -> tensor<300x20xf32> {
    %1 = dl.broadcast %b1 dims [1] : (tensor<20xf32>) -> tensor<300x20xf32>
    %2 = dl.add %x1, %1 : tensor<300x20xf32>
    dl.yield %2 : tensor<300x20xf32>
  }
  dl.yield %0 : tensor<300x20xf32>
}

// -----

// A result over an input: no promise about either.
// CHECK-LABEL: gpu.func @in_place_0(
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.dereferenceable = 8192 : i64}, %{{.*}}: !llvm.ptr<1> {{[^%]*}}llvm.noalias, llvm.readonly}, %{{[^:]*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.dereferenceable = 8192 : i64}) kernel
// f64: two elements a thread.
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<2xf64>
// PTX-LABEL: .entry in_place_0(
// PTX: ld.global.v2.b64
// PTX: st.global.v2.b64
rt.kernel @in_place workspace(0) {
^bb0(%x: tensor<1024xf64>, %b: tensor<1024xf64>):
  %0 = dl.group kind(pointwise) [1024] (%x1 = %x : tensor<1024xf64>, %b1 = %b : tensor<1024xf64>) -> tensor<1024xf64>
      attributes {in_place = array<i64: 0>} {
    %2 = dl.add %x1, %b1 : tensor<1024xf64>
    dl.yield %2 : tensor<1024xf64>
  }
  dl.yield %0 : tensor<1024xf64>
}

// -----

// Read along columns: through a tile of shared memory, 4 x 3 blocks.
// CHECK-LABEL: gpu.module
// CHECK: llvm.mlir.global internal @[[TILE:.*]]() {addr_space = 3 : i32, alignment = 64 : i64{{.*}}} : !llvm.array<1056 x f32>
// CHECK: gpu.func @transposed_0(
// CHECK-SAME: known_block_size = array<i32: 32, 8, 1>, known_grid_size = array<i32: 12, 1, 1>
// CHECK: llvm.mlir.addressof @[[TILE]] : !llvm.ptr<3>
// CHECK-COUNT-4: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK: arith.addf
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// PTX-LABEL: .entry transposed_0(
// PTX-NOT: {{(div|rem).[us]64}}
// PTX: st.shared.b32
// PTX: bar{{.*}}.sync
// PTX: ld.shared.b32
rt.kernel @transposed workspace(0) {
^bb0(%x: tensor<100x70xf32>, %b: tensor<70x100xf32>):
  %0 = dl.group kind(pointwise) [70, 100] (%x1 = %x : tensor<100x70xf32>, %b1 = %b : tensor<70x100xf32>) -> tensor<70x100xf32> {
    %1 = dl.transpose %x1 permutation [1, 0] : (tensor<100x70xf32>) -> tensor<70x100xf32>
    %2 = dl.add %1, %b1 : tensor<70x100xf32>
    dl.yield %2 : tensor<70x100xf32>
  }
  dl.yield %0 : tensor<70x100xf32>
}

// -----

// One launch: 2 blocks for the first part's 300 threads, then one for the second part's 3.
// CHECK-LABEL: gpu.func @parts_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !llvm.ptr<1> {{[^%]*}}, %[[W:[a-z0-9]+]]: !llvm.ptr<1> {{[^%]*}}, %[[Y:[a-z0-9]+]]: !llvm.ptr<1> {{[^%]*}}, %[[V:[a-z0-9]+]]: !llvm.ptr<1>
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 3, 1, 1>
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK-DAG: llvm.getelementptr inbounds %[[X]][
// CHECK-DAG: llvm.getelementptr inbounds %[[Y]][
// CHECK: arith.subi
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK-DAG: llvm.getelementptr inbounds %[[W]][
// CHECK-DAG: llvm.getelementptr inbounds %[[V]][
// CHECK-NOT: gpu.func
// PTX-LABEL: .entry parts_0(
rt.kernel @parts workspace(0) {
^bb0(%x: tensor<1200xf32>, %w: tensor<3xf64>):
  %0:2 = dl.group kind(horizontal) [] (%a = %x : tensor<1200xf32>, %b = %w : tensor<3xf64>) -> (tensor<1200xf32>, tensor<3xf64>) {
    %1 = dl.group kind(pointwise) [1200] (%c = %a : tensor<1200xf32>) -> tensor<1200xf32> {
      %3 = dl.neg %c : tensor<1200xf32>
      dl.yield %3 : tensor<1200xf32>
    }
    %2 = dl.group kind(pointwise) [3] (%c = %b : tensor<3xf64>) -> tensor<3xf64> {
      %3 = dl.neg %c : tensor<3xf64>
      dl.yield %3 : tensor<3xf64>
    }
    dl.yield %1, %2 : tensor<1200xf32>, tensor<3xf64>
  }
  dl.yield %0#0, %0#1 : tensor<1200xf32>, tensor<3xf64>
}
