// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @reduce_or(
// CHECK: dl.reduce_or %{{.*}} over [1] : (tensor<3x2xi1>) -> tensor<3xi1>
func.func @reduce_or(
    %x: tensor<3x2xi1> {dl.value = dense<[[1,1],[1,0],[0,0]]> : tensor<3x2xi1>}) -> tensor<3xi1>
    attributes {dl.expect = dense<[1,1,0]> : tensor<3xi1>} {
  %y = dl.reduce_or %x over [1] : (tensor<3x2xi1>) -> tensor<3xi1>
  return %y : tensor<3xi1>
}

func.func @empty_axis(
    %x: tensor<2x0xi1> {dl.value = dense<> : tensor<2x0xi1>}) -> tensor<2xi1>
    attributes {dl.expect = dense<false> : tensor<2xi1>} {
  %y = dl.reduce_or %x over [1] : (tensor<2x0xi1>) -> tensor<2xi1>
  return %y : tensor<2xi1>
}

func.func @size_rows_of_17(%x: tensor<5x17xi1>) -> tensor<5xi1> {
  %y = dl.reduce_or %x over [1] : (tensor<5x17xi1>) -> tensor<5xi1>
  return %y : tensor<5xi1>
}

func.func @size_rows_of_3(%x: tensor<40x3xi1>) -> tensor<40xi1> {
  %y = dl.reduce_or %x over [1] : (tensor<40x3xi1>) -> tensor<40xi1>
  return %y : tensor<40xi1>
}

func.func @size_column(%x: tensor<3x40xi1>) -> tensor<40xi1> {
  %y = dl.reduce_or %x over [0] : (tensor<3x40xi1>) -> tensor<40xi1>
  return %y : tensor<40xi1>
}
