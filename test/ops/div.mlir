// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @div(
// CHECK: dl.div %{{.*}}, %{{.*}} : tensor<17xf32>
func.func @div(%a: tensor<17xf32> {dl.test = "nonzero"}, %b: tensor<17xf32> {dl.test = "nonzero"}) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.div %a, %b : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%a: tensor<1xf32> {dl.test = "nonzero"}, %b: tensor<1xf32> {dl.test = "nonzero"}) -> tensor<1xf32> {
  %y = dl.div %a, %b : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%a: tensor<5x67xf32> {dl.test = "nonzero"}, %b: tensor<5x67xf32> {dl.test = "nonzero"}) -> tensor<5x67xf32> {
  %y = dl.div %a, %b : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%a: tensor<19xf64> {dl.test = "nonzero"}, %b: tensor<19xf64> {dl.test = "nonzero"}) -> tensor<19xf64> {
  %y = dl.div %a, %b : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @i64(%a: tensor<35xi64>, %b: tensor<35xi64>) -> tensor<35xi64> {
  %y = dl.div %a, %b : tensor<35xi64>
  return %y : tensor<35xi64>
}

func.func @i32(%a: tensor<35xi32>, %b: tensor<35xi32>) -> tensor<35xi32> {
  %y = dl.div %a, %b : tensor<35xi32>
  return %y : tensor<35xi32>
}

func.func @i8(%a: tensor<35xi8>, %b: tensor<35xi8>) -> tensor<35xi8> {
  %y = dl.div %a, %b : tensor<35xi8>
  return %y : tensor<35xi8>
}

func.func @num03_smallest_by_minus_one(%a: tensor<4xi32> {dl.value = dense<[-2147483648, 7, -7, -7]> : tensor<4xi32>}, %b: tensor<4xi32> {dl.value = dense<[-1, 2, 2, 0]> : tensor<4xi32>}) -> tensor<4xi32> attributes {dl.expect = dense<[-2147483648, 3, -3, 0]> : tensor<4xi32>} {
  %y = dl.div %a, %b : tensor<4xi32>
  return %y : tensor<4xi32>
}

func.func @i64_by_zero(%a: tensor<2xi64> {dl.value = dense<[7, -9223372036854775808]> : tensor<2xi64>}, %b: tensor<2xi64> {dl.value = dense<[0, -1]> : tensor<2xi64>}) -> tensor<2xi64> attributes {dl.expect = dense<[0, -9223372036854775808]> : tensor<2xi64>} {
  %y = dl.div %a, %b : tensor<2xi64>
  return %y : tensor<2xi64>
}

func.func @special(%a: tensor<4xf32> {dl.value = dense<[1.0, -1.0, 0.0, 0x7F800000]> : tensor<4xf32>}, %b: tensor<4xf32> {dl.value = dense<[0.0, 0.0, 0.0, 0x7F800000]> : tensor<4xf32>}) -> tensor<4xf32> attributes {dl.expect = dense<[0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC00000]> : tensor<4xf32>} {
  %y = dl.div %a, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}
