// RUN: env DLC_PTXAS=%S/Inputs/ptxas dlc compile %s --target=cuda:sm_90 --emit=kernel-report | FileCheck %s
// RUN: env DLC_PTXAS=%S/Inputs/ptxas dlc compile %s --target=cuda:sm_90 --emit=cubin -o %t.cubin
// RUN: FileCheck %s --input-file=%t.cubin --check-prefix=CUBIN
// RUN: env DLC_PTXAS=/nowhere dlc compile %s --target=cuda:sm_90 --emit=kernel-report | FileCheck %s --check-prefix=BARE
// RUN: env DLC_PTXAS=/nowhere not dlc compile %s --target=cuda:sm_90 --emit=cubin -o %t.cubin 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: env DLC_PTXAS=%S/Inputs/broken-ptxas not dlc compile %s --target=cuda:sm_90 --emit=cubin -o %t.cubin 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BROKEN

// The first launch reads x and writes the workspace of 5 partial sums (64 bytes) behind 64 bytes for the result; the
// second one reads the workspace and writes y.
// 40 registers: 1280 a warp, 51 warps, in groups of 4 warps 48: 6 blocks of 8 warps of 64.
// CHECK: "block": [
// CHECK-NEXT: 256,
// CHECK: "bytes": 80128,
// CHECK: "grid": [
// CHECK-NEXT: 5,
// CHECK: "name": "k0_0",
// CHECK: "occupancy": 0.75,
// CHECK: "registers": 40,
// CHECK: "shared": 32,
// CHECK: "spillLoads": 0,
// CHECK: "spillStores": 0,
// CHECK: "stack": 0
// 255 registers: 8192 a warp, 8 warps: 1 block.
// CHECK: "bytes": 132,
// CHECK: "name": "k0_1",
// CHECK: "occupancy": 0.125,
// CHECK: "registers": 255,
// CHECK: "shared": 100,
// CHECK: "spillLoads": 80,
// CHECK: "spillStores": 84,
// CHECK: "stack": 88

// CUBIN: cubin -arch=sm_90

// BARE: "bytes": 80128,
// BARE-NOT: registers

// NONE: ptxas not found: set DLC_PTXAS, or CUDA_HOME to a CUDA toolkit; PTX runs without it

// BROKEN: ptxas refused generated code; this is an internal error of dlc
// BROKEN: ptxas [[PTX:.*ptx]], line 9; fatal   : Parsing error near 'x'
// BROKEN: to reproduce: {{.*}}broken-ptxas -arch=sm_90 [[PTX]] -o /dev/null
func.func @sum(%x: tensor<20000xf32> {dl.name = "x"}) -> (tensor<f32> {dl.name = "y"}) attributes {dl.entry} {
  %0 = dl.reduce_sum %x over [0] : (tensor<20000xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
