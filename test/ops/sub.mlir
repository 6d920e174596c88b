// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @sub(
// CHECK: dl.sub %{{.*}}, %{{.*}} : tensor<17xf32>
func.func @sub(%a: tensor<17xf32> {dl.test = "any"}, %b: tensor<17xf32> {dl.test = "any"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.sub %a, %b : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%a: tensor<1xf32> {dl.test = "any"}, %b: tensor<1xf32> {dl.test = "any"}) -> tensor<1xf32> {
  %y = dl.sub %a, %b : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%a: tensor<5x67xf32> {dl.test = "any"}, %b: tensor<5x67xf32> {dl.test = "any"}) -> tensor<5x67xf32> {
  %y = dl.sub %a, %b : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%a: tensor<19xf64> {dl.test = "any"}, %b: tensor<19xf64> {dl.test = "any"}) -> tensor<19xf64> {
  %y = dl.sub %a, %b : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @i64(%a: tensor<35xi64>, %b: tensor<35xi64>) -> tensor<35xi64> {
  %y = dl.sub %a, %b : tensor<35xi64>
  return %y : tensor<35xi64>
}

func.func @i32(%a: tensor<35xi32>, %b: tensor<35xi32>) -> tensor<35xi32> {
  %y = dl.sub %a, %b : tensor<35xi32>
  return %y : tensor<35xi32>
}

func.func @i8(%a: tensor<35xi8>, %b: tensor<35xi8>) -> tensor<35xi8> {
  %y = dl.sub %a, %b : tensor<35xi8>
  return %y : tensor<35xi8>
}

func.func @wraps(%a: tensor<2xi8> {dl.value = dense<[-128, 127]> : tensor<2xi8>}, %b: tensor<2xi8> {dl.value = dense<[1, -1]> : tensor<2xi8>}) -> tensor<2xi8> attributes {dl.expect = dense<[127, -128]> : tensor<2xi8>} {
  %y = dl.sub %a, %b : tensor<2xi8>
  return %y : tensor<2xi8>
}

func.func @special(%a: tensor<2xf32> {dl.value = dense<[0x7F800000, 0x7F800000]> : tensor<2xf32>}, %b: tensor<2xf32> {dl.value = dense<[1.0, 0x7F800000]> : tensor<2xf32>}) -> tensor<2xf32> attributes {dl.expect = dense<[0x7F800000, 0x7FC00000]> : tensor<2xf32>} {
  %y = dl.sub %a, %b : tensor<2xf32>
  return %y : tensor<2xf32>
}
