// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @rem(
// CHECK: dl.rem %{{.*}}, %{{.*}} : tensor<17xf32>
func.func @rem(%a: tensor<17xf32> {dl.test = "range:-40:40"}, %b: tensor<17xf32> {dl.test = "nonzero"}) -> tensor<17xf32> {
  %y = dl.rem %a, %b : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%a: tensor<1xf32> {dl.test = "range:-40:40"}, %b: tensor<1xf32> {dl.test = "nonzero"}) -> tensor<1xf32> {
  %y = dl.rem %a, %b : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%a: tensor<5x67xf32> {dl.test = "range:-40:40"}, %b: tensor<5x67xf32> {dl.test = "nonzero"}) -> tensor<5x67xf32> {
  %y = dl.rem %a, %b : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%a: tensor<19xf64> {dl.test = "range:-40:40"}, %b: tensor<19xf64> {dl.test = "nonzero"}) -> tensor<19xf64> {
  %y = dl.rem %a, %b : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @i64(%a: tensor<35xi64>, %b: tensor<35xi64>) -> tensor<35xi64> {
  %y = dl.rem %a, %b : tensor<35xi64>
  return %y : tensor<35xi64>
}

func.func @i32(%a: tensor<35xi32>, %b: tensor<35xi32>) -> tensor<35xi32> {
  %y = dl.rem %a, %b : tensor<35xi32>
  return %y : tensor<35xi32>
}

func.func @i8(%a: tensor<35xi8>, %b: tensor<35xi8>) -> tensor<35xi8> {
  %y = dl.rem %a, %b : tensor<35xi8>
  return %y : tensor<35xi8>
}

func.func @huge_quotient(%a: tensor<4xf32> {dl.value = dense<[1.7014118346046923e+38, -1.329227995784916e+36, 2.1267649200209254e+37, 5.0]> : tensor<4xf32>}, %b: tensor<4xf32> {dl.value = dense<[3.0, 9.80908925027372e-45, 0.75, 2.152394441202919e-42]> : tensor<4xf32>}) -> tensor<4xf32> attributes {dl.expect = dense<[2.0, -5.605193857299268e-45, 0.25, 1.4349296274686127e-42]> : tensor<4xf32>} {
  %y = dl.rem %a, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @huge_quotient_f64(%a: tensor<5xf64> {dl.value = dense<[1.0e+308, -1.0e+300, 4.4e-323, 1.0e+17, 0.3]> : tensor<5xf64>}, %b: tensor<5xf64> {dl.value = dense<[3.7, 3.5e-323, 2.0e-323, 0.1, 0.1]> : tensor<5xf64>}) -> tensor<5xf64> attributes {dl.expect = dense<[2.569435771875904, -5.0e-324, 5.0e-324, 0.04888487687421761, 0.09999999999999998]> : tensor<5xf64>} {
  %y = dl.rem %a, %b : tensor<5xf64>
  return %y : tensor<5xf64>
}

func.func @num03(%a: tensor<5xi32> {dl.value = dense<[-2147483648, 7, -7, 7, 7]> : tensor<5xi32>}, %b: tensor<5xi32> {dl.value = dense<[-1, 2, 2, -2, 0]> : tensor<5xi32>}) -> tensor<5xi32> attributes {dl.expect = dense<[0, 1, -1, 1, 0]> : tensor<5xi32>} {
  %y = dl.rem %a, %b : tensor<5xi32>
  return %y : tensor<5xi32>
}

func.func @special(%a: tensor<5xf32> {dl.value = dense<[1.0, 0x7F800000, 5.0, -5.0, 0x7FC00000]> : tensor<5xf32>}, %b: tensor<5xf32> {dl.value = dense<[0.0, 2.0, 0x7F800000, 0x7F800000, 1.0]> : tensor<5xf32>}) -> tensor<5xf32> attributes {dl.expect = dense<[0x7FC00000, 0x7FC00000, 5.0, -5.0, 0x7FC00000]> : tensor<5xf32>} {
  %y = dl.rem %a, %b : tensor<5xf32>
  return %y : tensor<5xf32>
}

// The quotient is constant between jumps: d(a rem b)/da = 1, /db = -trunc(a / b).
func.func @gradients(%a: tensor<2xf32> {dl.value = dense<[7.5, -7.5]> : tensor<2xf32>}, %b: tensor<2xf32> {dl.value = dense<2.0> : tensor<2xf32>}) -> tensor<2xf32> attributes {dl.check_gradient} {
  %y = dl.rem %a, %b : tensor<2xf32>
  return %y : tensor<2xf32>
}
