// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @dropout(
// CHECK: dl.dropout %{{.*}} seed %{{.*}} offset %{{.*}} p 3.000000e-01 : tensor<5x7xf32>
func.func @dropout(%x: tensor<5x7xf32>, %seed: tensor<i64>, %offset: tensor<i64>) -> tensor<5x7xf32> attributes {dl.check_gradient} {
  %y = dl.dropout %x seed %seed offset %offset p 0.3 : tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

func.func @mostly_zero(%x: tensor<67x5xf64>, %seed: tensor<i64>, %offset: tensor<i64>) -> tensor<67x5xf64> attributes {dl.check_gradient} {
  %y = dl.dropout %x seed %seed offset %offset p 0.9 : tensor<67x5xf64>
  return %y : tensor<67x5xf64>
}

// The word of seed, offset and index 0 is 0x6627E8D5: 0.399 of 2^32.
func.func @below(%x: tensor<f32> {dl.value = dense<3.0> : tensor<f32>}, %zero: tensor<i64> {dl.value = dense<0> : tensor<i64>}) -> tensor<f32>
    attributes {dl.expect = dense<0.0> : tensor<f32>} {
  %y = dl.dropout %x seed %zero offset %zero p 0.5 : tensor<f32>
  return %y : tensor<f32>
}

func.func @above(%x: tensor<f32> {dl.value = dense<3.0> : tensor<f32>}, %zero: tensor<i64> {dl.value = dense<0> : tensor<i64>}) -> tensor<f32>
    attributes {dl.expect = dense<4.0> : tensor<f32>} {
  %y = dl.dropout %x seed %zero offset %zero p 0.25 : tensor<f32>
  return %y : tensor<f32>
}

// Nothing of what is dropped comes through.
func.func @all(%x: tensor<2xf32> {dl.value = dense<[0x7FC00000, 0x7F800000]> : tensor<2xf32>}, %zero: tensor<i64> {dl.value = dense<0> : tensor<i64>}) -> tensor<2xf32>
    attributes {dl.expect = dense<0.0> : tensor<2xf32>} {
  %y = dl.dropout %x seed %zero offset %zero p 1.0 : tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func @none(%x: tensor<3xf32>, %seed: tensor<i64>, %offset: tensor<i64>) -> tensor<3xf32> attributes {dl.check_gradient} {
  %y = dl.dropout %x seed %seed offset %offset p 0.0 : tensor<3xf32>
  return %y : tensor<3xf32>
}
