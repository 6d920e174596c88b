// RUN: dlc-opt %s --dl-decompose | FileCheck %s --check-prefix=WHOLE
// RUN: dlc-opt %s --dl-decompose=all | FileCheck %s --check-prefix=ALL

// WHOLE: dl.attention
// ALL-NOT: dl.attention
// ALL: dl.dot_general
// ALL: dl.exp
// ALL: dl.dot_general
func.func @attention(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y, %lse = dl.attention %x, %x, %x scale 0.5
      : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return %y : tensor<3x4xf32>
}
