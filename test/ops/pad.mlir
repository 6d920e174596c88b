// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @pad(
// CHECK: dl.pad %{{.*}}, %{{.*}} lo [1, 0] hi [0, 2] interior [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x7xf32>
func.func @pad(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<3x7xf32> attributes {dl.check_gradient} {
  %y = dl.pad %x, %v lo [1, 0] hi [0, 2] interior [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}

func.func @values(
    %x: tensor<3xf64> {dl.value = dense<[1.0,2.0,3.0]> : tensor<3xf64>},
    %v: tensor<f64> {dl.value = dense<9.0> : tensor<f64>}) -> tensor<8xf64>
    attributes {dl.expect = dense<[9.0,1.0,9.0,2.0,9.0,3.0,9.0,9.0]> : tensor<8xf64>, dl.check_gradient} {
  %y = dl.pad %x, %v lo [1] hi [2] interior [1] : (tensor<3xf64>, tensor<f64>) -> tensor<8xf64>
  return %y : tensor<8xf64>
}

func.func @nothing(%x: tensor<3xf64>, %v: tensor<f64>) -> tensor<3xf64> attributes {dl.check_gradient} {
  %y = dl.pad %x, %v lo [0] hi [0] interior [0] : (tensor<3xf64>, tensor<f64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @empty_operand(%x: tensor<0xf64>, %v: tensor<f64>) -> tensor<2xf64> attributes {dl.check_gradient} {
  %y = dl.pad %x, %v lo [1] hi [1] interior [2] : (tensor<0xf64>, tensor<f64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @booleans(
    %x: tensor<2xi1> {dl.value = dense<[1,0]> : tensor<2xi1>},
    %v: tensor<i1> {dl.value = dense<1> : tensor<i1>}) -> tensor<3xi1>
    attributes {dl.expect = dense<[1,1,0]> : tensor<3xi1>} {
  %y = dl.pad %x, %v lo [1] hi [0] interior [0] : (tensor<2xi1>, tensor<i1>) -> tensor<3xi1>
  return %y : tensor<3xi1>
}

func.func @size_17_by_19(%x: tensor<17x19xf32>, %v: tensor<f32>) -> tensor<20x40xf32> {
  %y = dl.pad %x, %v lo [1, 2] hi [2, 1] interior [0, 1] : (tensor<17x19xf32>, tensor<f32>) -> tensor<20x40xf32>
  return %y : tensor<20x40xf32>
}
