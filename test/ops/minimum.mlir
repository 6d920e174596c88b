// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @minimum(
// CHECK: dl.minimum %{{.*}}, %{{.*}} : tensor<17xf32>
func.func @minimum(%a: tensor<17xf32> {dl.test = "distinct"}, %b: tensor<17xf32> {dl.test = "distinct"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.minimum %a, %b : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%a: tensor<1xf32> {dl.test = "distinct"}, %b: tensor<1xf32> {dl.test = "distinct"}) -> tensor<1xf32> {
  %y = dl.minimum %a, %b : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%a: tensor<5x67xf32> {dl.test = "distinct"}, %b: tensor<5x67xf32> {dl.test = "distinct"}) -> tensor<5x67xf32> {
  %y = dl.minimum %a, %b : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%a: tensor<19xf64> {dl.test = "distinct"}, %b: tensor<19xf64> {dl.test = "distinct"}) -> tensor<19xf64> {
  %y = dl.minimum %a, %b : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @i64(%a: tensor<35xi64>, %b: tensor<35xi64>) -> tensor<35xi64> {
  %y = dl.minimum %a, %b : tensor<35xi64>
  return %y : tensor<35xi64>
}

func.func @i32(%a: tensor<35xi32>, %b: tensor<35xi32>) -> tensor<35xi32> {
  %y = dl.minimum %a, %b : tensor<35xi32>
  return %y : tensor<35xi32>
}

func.func @i8(%a: tensor<35xi8>, %b: tensor<35xi8>) -> tensor<35xi8> {
  %y = dl.minimum %a, %b : tensor<35xi8>
  return %y : tensor<35xi8>
}

func.func @num05(%a: tensor<4xf32> {dl.value = dense<[0x7FC00000, 0.0, 0x7FC00000, 0xFF800000]> : tensor<4xf32>}, %b: tensor<4xf32> {dl.value = dense<[0.0, 0x7FC00000, 0x7FC00000, 0x7F800000]> : tensor<4xf32>}) -> tensor<4xf32> attributes {dl.expect = dense<[0x7FC00000, 0x7FC00000, 0x7FC00000, 0xFF800000]> : tensor<4xf32>} {
  %y = dl.minimum %a, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}

// GRAD-19: a tie gives each half, or all to the only one that wants a gradient.
func.func @grad19_tie(%x: tensor<2xf32> {dl.value = dense<[2.0, 3.0]> : tensor<2xf32>}) -> tensor<2xf32> attributes {dl.expect = dense<[1.0, 1.0]> : tensor<2xf32>} {
  %y = dl.minimum %x, %x : tensor<2xf32>
  %sum = dl.reduce_sum %y over [0] : (tensor<2xf32>) -> tensor<f32>
  %g = dl.gradient %sum wrt %x : tensor<f32>, tensor<2xf32>
  return %g : tensor<2xf32>
}

func.func @grad19_halves(%a: tensor<3xf32> {dl.value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}, %b: tensor<3xf32> {dl.value = dense<[2.0, 2.0, 2.0]> : tensor<3xf32>}) -> (tensor<3xf32>, tensor<3xf32>) attributes {dl.expect = [dense<[1.0, 0.5, 0.0]> : tensor<3xf32>, dense<[0.0, 0.5, 1.0]> : tensor<3xf32>]} {
  %y = dl.minimum %a, %b : tensor<3xf32>
  %sum = dl.reduce_sum %y over [0] : (tensor<3xf32>) -> tensor<f32>
  %ga, %gb = dl.gradient %sum wrt %a, %b : tensor<f32>, tensor<3xf32>, tensor<3xf32>
  return %ga, %gb : tensor<3xf32>, tensor<3xf32>
}

func.func @grad19_all_to_one(%x: tensor<2xf32> {dl.value = dense<[2.0, 1.0]> : tensor<2xf32>}) -> tensor<2xf32> attributes {dl.expect = dense<[1.0, 1.0]> : tensor<2xf32>} {
  %c = dl.constant dense<2.0> : tensor<2xf32>
  %y = dl.minimum %x, %c : tensor<2xf32>
  %sum = dl.reduce_sum %y over [0] : (tensor<2xf32>) -> tensor<f32>
  %g = dl.gradient %sum wrt %x : tensor<f32>, tensor<2xf32>
  return %g : tensor<2xf32>
}
