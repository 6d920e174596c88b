// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @floor_div(
// CHECK: dl.floor_div %{{.*}}, %{{.*}} : tensor<17xf32>
func.func @floor_div(%a: tensor<17xf32> {dl.test = "range:-40:40"}, %b: tensor<17xf32> {dl.test = "nonzero"}) -> tensor<17xf32> {
  %y = dl.floor_div %a, %b : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%a: tensor<1xf32> {dl.test = "range:-40:40"}, %b: tensor<1xf32> {dl.test = "nonzero"}) -> tensor<1xf32> {
  %y = dl.floor_div %a, %b : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%a: tensor<5x67xf32> {dl.test = "range:-40:40"}, %b: tensor<5x67xf32> {dl.test = "nonzero"}) -> tensor<5x67xf32> {
  %y = dl.floor_div %a, %b : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%a: tensor<19xf64> {dl.test = "range:-40:40"}, %b: tensor<19xf64> {dl.test = "nonzero"}) -> tensor<19xf64> {
  %y = dl.floor_div %a, %b : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @i64(%a: tensor<35xi64>, %b: tensor<35xi64>) -> tensor<35xi64> {
  %y = dl.floor_div %a, %b : tensor<35xi64>
  return %y : tensor<35xi64>
}

func.func @i32(%a: tensor<35xi32>, %b: tensor<35xi32>) -> tensor<35xi32> {
  %y = dl.floor_div %a, %b : tensor<35xi32>
  return %y : tensor<35xi32>
}

func.func @i8(%a: tensor<35xi8>, %b: tensor<35xi8>) -> tensor<35xi8> {
  %y = dl.floor_div %a, %b : tensor<35xi8>
  return %y : tensor<35xi8>
}

func.func @num01(%a: tensor<4xf32> {dl.value = dense<[1.0, 0.5, 6.0, 4.0]> : tensor<4xf32>}, %b: tensor<4xf32> {dl.value = dense<[0.1, 0.1, 0.2, 1.0]> : tensor<4xf32>}) -> tensor<4xf32> attributes {dl.expect = dense<[9.0, 4.0, 29.0, 4.0]> : tensor<4xf32>} {
  %y = dl.floor_div %a, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @num01_f64(%a: tensor<5xf64> {dl.value = dense<[1.0, 0.5, 6.0, 4.0, 1.0e+17]> : tensor<5xf64>}, %b: tensor<5xf64> {dl.value = dense<[0.1, 0.1, 0.2, 1.0, 3.0]> : tensor<5xf64>}) -> tensor<5xf64> attributes {dl.expect = dense<[9.0, 4.0, 29.0, 4.0, 3.3333333333333332e+16]> : tensor<5xf64>} {
  %y = dl.floor_div %a, %b : tensor<5xf64>
  return %y : tensor<5xf64>
}

func.func @num03(%a: tensor<6xi32> {dl.value = dense<[-2147483648, 7, -7, 7, -7, 7]> : tensor<6xi32>}, %b: tensor<6xi32> {dl.value = dense<[-1, 2, 2, -2, -2, 0]> : tensor<6xi32>}) -> tensor<6xi32> attributes {dl.expect = dense<[-2147483648, 3, -4, -4, 3, 0]> : tensor<6xi32>} {
  %y = dl.floor_div %a, %b : tensor<6xi32>
  return %y : tensor<6xi32>
}

func.func @num03_i64(%a: tensor<3xi64> {dl.value = dense<[7, -9223372036854775808, -7]> : tensor<3xi64>}, %b: tensor<3xi64> {dl.value = dense<[0, -1, 0]> : tensor<3xi64>}) -> tensor<3xi64> attributes {dl.expect = dense<[0, -9223372036854775808, 0]> : tensor<3xi64>} {
  %y = dl.floor_div %a, %b : tensor<3xi64>
  return %y : tensor<3xi64>
}

func.func @special(%a: tensor<8xf32> {dl.value = dense<[1.0, -1.0, 0x7F800000, 5.0, -5.0, -0.5, 0x7FC00000, 0.0]> : tensor<8xf32>}, %b: tensor<8xf32> {dl.value = dense<[0.0, 0.0, 2.0, 0x7F800000, 0x7F800000, 3.0, 1.0, 0.0]> : tensor<8xf32>}) -> tensor<8xf32> attributes {dl.expect = dense<[0x7F800000, 0xFF800000, 0x7FC00000, 0.0, -1.0, -1.0, 0x7FC00000, 0x7FC00000]> : tensor<8xf32>} {
  %y = dl.floor_div %a, %b : tensor<8xf32>
  return %y : tensor<8xf32>
}
