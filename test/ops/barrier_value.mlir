// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @barrier(
// CHECK: dl.barrier_value %{{.*}} : tensor<4xf32> after %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<f32>
// CHECK: dl.barrier_value %{{.*}} : tensor<4xf32>{{$}}
func.func @barrier(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {dl.check_gradient} {
  %0 = dl.exp %w : tensor<4xf32>
  %s = dl.reduce_sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
  %b = dl.barrier_value %x : tensor<4xf32> after %0, %s : tensor<4xf32>, tensor<f32>
  %c = dl.barrier_value %0 : tensor<4xf32>
  %1 = dl.mul %b, %c : tensor<4xf32>
  return %1, %b : tensor<4xf32>, tensor<4xf32>
}

func.func @value(%x: tensor<2xi64> {dl.value = dense<[3, 4]> : tensor<2xi64>}) -> tensor<2xi64>
    attributes {dl.expect = dense<[3, 4]> : tensor<2xi64>} {
  %b = dl.barrier_value %x : tensor<2xi64>
  return %b : tensor<2xi64>
}
