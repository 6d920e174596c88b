// RUN: dlc-opt %s -dl-frontend-pipeline | FileCheck %s
// RUN: dlc-opt %s -dl-frontend-pipeline | dlc-opt -dl-frontend-pipeline | FileCheck %s

// State, derivative, decomposition and simplification in one go: only primitives, one read, one write, nothing twice,
// nothing dead. Its own output is accepted and unchanged.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[LR:.*]]: tensor<4xf32>)
// CHECK: %[[W:.*]] = dl.read @w
// CHECK-NEXT: %[[XW:.*]] = dl.mul %[[X]], %[[W]]
// CHECK-NEXT: %[[LOSS:.*]] = dl.reduce_sum %[[XW]] over [0]
// CHECK-NEXT: %[[STEP:.*]] = dl.mul %[[LR]], %[[X]]
// CHECK-NEXT: %[[NEW:.*]] = dl.sub %[[W]], %[[STEP]]
// CHECK-NEXT: dl.write @w, %[[NEW]]
// CHECK-NEXT: return %[[LOSS]]
dl.variable @w : tensor<4xf32> role(parameter) init(#dl.zeros)
func.func @train(%x: tensor<4xf32>, %lr: tensor<4xf32>) -> tensor<f32> attributes {dl.entry} {
  %w = dl.read @w : tensor<4xf32>
  %xw = dl.mul %x, %w : tensor<4xf32>
  %unused = dl.exp %xw : tensor<4xf32>
  %loss = dl.reduce_sum %xw over [0] : (tensor<4xf32>) -> tensor<f32>
  %w2 = dl.read @w : tensor<4xf32>
  %g = dl.gradient %loss wrt %w2 : tensor<f32>, tensor<4xf32>
  %s = dl.stop_gradient %g : tensor<4xf32>
  %step = dl.mul %lr, %s : tensor<4xf32>
  %new = dl.sub %w2, %step : tensor<4xf32>
  dl.write @w, %new : tensor<4xf32>
  return %loss : tensor<f32>
}
