// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @random_bits(
// CHECK: dl.random_bits %{{.*}}, %{{.*}} : tensor<5x7xi32>
func.func @random_bits(%seed: tensor<i64>, %offset: tensor<i64>) -> tensor<5x7xi32> {
  %y = dl.random_bits %seed, %offset : tensor<5x7xi32>
  return %y : tensor<5x7xi32>
}

func.func @rank_3(%seed: tensor<i64>, %offset: tensor<i64>) -> tensor<3x2x5xi64> {
  %y = dl.random_bits %seed, %offset : tensor<3x2x5xi64>
  return %y : tensor<3x2x5xi64>
}

// Known answer: all zeros.
func.func @rank_0(%zero: tensor<i64> {dl.value = dense<0> : tensor<i64>}) -> tensor<i32>
    attributes {dl.expect = dense<0x6627E8D5> : tensor<i32>} {
  %y = dl.random_bits %zero, %zero : tensor<i32>
  return %y : tensor<i32>
}
