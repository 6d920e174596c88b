// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @not(
// CHECK: dl.not %{{.*}} : tensor<17xi32>
func.func @not(%x: tensor<17xi32>) -> tensor<17xi32> {
  %y = dl.not %x : tensor<17xi32>
  return %y : tensor<17xi32>
}

func.func @one(%x: tensor<1xi32>) -> tensor<1xi32> {
  %y = dl.not %x : tensor<1xi32>
  return %y : tensor<1xi32>
}

func.func @large(%x: tensor<5x67xi32>) -> tensor<5x67xi32> {
  %y = dl.not %x : tensor<5x67xi32>
  return %y : tensor<5x67xi32>
}

func.func @bits(%x: tensor<3xi64> {dl.value = dense<[0, -1, 5]> : tensor<3xi64>}) -> tensor<3xi64> attributes {dl.expect = dense<[-1, 0, -6]> : tensor<3xi64>} {
  %y = dl.not %x : tensor<3xi64>
  return %y : tensor<3xi64>
}

func.func @bool(%x: tensor<2xi1> {dl.value = dense<[true, false]> : tensor<2xi1>}) -> tensor<2xi1> attributes {dl.expect = dense<[false, true]> : tensor<2xi1>} {
  %y = dl.not %x : tensor<2xi1>
  return %y : tensor<2xi1>
}
