// RUN: dlc-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @reshapes
// CHECK-NEXT: dl.reshape %arg0 : (tensor<2x6xf32>) -> tensor<12xf32>
// CHECK-NEXT: return
func.func @reshapes(%x: tensor<2x6xf32>) -> tensor<12xf32> {
  %0 = dl.reshape %x : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %1 = dl.reshape %0 : (tensor<3x4xf32>) -> tensor<12xf32>
  return %1 : tensor<12xf32>
}

// -----

// CHECK-LABEL: func.func @there_and_back
// CHECK-NEXT: return %arg0, %arg1, %arg0
func.func @there_and_back(%x: tensor<2x6xf32>, %y: tensor<2x3x4xf32>) -> (tensor<2x6xf32>, tensor<2x3x4xf32>, tensor<2x6xf32>) {
  %0 = dl.reshape %x : (tensor<2x6xf32>) -> tensor<12xf32>
  %1 = dl.reshape %0 : (tensor<12xf32>) -> tensor<2x6xf32>
  %2 = dl.transpose %y permutation [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %3 = dl.transpose %2 permutation [1, 2, 0] : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  %4 = dl.reverse %x axes [0] : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %5 = dl.reverse %4 axes [0] : (tensor<2x6xf32>) -> tensor<2x6xf32>
  return %1, %3, %5 : tensor<2x6xf32>, tensor<2x3x4xf32>, tensor<2x6xf32>
}

// -----

// CHECK-LABEL: func.func @compositions
// CHECK-NEXT: dl.transpose %arg0 permutation [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
// CHECK-NEXT: dl.broadcast %arg1 dims [2] : (tensor<4xf32>) -> tensor<5x3x4xf32>
// CHECK-NEXT: dl.slice %arg2 starts [3] limits [10] strides [6] : (tensor<12xf32>) -> tensor<2xf32>
// CHECK-NEXT: return
func.func @compositions(%x: tensor<2x3x4xf32>, %b: tensor<4xf32>, %s: tensor<12xf32>)
    -> (tensor<3x4x2xf32>, tensor<5x3x4xf32>, tensor<2xf32>) {
  %0 = dl.transpose %x permutation [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = dl.transpose %0 permutation [2, 0, 1] : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  %2 = dl.broadcast %b dims [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  %3 = dl.broadcast %2 dims [1, 2] : (tensor<3x4xf32>) -> tensor<5x3x4xf32>
  %4 = dl.slice %s starts [1] limits [12] strides [2] : (tensor<12xf32>) -> tensor<6xf32>
  %5 = dl.slice %4 starts [1] limits [6] strides [3] : (tensor<6xf32>) -> tensor<2xf32>
  return %1, %3, %5 : tensor<3x4x2xf32>, tensor<5x3x4xf32>, tensor<2xf32>
}

// -----

// The second transpose applied first would be the other permutation.
// CHECK-LABEL: func.func @order_of_transposes
// CHECK-NEXT: dl.transpose %arg0 permutation [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
func.func @order_of_transposes(%x: tensor<2x3x4xf32>) -> tensor<2x4x3xf32> {
  %0 = dl.transpose %x permutation [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = dl.transpose %0 permutation [1, 0, 2] : (tensor<4x2x3xf32>) -> tensor<2x4x3xf32>
  return %1 : tensor<2x4x3xf32>
}

// -----

// CHECK-LABEL: func.func @splats
// CHECK-DAG: dl.constant dense<1.000000e+00> : tensor<2x3xf32>
// CHECK-DAG: dl.constant dense<0.000000e+00> : tensor<5xf32>
// CHECK-NEXT: return
func.func @splats() -> (tensor<2x3xf32>, tensor<5xf32>) {
  %one = dl.constant dense<1.0> : tensor<f32>
  %zeros = dl.constant dense<0.0> : tensor<3xf32>
  %zero = dl.constant dense<0.0> : tensor<f32>
  %0 = dl.broadcast %one dims [] : (tensor<f32>) -> tensor<2x3xf32>
  %1 = dl.pad %zeros, %zero lo [1] hi [1] interior [0] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<5xf32>
}
