// A step whose branch depends on the state is never replayed as a graph: the host waits for the predicate each time.
// RUN: dlc compile %s --target=cpu,sim -o %t.so
// RUN: dlc run %t.so --device cpu --steps 6 --save-state %t.cpu.safetensors | FileCheck %s
// RUN: env DLC_GPU_LIBRARY=%fakegpu dlc run %t.so --device cuda:0 --steps 6 --save-state %t.cuda.safetensors | FileCheck %s
// RUN: cmp %t.cpu.safetensors %t.cuda.safetensors

// w: 1 -> 3 -> 9 -> 27 while below 20, then less 10 each time: 17 -> 51 -> 41.
// CHECK: sum = 164
dl.variable @w : tensor<4xf32> role(parameter) init(#dl.constant<1.0>)

func.func @step() -> (tensor<f32> {dl.name = "sum"}) attributes {dl.entry} {
  %w = dl.read @w : tensor<4xf32>
  %s = dl.reduce_sum %w over [0] : (tensor<4xf32>) -> tensor<f32>
  %limit = dl.constant dense<80.0> : tensor<f32>
  %p = dl.compare lt, %s, %limit : tensor<f32>
  %new = dl.cond %p (%a = %w : tensor<4xf32>) -> tensor<4xf32> {
    %three = dl.constant dense<3.0> : tensor<4xf32>
    %0 = dl.mul %a, %three : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  } else (%a) {
    %ten = dl.constant dense<10.0> : tensor<4xf32>
    %0 = dl.sub %a, %ten : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  dl.write @w, %new : tensor<4xf32>
  %sum = dl.reduce_sum %new over [0] : (tensor<4xf32>) -> tensor<f32>
  return %sum : tensor<f32>
}
