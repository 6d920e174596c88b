// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @pow(
// CHECK: dl.pow %{{.*}}, %{{.*}} : tensor<17xf32>
func.func @pow(%a: tensor<17xf32> {dl.test = "positive"}, %b: tensor<17xf32> {dl.test = "positive"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.pow %a, %b : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%a: tensor<1xf32> {dl.test = "positive"}, %b: tensor<1xf32> {dl.test = "positive"}) -> tensor<1xf32> {
  %y = dl.pow %a, %b : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%a: tensor<5x67xf32> {dl.test = "positive"}, %b: tensor<5x67xf32> {dl.test = "positive"}) -> tensor<5x67xf32> {
  %y = dl.pow %a, %b : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%a: tensor<19xf64> {dl.test = "positive"}, %b: tensor<19xf64> {dl.test = "positive"}) -> tensor<19xf64> {
  %y = dl.pow %a, %b : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @special(%a: tensor<8xf32> {dl.value = dense<[2.0, 0.0, 0.0, -2.0, -2.0, 1.0, 0x7FC00000, 0x7F800000]> : tensor<8xf32>}, %b: tensor<8xf32> {dl.value = dense<[10.0, 0.0, -1.0, 3.0, 0.5, 0x7FC00000, 0.0, -1.0]> : tensor<8xf32>}) -> tensor<8xf32> attributes {dl.expect = dense<[1024.0, 1.0, 0x7F800000, -8.0, 0x7FC00000, 1.0, 1.0, 0.0]> : tensor<8xf32>} {
  %y = dl.pow %a, %b : tensor<8xf32>
  return %y : tensor<8xf32>
}

// b a^(b-1) is 0 for b = 0 also at a = 0, and y log a is 0 at a = 0 for b >= 0.
func.func @at_zero(%a: tensor<3xf32> {dl.value = dense<[0.0, 0.0, 2.0]> : tensor<3xf32>}, %b: tensor<3xf32> {dl.value = dense<[0.0, 2.0, 0.0]> : tensor<3xf32>}) -> (tensor<3xf32>, tensor<3xf32>) attributes {dl.expect = [dense<[0.0, 0.0, 0.0]> : tensor<3xf32>, dense<[0.0, 0.0, 0.6931471805599453]> : tensor<3xf32>]} {
  %y = dl.pow %a, %b : tensor<3xf32>
  %sum = dl.reduce_sum %y over [0] : (tensor<3xf32>) -> tensor<f32>
  %ga, %gb = dl.gradient %sum wrt %a, %b : tensor<f32>, tensor<3xf32>, tensor<3xf32>
  return %ga, %gb : tensor<3xf32>, tensor<3xf32>
}
