// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @adamw(
// CHECK: dl.adamw %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} step %{{.*}} lr %{{.*}} betas %{{.*}}, %{{.*}} eps %{{.*}} weight_decay %{{.*}} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
func.func @adamw(
    %p: tensor<4xf32> {dl.test = "any"},
    %g: tensor<4xf32> {dl.test = "any"},
    %m: tensor<4xf32> {dl.test = "any"},
    %v: tensor<4xf32> {dl.test = "positive"}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    {
  %step = dl.constant dense<3> : tensor<i64>
  %lr = dl.constant dense<1.000000e-01> : tensor<f64>
  %beta1 = dl.constant dense<9.000000e-01> : tensor<f64>
  %beta2 = dl.constant dense<9.990000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-08> : tensor<f64>
  %wd = dl.constant dense<1.000000e-02> : tensor<f64>
  %y:3 = dl.adamw %p, %g, %m, %v step %step lr %lr betas %beta1, %beta2 eps %eps weight_decay %wd : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %y#0, %y#1, %y#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// OPT-01, first step
func.func @first_step(
    %p: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>},
    %g: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>},
    %m: tensor<1xf64> {dl.value = dense<[0.0]> : tensor<1xf64>},
    %v: tensor<1xf64> {dl.value = dense<[0.0]> : tensor<1xf64>}) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
    attributes {dl.expect = [dense<[0.9]> : tensor<1xf64>, dense<[0.1]> : tensor<1xf64>, dense<[0.001]> : tensor<1xf64>]} {
  %step = dl.constant dense<1> : tensor<i64>
  %lr = dl.constant dense<0.1> : tensor<f64>
  %beta1 = dl.constant dense<0.9> : tensor<f64>
  %beta2 = dl.constant dense<0.999> : tensor<f64>
  %eps = dl.constant dense<0.0> : tensor<f64>
  %wd = dl.constant dense<0.0> : tensor<f64>
  %y:3 = dl.adamw %p, %g, %m, %v step %step lr %lr betas %beta1, %beta2 eps %eps weight_decay %wd : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
  return %y#0, %y#1, %y#2 : tensor<1xf64>, tensor<1xf64>, tensor<1xf64>
}

// OPT-01, second step
func.func @second_step(
    %p: tensor<1xf64> {dl.value = dense<[0.9]> : tensor<1xf64>},
    %g: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>},
    %m: tensor<1xf64> {dl.value = dense<[0.1]> : tensor<1xf64>},
    %v: tensor<1xf64> {dl.value = dense<[0.001]> : tensor<1xf64>}) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
    attributes {dl.expect = [dense<[0.8]> : tensor<1xf64>, dense<[0.19]> : tensor<1xf64>, dense<[0.001999]> : tensor<1xf64>]} {
  %step = dl.constant dense<2> : tensor<i64>
  %lr = dl.constant dense<0.1> : tensor<f64>
  %beta1 = dl.constant dense<0.9> : tensor<f64>
  %beta2 = dl.constant dense<0.999> : tensor<f64>
  %eps = dl.constant dense<0.0> : tensor<f64>
  %wd = dl.constant dense<0.0> : tensor<f64>
  %y:3 = dl.adamw %p, %g, %m, %v step %step lr %lr betas %beta1, %beta2 eps %eps weight_decay %wd : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
  return %y#0, %y#1, %y#2 : tensor<1xf64>, tensor<1xf64>, tensor<1xf64>
}

// OPT-05
func.func @decay_alone(
    %p: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>},
    %g: tensor<1xf64> {dl.value = dense<[0.0]> : tensor<1xf64>},
    %m: tensor<1xf64> {dl.value = dense<[0.0]> : tensor<1xf64>},
    %v: tensor<1xf64> {dl.value = dense<[0.0]> : tensor<1xf64>}) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
    attributes {dl.expect = [dense<[0.99]> : tensor<1xf64>, dense<[0.0]> : tensor<1xf64>, dense<[0.0]> : tensor<1xf64>]} {
  %step = dl.constant dense<1> : tensor<i64>
  %lr = dl.constant dense<0.1> : tensor<f64>
  %beta1 = dl.constant dense<0.9> : tensor<f64>
  %beta2 = dl.constant dense<0.999> : tensor<f64>
  %eps = dl.constant dense<1.0e-30> : tensor<f64>
  %wd = dl.constant dense<0.1> : tensor<f64>
  %y:3 = dl.adamw %p, %g, %m, %v step %step lr %lr betas %beta1, %beta2 eps %eps weight_decay %wd : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
  return %y#0, %y#1, %y#2 : tensor<1xf64>, tensor<1xf64>, tensor<1xf64>
}

// OPT-07: 0.1 / (sqrt(0.01) + 0.1); inside the root it would be 0.1 / sqrt(0.11).
func.func @eps_outside_the_root(
    %p: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>},
    %g: tensor<1xf64> {dl.value = dense<[0.1]> : tensor<1xf64>},
    %m: tensor<1xf64> {dl.value = dense<[0.0]> : tensor<1xf64>},
    %v: tensor<1xf64> {dl.value = dense<[0.0]> : tensor<1xf64>}) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
    attributes {dl.expect = [dense<[0.5]> : tensor<1xf64>, dense<[0.1]> : tensor<1xf64>, dense<[0.01]> : tensor<1xf64>]} {
  %step = dl.constant dense<1> : tensor<i64>
  %lr = dl.constant dense<1.0> : tensor<f64>
  %beta1 = dl.constant dense<0.0> : tensor<f64>
  %beta2 = dl.constant dense<0.0> : tensor<f64>
  %eps = dl.constant dense<0.1> : tensor<f64>
  %wd = dl.constant dense<0.0> : tensor<f64>
  %y:3 = dl.adamw %p, %g, %m, %v step %step lr %lr betas %beta1, %beta2 eps %eps weight_decay %wd : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
  return %y#0, %y#1, %y#2 : tensor<1xf64>, tensor<1xf64>, tensor<1xf64>
}

func.func @size_1000(
    %p: tensor<1000xf32> {dl.test = "any"},
    %g: tensor<1000xf32> {dl.test = "any"},
    %m: tensor<1000xf32> {dl.test = "any"},
    %v: tensor<1000xf32> {dl.test = "positive"}) -> (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>)
    {
  %step = dl.constant dense<7> : tensor<i64>
  %lr = dl.constant dense<0.001> : tensor<f64>
  %beta1 = dl.constant dense<0.9> : tensor<f64>
  %beta2 = dl.constant dense<0.999> : tensor<f64>
  %eps = dl.constant dense<1.0e-8> : tensor<f64>
  %wd = dl.constant dense<0.01> : tensor<f64>
  %y:3 = dl.adamw %p, %g, %m, %v step %step lr %lr betas %beta1, %beta2 eps %eps weight_decay %wd : (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>)
  return %y#0, %y#1, %y#2 : tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>
}
