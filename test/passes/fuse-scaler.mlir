// RUN: dlc-opt %s -dl-add-training="optimizer=sgd momentum=false loss-scale=65536 dynamic-scale clip-norm=1" -dl-frontend-pipeline -dl-fuse | FileCheck %s

// Everything behind a gradient is one kernel: the check, the norm, the clipped update of what is kept or not, the next scale.
// Nothing is asked of the host, and the gradient without its scale is never written.
// CHECK-LABEL: func.func @train
// CHECK: %[[W:.*]] = dl.read @w
// CHECK: %[[S:.*]] = dl.read @scaler.scale
// CHECK: %[[G:.*]] = dl.group kind(contract) [8, 16]
// CHECK: %[[STEP:.*]]:4 = dl.group kind(row) [16, 8] (%{{.*}} = %[[G]] : tensor<8x16xf32>, %[[SCALE:.*]] = %[[S]] : tensor<f32>{{.*}} %[[OLD:.*]] = %[[W]] : tensor<16x8xf32>
// CHECK: %[[FINITE:.*]] = dl.reduce_and %{{.*}} over [0, 1]
// CHECK: %[[WIDE:.*]] = dl.cast %[[SCALE]] : tensor<f32> to tensor<f64>
// CHECK: dl.div %{{.*}}, %[[WIDE]] : tensor<f64>
// CHECK: dl.reduce_sum %{{.*}} over [0, 1]
// CHECK: dl.minimum
// CHECK: %[[NEW:.*]] = dl.sub %[[OLD]], %{{.*}} : tensor<16x8xf32>
// CHECK: %[[SKIP:.*]] = dl.not %[[FINITE]]
// CHECK: %[[SKIPS:.*]] = dl.broadcast %[[SKIP]]
// CHECK: dl.select %[[SKIPS]], %[[OLD]], %[[NEW]] : tensor<16x8xf32>
// CHECK: dl.select %[[FINITE]], %{{.*}}, %{{.*}} : tensor<f32>
// CHECK: dl.yield
// CHECK-NOT: dl.group
// CHECK: dl.write @w, %[[STEP]]#1
// CHECK: dl.write @scaler.scale, %[[STEP]]#2

dl.variable @w : tensor<16x8xf32> role(parameter) init(#dl.zeros)
func.func @train(%x: tensor<4x16xf32>) -> tensor<f32> attributes {dl.entry} {
  %w = dl.read @w : tensor<16x8xf32>
  %y = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %s = dl.mul %y, %y : tensor<4x8xf32>
  %loss = dl.mean %s over [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
