// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @sgd_gradient(%p: tensor<2xf32>, %g: tensor<3xf32>, %lr: tensor<f64>, %wd: tensor<f64>) {
  // expected-error@+1 {{expects the gradient and states of the parameter's type 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %0 = dl.sgd %p, %g lr %lr weight_decay %wd : (tensor<2xf32>, tensor<3xf32>, tensor<f64>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

func.func @sgd_scalar(%p: tensor<2xf32>, %lr: tensor<1xf64>, %wd: tensor<f64>) {
  // expected-error@+1 {{expects hyper-parameters and step of rank 0, got 'tensor<1xf64>'}}
  %0 = dl.sgd %p, %p lr %lr weight_decay %wd : (tensor<2xf32>, tensor<2xf32>, tensor<1xf64>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

func.func @sgd_nesterov(%p: tensor<2xf32>, %lr: tensor<f64>, %wd: tensor<f64>) {
  // expected-error@+1 {{expects a buffer and momentum with nesterov, got none}}
  %0 = dl.sgd %p, %p lr %lr weight_decay %wd nesterov : (tensor<2xf32>, tensor<2xf32>, tensor<f64>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

func.func @sgd_half(%p: tensor<2xf32>, %lr: tensor<f64>, %wd: tensor<f64>) {
  // expected-error@+1 {{expects buffer and momentum together, got one of them}}
  %0:2 = "dl.sgd"(%p, %p, %lr, %wd, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0>}> : (tensor<2xf32>, tensor<2xf32>, tensor<f64>, tensor<f64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @adamw_state(%p: tensor<2xf32>, %m: tensor<2xf64>, %step: tensor<i64>, %lr: tensor<f64>, %wd: tensor<f64>) {
  // expected-error@+1 {{expects the gradient and states of the parameter's type 'tensor<2xf32>', got 'tensor<2xf64>'}}
  %0:3 = dl.adamw %p, %p, %m, %p step %step lr %lr betas %wd, %wd eps %wd weight_decay %wd : (tensor<2xf32>, tensor<2xf32>, tensor<2xf64>, tensor<2xf32>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @rmsprop_state(%p: tensor<2xf32>, %a: tensor<3xf32>, %lr: tensor<f64>) {
  // expected-error@+1 {{expects the gradient and states of the parameter's type 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %0:3 = dl.rmsprop %p, %p, %p lr %lr alpha %lr eps %lr weight_decay %lr average %a : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<3xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @rmsprop_scalar(%p: tensor<2xf32>, %lr: tensor<f64>, %mu: tensor<1xf64>) {
  // expected-error@+1 {{expects hyper-parameters and step of rank 0, got 'tensor<1xf64>'}}
  %0:3 = dl.rmsprop %p, %p, %p lr %lr alpha %lr eps %lr weight_decay %lr buffer %p momentum %mu : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<2xf32>, tensor<1xf64>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @rmsprop_half(%p: tensor<2xf32>, %lr: tensor<f64>) {
  // expected-error@+1 {{expects buffer and momentum together, got one of them}}
  %0:3 = "dl.rmsprop"(%p, %p, %p, %lr, %lr, %lr, %lr, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 1, 0>}> : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
