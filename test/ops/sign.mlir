// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @sign(
// CHECK: dl.sign %{{.*}} : tensor<17xf32>
func.func @sign(%x: tensor<17xf32>) -> tensor<17xf32> {
  %y = dl.sign %x : tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @one(%x: tensor<1xf32>) -> tensor<1xf32> {
  %y = dl.sign %x : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @large(%x: tensor<5x67xf32>) -> tensor<5x67xf32> {
  %y = dl.sign %x : tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}

func.func @f64(%x: tensor<19xf64>) -> tensor<19xf64> {
  %y = dl.sign %x : tensor<19xf64>
  return %y : tensor<19xf64>
}

func.func @special(%x: tensor<5xf32> {dl.value = dense<[0xFF800000, -2.0, 0.0, 3.0, 0x7FC00000]> : tensor<5xf32>}) -> tensor<5xf32> attributes {dl.expect = dense<[-1.0, -1.0, 0.0, 1.0, 0x7FC00000]> : tensor<5xf32>} {
  %y = dl.sign %x : tensor<5xf32>
  return %y : tensor<5xf32>
}

func.func @i64(%x: tensor<3xi64> {dl.value = dense<[-9223372036854775808, 0, 9]> : tensor<3xi64>}) -> tensor<3xi64> attributes {dl.expect = dense<[-1, 0, 1]> : tensor<3xi64>} {
  %y = dl.sign %x : tensor<3xi64>
  return %y : tensor<3xi64>
}
