// RUN: dlc-opt %s -dl-frontend-pipeline -dl-fuse | FileCheck %s

// One kernel gives the value and, as nothing else lies between, the gradient of x. The kernel for those of weight and bias
// takes a mean and a deviation a row, not the normalized rows.
// CHECK-LABEL: func.func @layer_norm
// CHECK-SAME: %[[X:.*]]: tensor<16x64xf32>, %[[G:.*]]: tensor<16x64xf32>, %{{.*}}: tensor<64xf32>, %{{.*}}: tensor<64xf32>)
// CHECK: %[[F:.*]]:4 = dl.group kind(row) [16, 64]
// CHECK-SAME: -> (tensor<16xf32>, tensor<16xf32>, tensor<16x64xf32>, tensor<16x64xf32>)
// CHECK: dl.group kind(column) [16, 64] (%{{.*}} = %[[G]] : {{.*}} = %[[X]] : {{.*}} = %[[F]]#0 : {{.*}} = %[[F]]#1 :
// CHECK-SAME: -> (tensor<64xf32>, tensor<64xf32>)
// CHECK-NOT: dl.group
func.func @layer_norm(%x: tensor<16x64xf32>, %g: tensor<16x64xf32>, %w: tensor<64xf32>, %b: tensor<64xf32>)
    -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.0e-5 : (tensor<16x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %h = dl.mul %y, %g : tensor<16x64xf32>
  %s = dl.reduce_sum %h over [0, 1] : (tensor<16x64xf32>) -> tensor<f32>
  %d:3 = dl.gradient %s wrt %x, %w, %b : tensor<f32>, tensor<16x64xf32>, tensor<64xf32>, tensor<64xf32>
  return %y, %d#0, %d#1, %d#2 : tensor<16x64xf32>, tensor<16x64xf32>, tensor<64xf32>, tensor<64xf32>
}

// Two passes over x for the statistics and one for the value; one over x and g for all sums of the derivative, and one for the
// gradient of x. Nothing of the size of x is kept but the results.
// CHECK-LABEL: func.func @batch_norm
// CHECK-SAME: %[[X:[^:]*]]: tensor<16x8x32x32xf32>, %[[G:[^:]*]]: tensor<16x8x32x32xf32>,
// CHECK: %[[S:.*]] = dl.group kind(column) [16, 8, 32, 32] (%{{.*}} = %[[X]] : tensor<16x8x32x32xf32>) -> tensor<8xf32>
// CHECK: dl.group kind(column) [16, 8, 32, 32] (%{{.*}} = %[[X]] : tensor<16x8x32x32xf32>, %{{.*}} = %[[S]] :
// CHECK: %[[Y:.*]] = dl.group kind(pointwise) [16, 8, 32, 32] {{.*}} -> tensor<16x8x32x32xf32>
// CHECK: %[[D:.*]]:4 = dl.group kind(column) [16, 8, 32, 32] (%{{.*}} = %[[G]] : {{.*}} = %[[X]] :
// CHECK-SAME: -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
// CHECK: %[[DX:.*]] = dl.group kind(pointwise) [16, 8, 32, 32] {{.*}} -> tensor<16x8x32x32xf32>
// CHECK-NOT: dl.group
// CHECK: return %[[Y]], %[[DX]], %[[D]]#2, %[[D]]#0 :
func.func @batch_norm(%x: tensor<16x8x32x32xf32>, %g: tensor<16x8x32x32xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>)
    -> (tensor<16x8x32x32xf32>, tensor<16x8x32x32xf32>, tensor<8xf32>, tensor<8xf32>) {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.0e-5 : (tensor<16x8x32x32xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<16x8x32x32xf32>, tensor<8xf32>, tensor<8xf32>)
  %h = dl.mul %y#0, %g : tensor<16x8x32x32xf32>
  %s = dl.reduce_sum %h over [0, 1, 2, 3] : (tensor<16x8x32x32xf32>) -> tensor<f32>
  %d:3 = dl.gradient %s wrt %x, %w, %b : tensor<f32>, tensor<16x8x32x32xf32>, tensor<8xf32>, tensor<8xf32>
  return %y#0, %d#0, %d#1, %d#2 : tensor<16x8x32x32xf32>, tensor<16x8x32x32xf32>, tensor<8xf32>, tensor<8xf32>
}
