// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @neg(
// CHECK: dl.neg %{{.*}} : tensor<17xf32>
func.func @neg(%x: tensor<17xf32> {dl.test = "any"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.neg %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32> {dl.test = "any"}) -> tensor<1xf32> {
  %y = dl.neg %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32> {dl.test = "any"}) -> tensor<5x67xf32> {
  %y = dl.neg %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64> {dl.test = "any"}) -> tensor<19xf64> {
  %y = dl.neg %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @wraps(%x: tensor<2xi32> {dl.value = dense<[-2147483648, 5]> : tensor<2xi32>}) -> tensor<2xi32> attributes {dl.expect = dense<[-2147483648, -5]> : tensor<2xi32>} {
  %y = dl.neg %x : tensor<2xi32>
  return %y : tensor<2xi32>
}

func.func @i8(%x: tensor<2xi8> {dl.value = dense<[-128, 7]> : tensor<2xi8>}) -> tensor<2xi8> attributes {dl.expect = dense<[-128, -7]> : tensor<2xi8>} {
  %y = dl.neg %x : tensor<2xi8>
  return %y : tensor<2xi8>
}
