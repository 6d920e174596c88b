// REQUIRES: ptxas
// RUN: dlc compile %s --target=cuda:sm_80 --emit=kernel-report | FileCheck %s
// RUN: dlc compile %s --target=cuda:sm_90 --emit=kernel-report | FileCheck %s
// RUN: dlc compile %s --target=cuda:sm_100 --emit=kernel-report | FileCheck %s

// Nothing is spilled, whatever the depth and the width.
// CHECK-COUNT-8: "spillStores": 0,
// CHECK-NOT: "spillStores"
func.func @main(
    %q16: tensor<32x32x16xf32>, %q17: tensor<3x65x17xf32>, %v9: tensor<3x65x9xf32>, %m: tensor<3x65x65xf32>,
    %q64: tensor<96x512x64xf32>, %q128: tensor<64x128x128xf32>, %q500: tensor<4x50x500xf32>, %v300: tensor<4x50x300xf32>,
    %b: tensor<4x50x50xi1>, %one: tensor<96x1x64xf32>, %d: tensor<64x96x64xf64>, %d256: tensor<8x40x256xf64>)
    -> (tensor<32x32x16xf32>, tensor<3x65x9xf32>, tensor<96x512x64xf32>, tensor<64x128x128xf32>, tensor<4x50x300xf32>,
        tensor<96x1x64xf32>, tensor<64x96x64xf64>, tensor<8x40x256xf64>) attributes {dl.entry} {
  %0:2 = dl.attention %q16, %q16, %q16 causal scale 0.25
      : (tensor<32x32x16xf32>, tensor<32x32x16xf32>, tensor<32x32x16xf32>) -> (tensor<32x32x16xf32>, tensor<32x32xf32>)
  %1:2 = dl.attention %q17, %q17, %v9 mask %m scale 0.25
      : (tensor<3x65x17xf32>, tensor<3x65x17xf32>, tensor<3x65x9xf32>, tensor<3x65x65xf32>) -> (tensor<3x65x9xf32>, tensor<3x65xf32>)
  %2:2 = dl.attention %q64, %q64, %q64 causal scale 0.125
      : (tensor<96x512x64xf32>, tensor<96x512x64xf32>, tensor<96x512x64xf32>) -> (tensor<96x512x64xf32>, tensor<96x512xf32>)
  %3:2 = dl.attention %q128, %q128, %q128 scale 0.0884
      : (tensor<64x128x128xf32>, tensor<64x128x128xf32>, tensor<64x128x128xf32>) -> (tensor<64x128x128xf32>, tensor<64x128xf32>)
  %4:2 = dl.attention %q500, %q500, %v300 mask %b causal scale 0.0447
      : (tensor<4x50x500xf32>, tensor<4x50x500xf32>, tensor<4x50x300xf32>, tensor<4x50x50xi1>) -> (tensor<4x50x300xf32>, tensor<4x50xf32>)
  %5:2 = dl.attention %one, %q64, %q64 scale 0.125
      : (tensor<96x1x64xf32>, tensor<96x512x64xf32>, tensor<96x512x64xf32>) -> (tensor<96x1x64xf32>, tensor<96x1xf32>)
  %6:2 = dl.attention %d, %d, %d causal scale 0.125
      : (tensor<64x96x64xf64>, tensor<64x96x64xf64>, tensor<64x96x64xf64>) -> (tensor<64x96x64xf64>, tensor<64x96xf64>)
  %7:2 = dl.attention %d256, %d256, %d256 scale 0.0625
      : (tensor<8x40x256xf64>, tensor<8x40x256xf64>, tensor<8x40x256xf64>) -> (tensor<8x40x256xf64>, tensor<8x40xf64>)
  return %0#0, %1#0, %2#0, %3#0, %4#0, %5#0, %6#0, %7#0
      : tensor<32x32x16xf32>, tensor<3x65x9xf32>, tensor<96x512x64xf32>, tensor<64x128x128xf32>, tensor<4x50x300xf32>,
        tensor<96x1x64xf32>, tensor<64x96x64xf64>, tensor<8x40x256xf64>
}
