// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @xor(
// CHECK: dl.xor %{{.*}}, %{{.*}} : tensor<17xi32>
func.func @xor(%a: tensor<17xi32>, %b: tensor<17xi32>) -> tensor<17xi32> {
  %y = dl.xor %a, %b : tensor<17xi32>
  return %y : tensor<17xi32>
}

func.func @one(%a: tensor<1xi32>, %b: tensor<1xi32>) -> tensor<1xi32> {
  %y = dl.xor %a, %b : tensor<1xi32>
  return %y : tensor<1xi32>
}

func.func @large(%a: tensor<5x67xi32>, %b: tensor<5x67xi32>) -> tensor<5x67xi32> {
  %y = dl.xor %a, %b : tensor<5x67xi32>
  return %y : tensor<5x67xi32>
}

func.func @i64(%a: tensor<35xi64>, %b: tensor<35xi64>) -> tensor<35xi64> {
  %y = dl.xor %a, %b : tensor<35xi64>
  return %y : tensor<35xi64>
}

func.func @i8(%a: tensor<35xi8>, %b: tensor<35xi8>) -> tensor<35xi8> {
  %y = dl.xor %a, %b : tensor<35xi8>
  return %y : tensor<35xi8>
}

func.func @i1(%a: tensor<35xi1>, %b: tensor<35xi1>) -> tensor<35xi1> {
  %y = dl.xor %a, %b : tensor<35xi1>
  return %y : tensor<35xi1>
}

func.func @bits(%a: tensor<2xi64> {dl.value = dense<[12, -9223372036854775808]> : tensor<2xi64>}, %b: tensor<2xi64> {dl.value = dense<[10, -1]> : tensor<2xi64>}) -> tensor<2xi64> attributes {dl.expect = dense<[6, 9223372036854775807]> : tensor<2xi64>} {
  %y = dl.xor %a, %b : tensor<2xi64>
  return %y : tensor<2xi64>
}
