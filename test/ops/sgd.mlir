// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @sgd(
// CHECK: dl.sgd %{{.*}}, %{{.*}} lr %{{.*}} weight_decay %{{.*}} buffer %{{.*}} momentum %{{.*}} nesterov : (tensor<4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>, tensor<4xf32>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
func.func @sgd(%p: tensor<4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %lr = dl.constant dense<1.000000e-01> : tensor<f64>
  %wd = dl.constant dense<1.000000e-02> : tensor<f64>
  %mu = dl.constant dense<9.000000e-01> : tensor<f64>
  %y:2 = dl.sgd %p, %g lr %lr weight_decay %wd buffer %b momentum %mu nesterov : (tensor<4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>, tensor<4xf32>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xf32>
}

func.func @plain(
    %p: tensor<2xf64> {dl.value = dense<[1.0,2.0]> : tensor<2xf64>},
    %g: tensor<2xf64> {dl.value = dense<[10.0,-10.0]> : tensor<2xf64>}) -> tensor<2xf64>
    attributes {dl.expect = dense<[0.0,3.0]> : tensor<2xf64>} {
  %lr = dl.constant dense<0.1> : tensor<f64>
  %wd = dl.constant dense<0.0> : tensor<f64>
  %y = dl.sgd %p, %g lr %lr weight_decay %wd : (tensor<2xf64>, tensor<2xf64>, tensor<f64>, tensor<f64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @zero_gradient_with_decay(
    %p: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>},
    %g: tensor<1xf64> {dl.value = dense<[0.0]> : tensor<1xf64>}) -> tensor<1xf64>
    attributes {dl.expect = dense<[0.99]> : tensor<1xf64>} {
  %lr = dl.constant dense<0.1> : tensor<f64>
  %wd = dl.constant dense<0.1> : tensor<f64>
  %y = dl.sgd %p, %g lr %lr weight_decay %wd : (tensor<1xf64>, tensor<1xf64>, tensor<f64>, tensor<f64>) -> tensor<1xf64>
  return %y : tensor<1xf64>
}

func.func @zero_gradient_with_momentum(
    %p: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>},
    %g: tensor<1xf64> {dl.value = dense<[0.0]> : tensor<1xf64>},
    %b: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>}) -> (tensor<1xf64>, tensor<1xf64>)
    attributes {dl.expect = [dense<[0.91]> : tensor<1xf64>, dense<[0.9]> : tensor<1xf64>]} {
  %lr = dl.constant dense<0.1> : tensor<f64>
  %wd = dl.constant dense<0.0> : tensor<f64>
  %mu = dl.constant dense<0.9> : tensor<f64>
  %y:2 = dl.sgd %p, %g lr %lr weight_decay %wd buffer %b momentum %mu : (tensor<1xf64>, tensor<1xf64>, tensor<f64>, tensor<f64>, tensor<1xf64>, tensor<f64>) -> (tensor<1xf64>, tensor<1xf64>)
  return %y#0, %y#1 : tensor<1xf64>, tensor<1xf64>
}

func.func @first_momentum_step(
    %p: tensor<1xf64> {dl.value = dense<[2.0]> : tensor<1xf64>},
    %g: tensor<1xf64> {dl.value = dense<[3.0]> : tensor<1xf64>},
    %b: tensor<1xf64> {dl.value = dense<[0.0]> : tensor<1xf64>}) -> (tensor<1xf64>, tensor<1xf64>)
    attributes {dl.expect = [dense<[1.6]> : tensor<1xf64>, dense<[4.0]> : tensor<1xf64>]} {
  %lr = dl.constant dense<0.1> : tensor<f64>
  %wd = dl.constant dense<0.5> : tensor<f64>
  %mu = dl.constant dense<0.9> : tensor<f64>
  %y:2 = dl.sgd %p, %g lr %lr weight_decay %wd buffer %b momentum %mu : (tensor<1xf64>, tensor<1xf64>, tensor<f64>, tensor<f64>, tensor<1xf64>, tensor<f64>) -> (tensor<1xf64>, tensor<1xf64>)
  return %y#0, %y#1 : tensor<1xf64>, tensor<1xf64>
}

func.func @nesterov(
    %p: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>},
    %g: tensor<1xf64> {dl.value = dense<[2.0]> : tensor<1xf64>},
    %b: tensor<1xf64> {dl.value = dense<[4.0]> : tensor<1xf64>}) -> (tensor<1xf64>, tensor<1xf64>)
    attributes {dl.expect = [dense<[0.6]> : tensor<1xf64>, dense<[4.0]> : tensor<1xf64>]} {
  %lr = dl.constant dense<0.1> : tensor<f64>
  %wd = dl.constant dense<0.0> : tensor<f64>
  %mu = dl.constant dense<0.5> : tensor<f64>
  %y:2 = dl.sgd %p, %g lr %lr weight_decay %wd buffer %b momentum %mu nesterov : (tensor<1xf64>, tensor<1xf64>, tensor<f64>, tensor<f64>, tensor<1xf64>, tensor<f64>) -> (tensor<1xf64>, tensor<1xf64>)
  return %y#0, %y#1 : tensor<1xf64>, tensor<1xf64>
}

func.func @size_17x33(
    %p: tensor<17x33xf32>,
    %g: tensor<17x33xf32>,
    %b: tensor<17x33xf32>) -> (tensor<17x33xf32>, tensor<17x33xf32>)
    {
  %lr = dl.constant dense<0.1> : tensor<f64>
  %wd = dl.constant dense<0.01> : tensor<f64>
  %mu = dl.constant dense<0.9> : tensor<f64>
  %y:2 = dl.sgd %p, %g lr %lr weight_decay %wd buffer %b momentum %mu : (tensor<17x33xf32>, tensor<17x33xf32>, tensor<f64>, tensor<f64>, tensor<17x33xf32>, tensor<f64>) -> (tensor<17x33xf32>, tensor<17x33xf32>)
  return %y#0, %y#1 : tensor<17x33xf32>, tensor<17x33xf32>
}

func.func @size_plain(%p: tensor<1000xf32>, %g: tensor<1000xf32>) -> tensor<1000xf32> {
  %lr = dl.constant dense<0.1> : tensor<f64>
  %wd = dl.constant dense<0.01> : tensor<f64>
  %y = dl.sgd %p, %g lr %lr weight_decay %wd : (tensor<1000xf32>, tensor<1000xf32>, tensor<f64>, tensor<f64>) -> tensor<1000xf32>
  return %y : tensor<1000xf32>
}
