// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @reshape(
// CHECK: dl.reshape %{{.*}} : (tensor<2x6xf32>) -> tensor<3x4xf32>
func.func @reshape(%x: tensor<2x6xf32>) -> tensor<3x4xf32> attributes {dl.check_gradient} {
  %y = dl.reshape %x : (tensor<2x6xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

func.func @merge_and_split(%x: tensor<2x3x4xf64>) -> tensor<6x2x2xf64> attributes {dl.check_gradient} {
  %y = dl.reshape %x : (tensor<2x3x4xf64>) -> tensor<6x2x2xf64>
  return %y : tensor<6x2x2xf64>
}

func.func @to_scalar(%x: tensor<1x1xf64>) -> tensor<f64> attributes {dl.check_gradient} {
  %y = dl.reshape %x : (tensor<1x1xf64>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @from_scalar(%x: tensor<f64>) -> tensor<1x1x1xf64> attributes {dl.check_gradient} {
  %y = dl.reshape %x : (tensor<f64>) -> tensor<1x1x1xf64>
  return %y : tensor<1x1x1xf64>
}

func.func @ones_and_mixed(%x: tensor<1x6x1x4xf64>) -> tensor<3x1x8x1xf64> attributes {dl.check_gradient} {
  %y = dl.reshape %x : (tensor<1x6x1x4xf64>) -> tensor<3x1x8x1xf64>
  return %y : tensor<3x1x8x1xf64>
}

func.func @empty(%x: tensor<0x3xf64>) -> tensor<3x0x2xf64> attributes {dl.check_gradient} {
  %y = dl.reshape %x : (tensor<0x3xf64>) -> tensor<3x0x2xf64>
  return %y : tensor<3x0x2xf64>
}

func.func @keeps_order(
    %x: tensor<2x6xi32> {dl.value = dense<[[0,1,2,3,4,5],[6,7,8,9,10,11]]> : tensor<2x6xi32>}) -> tensor<3x4xi32>
    attributes {dl.expect = dense<[[0,1,2,3],[4,5,6,7],[8,9,10,11]]> : tensor<3x4xi32>} {
  %y = dl.reshape %x : (tensor<2x6xi32>) -> tensor<3x4xi32>
  return %y : tensor<3x4xi32>
}

func.func @size_flatten(%x: tensor<5x16x4x4xf32>) -> tensor<5x256xf32> {
  %y = dl.reshape %x : (tensor<5x16x4x4xf32>) -> tensor<5x256xf32>
  return %y : tensor<5x256xf32>
}

func.func @size_mixed(%x: tensor<6x35xf32>) -> tensor<10x21xf32> {
  %y = dl.reshape %x : (tensor<6x35xf32>) -> tensor<10x21xf32>
  return %y : tensor<10x21xf32>
}
