// RUN: dlc-check --sim --allow=tf32 --function=whole %s && dlc-check --sim --allow=tf32 --function=taps %s
// RUN: dlc compile %s --target=sim --allow=tf32 --emit=gpu | FileCheck %s
// RUN: dlc compile %s --target=sim --emit=gpu | FileCheck %s --check-prefix=IEEE
// RUN: dlc compile %s --target=cuda:sm_80 --allow=tf32 --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: dlc compile %s --target=sim --allow=tf32 -o %t.so && dlc run %t.so --device=sim:0 --entry=rounded --output y=%t.npy
// RUN: %python -c "import struct; print(struct.unpack('<256f', open(r'%t.npy', 'rb').read()[-1024:])[:3])" | FileCheck %s --check-prefix=VALUES

// IEEE-NOT: mma.sync
// PTX: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32

// Whole numbers of up to 10 bits are seen as they are, and the rules for f32 hold.
// CHECK: arith.cmpf uno
// CHECK: nvvm.mma.sync {{.*}} multiplicandAPtxType = #nvvm.mma_type<tf32>
func.func @whole(%i: tensor<40x24xi64> {dl.test = "index:1000"}, %j: tensor<24x20xi64> {dl.test = "index:9"}) -> tensor<40x20xf32>
    attributes {dl.entry} {
  %x = dl.cast %i : tensor<40x24xi64> to tensor<40x24xf32>
  %w = dl.cast %j : tensor<24x20xi64> to tensor<24x20xf32>
  %y = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<40x24xf32>, tensor<24x20xf32>) -> tensor<40x20xf32>
  return %y : tensor<40x20xf32>
}

func.func @taps(%i: tensor<2x3x5x6xi64> {dl.test = "index:1000"}, %j: tensor<4x3x2x3xi64> {dl.test = "index:9"}) -> tensor<2x4x3x5xf32>
    attributes {dl.entry} {
  %x = dl.cast %i : tensor<2x3x5x6xi64> to tensor<2x3x5x6xf32>
  %w = dl.cast %j : tensor<4x3x2x3xi64> to tensor<4x3x2x3xf32>
  %y = dl.conv %x, %w strides [2, 1] padding_lo [1, 0] padding_hi [0, 1] : (tensor<2x3x5x6xf32>, tensor<4x3x2x3xf32>) -> tensor<2x4x3x5xf32>
  return %y : tensor<2x4x3x5xf32>
}

// 1 + 2^-12 is seen as 1, 1 + 2^-11 as 1 + 2^-10, and 16 terms of them times 1 are added.
// VALUES: (16.0, 16.015625, 16.0)
func.func @rounded() -> (tensor<16x16xf32> {dl.name = "y"}) attributes {dl.entry} {
  %k = dl.iota axis 1 : tensor<16x16xi64>
  %one = dl.constant dense<1> : tensor<16x16xi64>
  %second = dl.compare eq, %k, %one : tensor<16x16xi64>
  %low = dl.constant dense<1.000244140625> : tensor<16x16xf32>
  %high = dl.constant dense<1.00048828125> : tensor<16x16xf32>
  %w = dl.select %second, %high, %low : tensor<16x16xf32>
  %x = dl.constant dense<1.0> : tensor<16x16xf32>
  %y = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}
