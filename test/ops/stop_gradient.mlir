// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// d/dx (x * stop(x)) is stop(x) alone.
// CHECK-LABEL: func.func @stop_gradient(
// CHECK: dl.stop_gradient %{{.*}} : tensor<f32>
func.func @stop_gradient(%x: tensor<f32> {dl.value = dense<3.0> : tensor<f32>}) -> (tensor<f32>, tensor<f32>)
    attributes {dl.expect = [dense<9.0> : tensor<f32>, dense<3.0> : tensor<f32>]} {
  %s = dl.stop_gradient %x : tensor<f32>
  %y = dl.mul %x, %s : tensor<f32>
  %g = dl.gradient %y wrt %x : tensor<f32>, tensor<f32>
  return %y, %g : tensor<f32>, tensor<f32>
}
