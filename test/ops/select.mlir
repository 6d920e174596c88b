// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @select(
// CHECK: dl.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<17xf32>
func.func @select(%c: tensor<17xi1>, %a: tensor<17xf32>, %b: tensor<17xf32>) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.select %c, %a, %b : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @f64(%c: tensor<5x7xi1>, %a: tensor<5x7xf64>, %b: tensor<5x7xf64>) -> tensor<5x7xf64> {
  %y = dl.select %c, %a, %b : tensor<5x7xf64>
  return %y : tensor<5x7xf64>
}

func.func @i64(%c: tensor<5x7xi1>, %a: tensor<5x7xi64>, %b: tensor<5x7xi64>) -> tensor<5x7xi64> {
  %y = dl.select %c, %a, %b : tensor<5x7xi64>
  return %y : tensor<5x7xi64>
}

func.func @i8(%c: tensor<5x7xi1>, %a: tensor<5x7xi8>, %b: tensor<5x7xi8>) -> tensor<5x7xi8> {
  %y = dl.select %c, %a, %b : tensor<5x7xi8>
  return %y : tensor<5x7xi8>
}

func.func @i1(%c: tensor<5x7xi1>, %a: tensor<5x7xi1>, %b: tensor<5x7xi1>) -> tensor<5x7xi1> {
  %y = dl.select %c, %a, %b : tensor<5x7xi1>
  return %y : tensor<5x7xi1>
}

// GRAD-03: the branch not taken overflows and must not poison the gradient: y = x <= 0 ? exp(x) : 1 + x.
func.func @grad03(%x: tensor<2xf32> {dl.value = dense<[100.0, 0.0]> : tensor<2xf32>}) -> (tensor<2xf32>, tensor<2xf32>) attributes {dl.expect = [dense<[101.0, 1.0]> : tensor<2xf32>, dense<[1.0, 1.0]> : tensor<2xf32>]} {
  %zero = dl.constant dense<0.0> : tensor<2xf32>
  %one = dl.constant dense<1.0> : tensor<2xf32>
  %negative = dl.compare le, %x, %zero : tensor<2xf32>
  %e = dl.exp %x : tensor<2xf32>
  %l = dl.add %one, %x : tensor<2xf32>
  %y = dl.select %negative, %e, %l : tensor<2xf32>
  %sum = dl.reduce_sum %y over [0] : (tensor<2xf32>) -> tensor<f32>
  %g = dl.gradient %sum wrt %x : tensor<f32>, tensor<2xf32>
  return %y, %g : tensor<2xf32>, tensor<2xf32>
}
