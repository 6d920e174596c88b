// RUN: dlc-opt %s -dl-fuse -dl-backend-pipeline -split-input-file | FileCheck %s

// Two products of one shape share a kernel; the reshape has none; entry names and the peak are kept.
dl.variable @w : tensor<4x4xf32> role(parameter) init(#dl.zeros)
// CHECK: dl.variable @w {{.*}} slot(<"parameter.f32", 0, 64>)
// CHECK: rt.arena @parameter.f32 class(parameter) bytes(64)
// CHECK: rt.arena @activation class(activation) bytes(64)
// CHECK: rt.kernel @k0 workspace(0)
// CHECK: dl.group kind(contract) [4, 4]
// CHECK-NOT: slots
// CHECK: rt.program @step ("x": tensor<4x4xf32>) -> ("y": tensor<16xf32>) peak(256) {
// CHECK-DAG: %[[X:.*]] = rt.argument 0
// CHECK-DAG: %[[W:.*]] = rt.slice @parameter.f32[0, 64]
// CHECK-DAG: %[[A:.*]] = rt.slice @activation[0, 64]
// CHECK: rt.launch @k0 reads(%[[X]], %[[W]]) writes(%[[A]])
// CHECK: %[[Y:.*]] = rt.result 0
// CHECK: rt.launch @k0 reads(%[[A]], %[[W]]) writes(%[[Y]])
// CHECK-NEXT: rt.return
// CHECK-NOT: rt.kernel
// CHECK-NOT: func.func
func.func @step(%x: tensor<4x4xf32> {dl.name = "x"}) -> (tensor<16xf32> {dl.name = "y"}) attributes {dl.entry} {
  %w = dl.read @w : tensor<4x4xf32>
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = dl.dot_general %0, %w batch [] x [] contract [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = dl.reshape %1 : (tensor<4x4xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// -----

// Two entries share arenas and a constant; the arena of activations holds the two values of the second.
// CHECK: rt.arena @activation class(activation) bytes(128)
// CHECK: rt.arena @constant class(constant) bytes(64)
// CHECK: rt.data @constant[0] dense<[1.0{{.*}}, 2.0{{.*}}]> : tensor<2xf32>
// CHECK-NOT: rt.data
// CHECK: rt.program @one () -> ("result0": tensor<2xf32>)
// CHECK: %[[C:.*]] = rt.slice @constant[0, 8]
// CHECK: %[[R:.*]] = rt.result 0
// CHECK: rt.copy %[[C]] to %[[R]] bytes(8)
// CHECK: rt.program @two ("argument0": tensor<2x2xf32>) -> ("result0": tensor<2x2xf32>)
func.func @one() -> tensor<2xf32> attributes {dl.entry} {
  %c = dl.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %c : tensor<2xf32>
}
func.func @two(%x: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {dl.entry} {
  %c = dl.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = dl.broadcast %c dims [1] : (tensor<2xf32>) -> tensor<2x2xf32>
  %0 = dl.dot_general %x, %x batch [] x [] contract [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = dl.dot_general %0, %b batch [] x [] contract [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
