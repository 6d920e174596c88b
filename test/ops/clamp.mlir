// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @clamp(
// CHECK: dl.clamp %{{.*}} min(-5.000000e-01) max(7.500000e-01) : tensor<17xf32>
func.func @clamp(%x: tensor<17xf32>) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.clamp %x min(-0.5) max(0.75) : tensor<17xf32>
  return %y : tensor<17xf32>
}

// CHECK-LABEL: func.func @min_only(
// CHECK: dl.clamp %{{.*}} min(-5.000000e-01) : tensor<17xf32>
func.func @min_only(%x: tensor<17xf32>) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.clamp %x min(-0.5) : tensor<17xf32>
  return %y : tensor<17xf32>
}

// CHECK-LABEL: func.func @max_only(
// CHECK: dl.clamp %{{.*}} max(7.500000e-01) : tensor<17xf32>
func.func @max_only(%x: tensor<17xf32>) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.clamp %x max(0.75) : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @large(%x: tensor<5x67xf64>) -> tensor<5x67xf64> {
  %y = dl.clamp %x min(-0.1) max(0.1) : tensor<5x67xf64>
  return %y : tensor<5x67xf64>
}

func.func @num05(%x: tensor<4xf32> {dl.value = dense<[0x7FC00000, 0xFF800000, 0x7F800000, 0.25]> : tensor<4xf32>}) -> tensor<4xf32> attributes {dl.expect = dense<[0x7FC00000, -1.0, 1.0, 0.25]> : tensor<4xf32>} {
  %y = dl.clamp %x min(-1.0) max(1.0) : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @num05_min(%x: tensor<1xf32> {dl.value = dense<[0x7FC00000]> : tensor<1xf32>}) -> tensor<1xf32> attributes {dl.expect = dense<[0x7FC00000]> : tensor<1xf32>} {
  %y = dl.clamp %x min(0.5) : tensor<1xf32>
  return %y : tensor<1xf32>
}

// GRAD-19: the closed interval, as min(max()).
func.func @grad19(%x: tensor<5xf32> {dl.value = dense<[-1.0, 0.0, 1.0, -1.5, 1.5]> : tensor<5xf32>}) -> tensor<5xf32> attributes {dl.expect = dense<[1.0, 1.0, 1.0, 0.0, 0.0]> : tensor<5xf32>} {
  %y = dl.clamp %x min(-1.0) max(1.0) : tensor<5xf32>
  %sum = dl.reduce_sum %y over [0] : (tensor<5xf32>) -> tensor<f32>
  %g = dl.gradient %sum wrt %x : tensor<f32>, tensor<5xf32>
  return %g : tensor<5xf32>
}

func.func @grad19_by_extrema(%x: tensor<5xf32> {dl.value = dense<[-1.0, 0.0, 1.0, -1.5, 1.5]> : tensor<5xf32>}) -> tensor<5xf32> attributes {dl.expect = dense<[1.0, 1.0, 1.0, 0.0, 0.0]> : tensor<5xf32>} {
  %low = dl.constant dense<-1.0> : tensor<5xf32>
  %high = dl.constant dense<1.0> : tensor<5xf32>
  %m = dl.maximum %x, %low : tensor<5xf32>
  %y = dl.minimum %m, %high : tensor<5xf32>
  %sum = dl.reduce_sum %y over [0] : (tensor<5xf32>) -> tensor<f32>
  %g = dl.gradient %sum wrt %x : tensor<f32>, tensor<5xf32>
  return %g : tensor<5xf32>
}

func.func @grad19_relu6(%x: tensor<3xf32> {dl.value = dense<[0.0, 6.0, 7.0]> : tensor<3xf32>}) -> tensor<3xf32> attributes {dl.expect = dense<[1.0, 1.0, 0.0]> : tensor<3xf32>} {
  %y = dl.clamp %x min(0.0) max(6.0) : tensor<3xf32>
  %sum = dl.reduce_sum %y over [0] : (tensor<3xf32>) -> tensor<f32>
  %g = dl.gradient %sum wrt %x : tensor<f32>, tensor<3xf32>
  return %g : tensor<3xf32>
}
