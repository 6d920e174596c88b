// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @cross_entropy
// CHECK: dl.cross_entropy %{{.*}}, %{{.*}} {label_smoothing = 1.000000e-01 : f64} : (tensor<3x4xf32>, tensor<3xi64>) -> tensor<f32>
func.func @cross_entropy(%x: tensor<3x4xf32>) -> tensor<f32> {
  %t = dl.constant dense<[0, 3, -100]> : tensor<3xi64>
  %y = dl.cross_entropy %x, %t {label_smoothing = 1.000000e-01 : f64} : (tensor<3x4xf32>, tensor<3xi64>) -> tensor<f32>
  return %y : tensor<f32>
}
