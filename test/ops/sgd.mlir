// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @sgd
// CHECK: dl.sgd %{{.*}}, %{{.*}} lr %{{.*}} weight_decay %{{.*}} buffer %{{.*}} momentum %{{.*}} nesterov : (tensor<4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>, tensor<4xf32>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
func.func @sgd(%p: tensor<4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %lr = dl.constant dense<1.000000e-01> : tensor<f64>
  %wd = dl.constant dense<1.000000e-02> : tensor<f64>
  %mu = dl.constant dense<9.000000e-01> : tensor<f64>
  %y:2 = dl.sgd %p, %g lr %lr weight_decay %wd buffer %b momentum %mu nesterov : (tensor<4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>, tensor<4xf32>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xf32>
}
