// RUN: dlc-opt %s -dl-add-training="optimizer=adamw loss-scale=65536 dynamic-scale clip-norm=1" | FileCheck %s --check-prefixes=CHECK,DYNAMIC
// RUN: dlc-opt %s -dl-add-training="optimizer=sgd loss-scale=128" | FileCheck %s --check-prefixes=CHECK,STATIC

// The scale is state; a static one has no count.
// DYNAMIC: dl.variable @scaler.scale : tensor<f32> role(hyper) init(#dl.constant<6.553600e+04
// STATIC: dl.variable @scaler.scale : tensor<f32> role(hyper) init(#dl.constant<1.280000e+02
// DYNAMIC: dl.variable @opt.max_norm : tensor<f64> role(hyper) init(#dl.constant<1.000000e+00
// DYNAMIC: dl.variable @scaler.growth_tracker : tensor<i64> role(counter) init(#dl.zeros)
// STATIC-NOT: growth_tracker
// CHECK-LABEL: func.func @train
// CHECK-DAG: %[[W:.*]] = dl.read @w
// CHECK-DAG: %[[B:.*]] = dl.read @b
// CHECK-DAG: %[[S:.*]] = dl.read @scaler.scale
// DYNAMIC-DAG: %[[COUNT:.*]] = dl.read @scaler.growth_tracker
// DYNAMIC-DAG: %[[STEP:.*]] = dl.read @opt.step
// DYNAMIC-DAG: %[[M:.*]] = dl.read @opt.exp_avg.w
// DYNAMIC-DAG: %[[MAX:.*]] = dl.read @opt.max_norm

// Scale, gradient, unscale.
// CHECK: %[[LOSS:.*]] = dl.reduce_sum
// CHECK: %[[SCALED:.*]] = dl.mul %[[LOSS]], %[[S]] : tensor<f32>
// CHECK: %[[G:.*]]:2 = dl.gradient %[[SCALED]] wrt %[[W]], %[[B]]
// CHECK: %[[GW:.*]], %[[FW:.*]] = dl.unscale %[[G]]#0 scale %[[S]]
// CHECK: %[[GB:.*]], %[[FB:.*]] = dl.unscale %[[G]]#1 scale %[[S]]
// CHECK: %[[FINITE:.*]] = dl.and %[[FW]], %[[FB]]
// CHECK: %[[FOUND:.*]] = dl.not %[[FINITE]]

// Clip what is unscaled, by all of it together.
// DYNAMIC: %[[NW:.*]] = dl.norm %[[GW]]
// DYNAMIC: %[[NB:.*]] = dl.norm %[[GB]]
// DYNAMIC: %{{.*}}, %[[FACTOR:.*]] = dl.clip_factor %[[NW]], %[[NB]] max_norm %[[MAX]]
// DYNAMIC: %[[CW:.*]] = dl.mul %[[GW]]
// STATIC-NOT: dl.clip_factor

// Skip parameters, state and the count of steps.
// DYNAMIC: %[[KEPT:.*]] = dl.select %[[FOUND]], %[[STEP]], %{{.*}} : tensor<i64>
// DYNAMIC: dl.write @opt.step, %[[KEPT]]
// DYNAMIC: %[[P:.*]], %[[M1:.*]], %{{.*}} = dl.adamw %[[W]], %[[CW]], %[[M]]
// STATIC: %[[P:.*]], %{{.*}} = dl.sgd %[[W]], %[[GW]]
// CHECK: %[[SKIP:.*]] = dl.broadcast %[[FOUND]] dims [] : (tensor<i1>) -> tensor<4xi1>
// CHECK: %[[NEW:.*]] = dl.select %[[SKIP]], %[[W]], %[[P]]
// CHECK: dl.write @w, %[[NEW]]
// DYNAMIC: dl.select %{{.*}}, %[[M]], %[[M1]]

// Update; the loss is given as it is.
// DYNAMIC: %[[S1:.*]], %[[COUNT1:.*]] = dl.update_scale %[[S]], %[[COUNT]] found %[[FOUND]] growth 2.000000e+00 backoff 5.000000e-01 interval 2000
// DYNAMIC: dl.write @scaler.scale, %[[S1]]
// DYNAMIC: dl.write @scaler.growth_tracker, %[[COUNT1]]
// STATIC-NOT: dl.write @scaler
// CHECK: return %[[LOSS]]
dl.variable @w : tensor<4xf32> role(parameter) init(#dl.zeros)
dl.variable @b : tensor<f32> role(parameter) init(#dl.zeros)
func.func @train(%x: tensor<4xf32>) -> tensor<f32> attributes {dl.entry} {
  %w = dl.read @w : tensor<4xf32>
  %b = dl.read @b : tensor<f32>
  %wx = dl.mul %w, %x : tensor<4xf32>
  %bb = dl.broadcast %b dims [] : (tensor<f32>) -> tensor<4xf32>
  %y = dl.add %wx, %bb : tensor<4xf32>
  %loss = dl.reduce_sum %y over [0] : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
