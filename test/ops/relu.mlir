// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @relu(
// CHECK: dl.relu %{{.*}} : tensor<17xf32>
func.func @relu(%x: tensor<17xf32> {dl.test = "nonzero"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.relu %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32> {dl.test = "nonzero"}) -> tensor<1xf32> {
  %y = dl.relu %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32> {dl.test = "nonzero"}) -> tensor<5x67xf32> {
  %y = dl.relu %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64> {dl.test = "nonzero"}) -> tensor<19xf64> {
  %y = dl.relu %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @num05(%x: tensor<5xf32> {dl.value = dense<[0x7FC00000, -1.0, 0.0, 2.0, 0x7F800000]> : tensor<5xf32>}) -> tensor<5xf32> attributes {dl.expect = dense<[0x7FC00000, 0.0, 0.0, 2.0, 0x7F800000]> : tensor<5xf32>} {
  %y = dl.relu %x : tensor<5xf32>
  return %y : tensor<5xf32>
}

func.func @at_zero(%x: tensor<3xf32> {dl.value = dense<[0.0, -1.0, 2.0]> : tensor<3xf32>}) -> tensor<3xf32> attributes {dl.expect = dense<[0.0, 0.0, 1.0]> : tensor<3xf32>} {
  %y = dl.relu %x : tensor<3xf32>
  %sum = dl.reduce_sum %y over [0] : (tensor<3xf32>) -> tensor<f32>
  %g = dl.gradient %sum wrt %x : tensor<f32>, tensor<3xf32>
  return %g : tensor<3xf32>
}
