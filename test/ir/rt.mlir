// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK: rt.arena @parameter.f32 class(parameter) bytes(832)
rt.arena @parameter.f32 class(parameter) bytes(832)
rt.arena @activation class(activation) bytes(4096)
rt.arena @constant class(constant) bytes(64)
// CHECK: rt.data @constant[0] dense<{{.*}}> : tensor<2xf32>
rt.data @constant[0] dense<[1.0, 2.0]> : tensor<2xf32>

// CHECK: rt.kernel @k0 workspace(128)
// CHECK: dl.group kind(pointwise) [4]
rt.kernel @k0 workspace(128) {
^bb0(%a: tensor<4xf32>):
  %y = dl.group kind(pointwise) [4] (%x = %a : tensor<4xf32>) -> (tensor<4xf32>) attributes {in_place = array<i64: 0>} {
    %0 = dl.neg %x : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  dl.yield %y : tensor<4xf32>
}

// CHECK: rt.library @k1_0 call #rt.matmul<batch = 2, rows = 3, columns = 4, terms = 5, left = <operand = 0, offset = 8, element = f16, row_stride = 5, column_stride = 1, batch_stride = 15>, right = <operand = 1, offset = 0, element = f16, row_stride = 1, column_stride = 5, batch_stride = 0>, result = <operand = 3, offset = 0, element = f32, row_stride = 4, column_stride = 1, batch_stride = 12>, epilogue = gelu_grad, aux = 2, tf32 = true>{{$}}
rt.library @k1_0 call #rt.matmul<batch = 2, rows = 3, columns = 4, terms = 5,
  left = <operand = 0, offset = 8, element = f16, row_stride = 5, column_stride = 1, batch_stride = 15>,
  right = <operand = 1, offset = 0, element = f16, row_stride = 1, column_stride = 5, batch_stride = 0>,
  result = <operand = 3, offset = 0, element = f32, row_stride = 4, column_stride = 1, batch_stride = 12>,
  epilogue = gelu_grad, bias = -1, aux = 2, tf32 = true>

// CHECK: rt.program @step ("x": tensor<4xf32>) -> ("y": tensor<4xf32>) peak(4928) {
rt.program @step ("x": tensor<4xf32>) -> ("y": tensor<4xf32>) peak(4928) {
  // CHECK-DAG: %[[X:.*]] = rt.argument 0
  %0 = rt.argument 0
  // CHECK-DAG: %[[Y:.*]] = rt.result 0
  %1 = rt.result 0
  // CHECK-DAG: %[[A:.*]] = rt.slice @activation[64, 16]
  %2 = rt.slice @activation[64, 16]
  %3 = rt.slice @activation[128, 128]
  // CHECK: rt.copy %[[X]] to %[[A]] bytes(16)
  rt.copy %0 to %2 bytes(16)
  // CHECK: rt.launch @k0 reads(%[[A]]) writes(%[[Y]]) workspace(%{{.*}})
  rt.launch @k0 reads(%2) writes(%1) workspace(%3)
  rt.return
}
