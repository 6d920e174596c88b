// RUN: dlc compile %s --train=adamw --loss-scale=dynamic -o %t.1.so
// RUN: sed -e 's/"data" = 1 of/"data" = 2 of/' %s > %t.2.mlir
// RUN: sed -e 's/"data" = 1 of/"data" = 4 of/' %s > %t.4.mlir
// RUN: dlc compile %t.2.mlir --train=adamw --loss-scale=dynamic -o %t.2.so
// RUN: dlc compile %t.4.mlir --train=adamw --loss-scale=dynamic -o %t.4.so
// RUN: dlc run %t.1.so --steps 3 --save-state %t.1.safetensors
// RUN: dlc run %t.2.so --devices=cpu:2 --steps 3 --save-state %t.2.safetensors
// RUN: dlc run %t.4.so --devices=cpu:4 --steps 3 --save-state %t.4.safetensors
// RUN: cmp %t.1.safetensors %t.2.safetensors
// RUN: cmp %t.1.safetensors %t.4.safetensors
// RUN: %python %S/../tools/Inputs/state.py %t.4.safetensors scaler.scale scaler.growth_tracker opt.step | FileCheck %s

// The last row's gradient times 65536 is infinite: all members skip the first step, and the bits are those of one.
// CHECK: scaler.scale 32768
// CHECK: scaler.growth_tracker 2
// CHECK: opt.step 2
dl.mesh @mesh ["data" = 1 of 4]
dl.variable @w : tensor<2xf32> role(parameter) init(#dl.constant<0.1>)
func.func @loss() -> tensor<f32> attributes {dl.entry} {
  %w = dl.read @w : tensor<2xf32>
  %c = dl.constant dense<[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [1.0e34, 0.7]]> : tensor<4x2xf32>
  %x = dl.reshard %c to <[data, _]> : tensor<4x2xf32>
  %b = dl.broadcast %w dims [1] : (tensor<2xf32>) -> tensor<4x2xf32>
  %p = dl.mul %x, %b : tensor<4x2xf32>
  %l = dl.reduce_sum %p over [0, 1] : (tensor<4x2xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
