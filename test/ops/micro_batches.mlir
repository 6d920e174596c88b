// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// On one device rows that follow each other go together; members that hold all of them do the same.
// CHECK-LABEL: func.func @rows(
// CHECK: dl.micro_batches %{{.*}} : tensor<6x2xf32> -> tensor<3x2x2xf32>
func.func @rows(%x: tensor<6x2xf32> {
    dl.sharding = #dl.sharding<[_, _]>,
    dl.value = dense<[[0., 1.], [2., 3.], [4., 5.], [6., 7.], [8., 9.], [10., 11.]]> : tensor<6x2xf32>})
    -> tensor<3x2x2xf32> attributes {
      dl.expect = [dense<[[[0., 1.], [2., 3.]], [[4., 5.], [6., 7.]], [[8., 9.], [10., 11.]]]> : tensor<3x2x2xf32>]} {
  %y = dl.micro_batches %x : tensor<6x2xf32> -> tensor<3x2x2xf32>
  return %y : tensor<3x2x2xf32>
}

// Two blocks, of which each part has a row.
func.func @blocks(%x: tensor<4xi64> {dl.sharding = #dl.sharding<[_]>, dl.value = dense<[0, 1, 2, 3]> : tensor<4xi64>})
    -> tensor<2x2xi64> attributes {dl.expect = [dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>]} {
  %y = dl.micro_batches %x {blocks = 2 : i64} : tensor<4xi64> -> tensor<2x2xi64>
  return %y : tensor<2x2xi64>
}

// What does not depend on which rows go together: with 24 rows no member's rows move, with 18 some do.
func.func @sums(%x: tensor<24x3xf32>, %y: tensor<18x3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    attributes {dl.check_gradient} {
  %a = dl.micro_batches %x : tensor<24x3xf32> -> tensor<2x12x3xf32>
  %0 = dl.mul %a, %a : tensor<2x12x3xf32>
  %1 = dl.reduce_sum %0 over [0, 1] : (tensor<2x12x3xf32>) -> tensor<3xf32>
  %b = dl.micro_batches %y : tensor<18x3xf32> -> tensor<3x6x3xf32>
  %2 = dl.exp %b : tensor<3x6x3xf32>
  %3 = dl.reduce_sum %2 over [0, 1] : (tensor<3x6x3xf32>) -> tensor<3xf32>
  return %1, %3 : tensor<3xf32>, tensor<3xf32>
}
