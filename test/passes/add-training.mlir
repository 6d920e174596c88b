// RUN: dlc-opt %s -dl-add-training=optimizer=sgd -split-input-file -verify-diagnostics | FileCheck %s --check-prefixes=CHECK,SGD
// RUN: dlc-opt %s -dl-add-training=optimizer=adamw -split-input-file -verify-diagnostics | FileCheck %s --check-prefixes=CHECK,ADAMW

// @frozen is not read and @stopped does not influence the loss: neither gets a gradient, state or an update.
// CHECK: dl.variable @stopped
// SGD-NEXT: dl.variable @opt.momentum_buffer.w : tensor<4xf32> role(optimizer_state) init(#dl.zeros)
// SGD-NEXT: dl.variable @opt.lr : tensor<f64> role(hyper) init(#dl.constant<1.000000e-02
// SGD-NEXT: dl.variable @opt.weight_decay : tensor<f64> role(hyper) init(#dl.constant<0.0
// SGD-NEXT: dl.variable @opt.momentum : tensor<f64> role(hyper) init(#dl.constant<0.0
// ADAMW-NEXT: dl.variable @opt.exp_avg.w : tensor<4xf32> role(optimizer_state) init(#dl.zeros)
// ADAMW-NEXT: dl.variable @opt.exp_avg_sq.w : tensor<4xf32> role(optimizer_state) init(#dl.zeros)
// ADAMW-NEXT: dl.variable @opt.lr : tensor<f64> role(hyper) init(#dl.constant<1.000000e-03
// ADAMW-NEXT: dl.variable @opt.beta1 : tensor<f64> role(hyper) init(#dl.constant<9.000000e-01
// ADAMW-NEXT: dl.variable @opt.beta2 : tensor<f64> role(hyper) init(#dl.constant<0.99
// ADAMW-NEXT: dl.variable @opt.eps : tensor<f64> role(hyper) init(#dl.constant<1.{{0*}}e-08
// ADAMW-NEXT: dl.variable @opt.weight_decay : tensor<f64> role(hyper) init(#dl.constant<1.000000e-02
// CHECK-NEXT: dl.variable @opt.step : tensor<i64> role(counter) init(#dl.zeros)
// CHECK: func.func @train
// CHECK: %[[W:.*]] = dl.read @w
// CHECK: %[[LOSS:.*]] = dl.reduce_sum
// CHECK: %[[G:.*]] = dl.gradient %[[LOSS]] wrt %[[W]] : tensor<f32>, tensor<4xf32>
// CHECK: dl.write @opt.step
// SGD: %[[P:.*]], %[[M:.*]] = dl.sgd %[[W]], %[[G]]
// ADAMW: %[[P:.*]], %[[M:.*]], %[[V:.*]] = dl.adamw %[[W]], %[[G]]
// CHECK-NEXT: dl.write @w, %[[P]]
// SGD-NEXT: dl.write @opt.momentum_buffer.w, %[[M]]
// ADAMW-NEXT: dl.write @opt.exp_avg.w, %[[M]]
// ADAMW-NEXT: dl.write @opt.exp_avg_sq.w, %[[V]]
// CHECK-NEXT: return %[[LOSS]]
// CHECK-NOT: dl.write
dl.variable @frozen : tensor<4xf32> role(parameter) init(#dl.zeros)
dl.variable @w : tensor<4xf32> role(parameter) init(#dl.zeros)
dl.variable @stopped : tensor<4xf32> role(parameter) init(#dl.zeros)
func.func @train(%x: tensor<4xf32>) -> tensor<f32> attributes {dl.entry} {
  %w = dl.read @w : tensor<4xf32>
  %s = dl.read @stopped : tensor<4xf32>
  %c = dl.stop_gradient %s : tensor<4xf32>
  %wx = dl.mul %w, %x : tensor<4xf32>
  %y = dl.add %wx, %c : tensor<4xf32>
  %loss = dl.reduce_sum %y over [0] : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-error@+1 {{expects one entry with a scalar float loss as first result, got 0}}
module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error@+1 {{expects a parameter that influences the loss, got none}}
func.func @f(%x: tensor<f32>) -> tensor<f32> attributes {dl.entry} {
  return %x : tensor<f32>
}

// -----

dl.variable @w : tensor<f32> role(parameter) init(#dl.zeros)
func.func @f(%x: tensor<f32>) -> tensor<f32> attributes {dl.entry} {
  // expected-error@+1 {{expects an entry without updates of its own, got a write to parameter @w}}
  dl.write @w, %x : tensor<f32>
  return %x : tensor<f32>
}

// -----

dl.variable @w : tensor<f32> role(parameter) init(#dl.zeros)
// expected-error@+1 {{expects @opt.lr to be free or a variable of type 'tensor<f64>' and role hyper}}
dl.variable @opt.lr : tensor<f32> role(hyper) init(#dl.zeros)
func.func @f() -> tensor<f32> attributes {dl.entry} {
  %w = dl.read @w : tensor<f32>
  return %w : tensor<f32>
}
