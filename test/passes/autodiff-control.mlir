// RUN: dlc-opt %s -dl-autodiff -dl-simplify -split-input-file | FileCheck %s

// The scan back carries the cotangent of the state and the sum of the weight's; of what the steps computed only the new
// state (once, it is a result anyway) and the old one are saved.
// CHECK-LABEL: func.func @rnn
// CHECK: %[[F:.*]]:3 = dl.scan 6 carry({{.*}}) slices({{.*}}) whole({{.*}}) -> (tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>)
// CHECK:   %[[N:.*]] = dl.tanh
// CHECK:   dl.yield %[[N]], %[[N]], %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
// CHECK: dl.scan 6 backwards carry({{[^)]*}} : tensor<4xf32>, {{[^)]*}} : tensor<4xf32>)
// CHECK-SAME: slices(%{{.*}} = %[[F]]#1 : tensor<6x4xf32>, %{{.*}} = %[[F]]#2 : tensor<6x4xf32>)
// CHECK-SAME: whole(%{{.*}} : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NOT: dl.tanh
// CHECK: return
func.func @rnn(%h0: tensor<4xf32>, %xs: tensor<6x4xf32>, %w: tensor<4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>) {
  %last, %all = dl.scan 6 carry(%h = %h0 : tensor<4xf32>) slices(%x = %xs : tensor<6x4xf32>) whole(%u = %w : tensor<4xf32>)
      -> (tensor<4xf32>, tensor<6x4xf32>) {
    %0 = dl.mul %h, %u : tensor<4xf32>
    %1 = dl.add %0, %x : tensor<4xf32>
    %2 = dl.tanh %1 : tensor<4xf32>
    dl.yield %2, %2 : tensor<4xf32>, tensor<4xf32>
  }
  %loss = dl.reduce_sum %last over [0] : (tensor<4xf32>) -> tensor<f32>
  %g = dl.gradient %loss wrt %w : tensor<f32>, tensor<4xf32>
  return %all, %g : tensor<6x4xf32>, tensor<4xf32>
}

// -----

// Each side yields zeros for what only the other needs, forth and back.
// CHECK-LABEL: func.func @choice
// CHECK: %[[F:.*]]:2 = dl.cond %[[P:[^ ]*]] (
// CHECK:   %[[E:.*]] = dl.exp
// CHECK:   dl.yield %{{.*}}, %[[E]]
// CHECK: } else
// CHECK:   %[[Z:.*]] = dl.constant dense<0.0{{.*}}> : tensor<4xf32>
// CHECK:   dl.yield %{{.*}}, %[[Z]]
// CHECK: %[[B:.*]]:2 = dl.cond %[[P]] ({{.*}} = %[[F]]#1
// CHECK-NOT: dl.exp
// CHECK: return %[[B]]#0, %[[B]]#1, %[[F]]#0
func.func @choice(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r = dl.cond %p (%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> tensor<4xf32> {
    %0 = dl.exp %a : tensor<4xf32>
    %1 = dl.mul %0, %0 : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  } else (%a, %b) {
    dl.yield %b : tensor<4xf32>
  }
  %loss = dl.reduce_sum %r over [0] : (tensor<4xf32>) -> tensor<f32>
  %g:2 = dl.gradient %loss wrt %x, %y : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  return %g#0, %g#1, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
