// RUN: dlc-check --sim --allow=unordered-atomics %s
// RUN: dlc compile %s --target=sim --allow=unordered-atomics --emit=gpu | FileCheck %s
// RUN: dlc compile %s --target=sim --emit=gpu | FileCheck %s --check-prefix=ORDERED
// RUN: not dlc compile %s --target=sim --allow=haste --emit=gpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: cannot allow 'haste'; expected unordered-atomics or tf32
// CHECK: llvm.atomicrmw fadd
// ORDERED-NOT: llvm.atomicrmw

// Whole numbers: every order has one sum. x = [1, 0, 0, 2] and rows 0, 3, 3, none, 0, 3 of updates [n, 10 n].
func.func @whole(
    %x: tensor<4x2xf32> {dl.value = dense<[[1.0,1.0],[0.0,0.0],[0.0,0.0],[2.0,2.0]]> : tensor<4x2xf32>},
    %i: tensor<6xi64> {dl.value = dense<[0,3,3,4,0,3]> : tensor<6xi64>},
    %u: tensor<6x2xf32> {dl.value = dense<[[1.0,10.0],[2.0,20.0],[3.0,30.0],[4.0,40.0],[5.0,50.0],[6.0,60.0]]> : tensor<6x2xf32>})
    -> tensor<4x2xf32>
    attributes {dl.entry, dl.expect = dense<[[7.0,61.0],[0.0,0.0],[0.0,0.0],[13.0,112.0]]> : tensor<4x2xf32>} {
  %y = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<4x2xf32>, tensor<6xi64>, tensor<6x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// 300 ones into 7 places along the last of three dims.
func.func @along(%i: tensor<3x300xi32> {dl.test = "index:7"}) -> tensor<3x5x7xf64> attributes {dl.entry} {
  %zero = dl.constant dense<0.0> : tensor<3x5x7xf64>
  %one = dl.constant dense<1.0> : tensor<3x5x300xf64>
  %y = dl.scatter %zero, %i, %one axis 2 batch_dims 1 kind(add)
      : (tensor<3x5x7xf64>, tensor<3x300xi32>, tensor<3x5x300xf64>) -> tensor<3x5x7xf64>
  return %y : tensor<3x5x7xf64>
}
