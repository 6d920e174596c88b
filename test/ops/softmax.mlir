// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @softmax(
// CHECK: dl.softmax %{{.*}} axis 1 : tensor<3x4xf32>
func.func @softmax(%x: tensor<3x4xf32>) -> tensor<3x4xf32> attributes {dl.check_gradient} {
  %y = dl.softmax %x axis 1 : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

func.func @inner_axis(%x: tensor<2x3x4xf64>) -> tensor<2x3x4xf64> attributes {dl.check_gradient} {
  %y = dl.softmax %x axis 1 : tensor<2x3x4xf64>
  return %y : tensor<2x3x4xf64>
}

func.func @first_axis(%x: tensor<3x2xf64>) -> tensor<3x2xf64> attributes {dl.check_gradient} {
  %y = dl.softmax %x axis 0 : tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @large(
    %x: tensor<1x2xf64> {dl.value = dense<[[1000.0,1000.0]]> : tensor<1x2xf64>}) -> tensor<1x2xf64>
    attributes {dl.expect = dense<0.5> : tensor<1x2xf64>} {
  %y = dl.softmax %x axis 1 : tensor<1x2xf64>
  return %y : tensor<1x2xf64>
}

// NUM-13
func.func @one_element_rows(
    %x: tensor<2x1xf32> {dl.value = dense<[[3.0e11],[-1.19e14]]> : tensor<2x1xf32>}) -> tensor<2x1xf32>
    attributes {dl.expect = dense<1.0> : tensor<2x1xf32>} {
  %y = dl.softmax %x axis 1 : tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

func.func @masked_row(
    %x: tensor<1x2xf64> {dl.value = dense<[[0xFFF0000000000000,0xFFF0000000000000]]> : tensor<1x2xf64>}) -> tensor<1x2xf64>
    attributes {dl.expect = dense<0x7FF8000000000000> : tensor<1x2xf64>} {
  %y = dl.softmax %x axis 1 : tensor<1x2xf64>
  return %y : tensor<1x2xf64>
}

func.func @empty_rows(%x: tensor<2x0xf64>) -> tensor<2x0xf64> {
  %y = dl.softmax %x axis 1 : tensor<2x0xf64>
  return %y : tensor<2x0xf64>
}

func.func @second_order(%x: tensor<2x3xf64>) -> tensor<2x3xf64> attributes {dl.check_gradient} {
  %y = dl.softmax %x axis 1 : tensor<2x3xf64>
  %y2 = dl.mul %y, %y : tensor<2x3xf64>
  %s = dl.reduce_sum %y2 over [0, 1] : (tensor<2x3xf64>) -> tensor<f64>
  %g = dl.gradient %s wrt %x : tensor<f64>, tensor<2x3xf64>
  return %g : tensor<2x3xf64>
}

func.func @size_1x1_1(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %y = dl.softmax %x axis 1 : tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

func.func @size_64x10_1(%x: tensor<64x10xf32>) -> tensor<64x10xf32> {
  %y = dl.softmax %x axis 1 : tensor<64x10xf32>
  return %y : tensor<64x10xf32>
}

func.func @size_5x17_1(%x: tensor<5x17xf32>) -> tensor<5x17xf32> {
  %y = dl.softmax %x axis 1 : tensor<5x17xf32>
  return %y : tensor<5x17xf32>
}

func.func @size_3x1000_1(%x: tensor<3x1000xf32>) -> tensor<3x1000xf32> {
  %y = dl.softmax %x axis 1 : tensor<3x1000xf32>
  return %y : tensor<3x1000xf32>
}

func.func @size_17x5_0(%x: tensor<17x5xf32>) -> tensor<17x5xf32> {
  %y = dl.softmax %x axis 0 : tensor<17x5xf32>
  return %y : tensor<17x5xf32>
}

func.func @size_2x33x9_1(%x: tensor<2x33x9xf32>) -> tensor<2x33x9xf32> {
  %y = dl.softmax %x axis 1 : tensor<2x33x9xf32>
  return %y : tensor<2x33x9xf32>
}
