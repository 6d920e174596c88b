// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: func.func @adamw
// CHECK: dl.adamw %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} step %{{.*}} lr %{{.*}} betas %{{.*}}, %{{.*}} eps %{{.*}} weight_decay %{{.*}} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
func.func @adamw(%p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %v = dl.constant dense<[0.000000e+00, 1.000000e-01, 2.500000e-01, 4.000000e+00]> : tensor<4xf32>
  %step = dl.constant dense<3> : tensor<i64>
  %lr = dl.constant dense<1.000000e-01> : tensor<f64>
  %wd = dl.constant dense<1.000000e-02> : tensor<f64>
  %b1 = dl.constant dense<9.000000e-01> : tensor<f64>
  %b2 = dl.constant dense<9.990000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-08> : tensor<f64>
  %y:3 = dl.adamw %p, %g, %m, %v step %step lr %lr betas %b1, %b2 eps %eps weight_decay %wd : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %y#0, %y#1, %y#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
