// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @dot_general(
// CHECK: dl.dot_general %{{.*}}, %{{.*}} batch [0] x [1] contract [2] x [0] : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x5xf32>
func.func @dot_general(
    %a: tensor<2x3x4xf32>,
    %b: tensor<4x2x5xf32>) -> tensor<2x3x5xf32>
    attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [0] x [1] contract [2] x [0] : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

func.func @values(
    %a: tensor<2x2xf64> {dl.value = dense<[[1.0,2.0],[3.0,4.0]]> : tensor<2x2xf64>},
    %b: tensor<2x2xf64> {dl.value = dense<[[5.0,6.0],[7.0,8.0]]> : tensor<2x2xf64>}) -> tensor<2x2xf64>
    attributes {dl.expect = dense<[[19.0,22.0],[43.0,50.0]]> : tensor<2x2xf64>, dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

func.func @transposed(%a: tensor<4x3xf64>, %b: tensor<5x4xf64>) -> tensor<3x5xf64> attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [] x [] contract [0] x [1] : (tensor<4x3xf64>, tensor<5x4xf64>) -> tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}

func.func @two_contracted_crosswise(
    %a: tensor<3x2x5xf64>,
    %b: tensor<5x4x2xf64>) -> tensor<3x4xf64>
    attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [] x [] contract [1, 2] x [2, 0] : (tensor<3x2x5xf64>, tensor<5x4x2xf64>) -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

func.func @two_batches_out_of_order(
    %a: tensor<2x3x4xf64>,
    %b: tensor<3x2x5x4xf64>) -> tensor<3x2x5xf64>
    attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [1, 0] x [0, 1] contract [2] x [3] : (tensor<2x3x4xf64>, tensor<3x2x5x4xf64>) -> tensor<3x2x5xf64>
  return %y : tensor<3x2x5xf64>
}

func.func @outer(%a: tensor<3xf64>, %b: tensor<2xf64>) -> tensor<3x2xf64> attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [] x [] contract [] x [] : (tensor<3xf64>, tensor<2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @inner(%a: tensor<5xf64>, %b: tensor<5xf64>) -> tensor<f64> attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [] x [] contract [0] x [0] : (tensor<5xf64>, tensor<5xf64>) -> tensor<f64>
  return %y : tensor<f64>
}

// SHAPE-01
func.func @empty_sum(
    %a: tensor<2x0xf64> {dl.value = dense<> : tensor<2x0xf64>},
    %b: tensor<0x2xf64> {dl.value = dense<> : tensor<0x2xf64>}) -> tensor<2x2xf64>
    attributes {dl.expect = dense<0.0> : tensor<2x2xf64>} {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<2x0xf64>, tensor<0x2xf64>) -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

// SHAPE-03
func.func @empty_batched(%a: tensor<3x0x0xf64>, %b: tensor<0x0xf64>) -> tensor<3x0x0xf64> {
  %y = dl.dot_general %a, %b batch [] x [] contract [2] x [0] : (tensor<3x0x0xf64>, tensor<0x0xf64>) -> tensor<3x0x0xf64>
  return %y : tensor<3x0x0xf64>
}

func.func @second_order(
    %a: tensor<2x3xf64>,
    %b: tensor<3x2xf64>) -> (tensor<2x3xf64>, tensor<3x2xf64>)
    attributes {dl.check_gradient} {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<2x3xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
  %y2 = dl.mul %y, %y : tensor<2x2xf64>
  %s = dl.reduce_sum %y2 over [0, 1] : (tensor<2x2xf64>) -> tensor<f64>
  %g:2 = dl.gradient %s wrt %a, %b : tensor<f64>, tensor<2x3xf64>, tensor<3x2xf64>
  return %g#0, %g#1 : tensor<2x3xf64>, tensor<3x2xf64>
}

func.func @size_1x1x1(%a: tensor<1x1xf32>, %b: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

func.func @size_1x17x5(%a: tensor<1x5xf32>, %b: tensor<5x17xf32>) -> tensor<1x17xf32> {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<1x5xf32>, tensor<5x17xf32>) -> tensor<1x17xf32>
  return %y : tensor<1x17xf32>
}

func.func @size_17x1x33(%a: tensor<17x33xf32>, %b: tensor<33x1xf32>) -> tensor<17x1xf32> {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<17x33xf32>, tensor<33x1xf32>) -> tensor<17x1xf32>
  return %y : tensor<17x1xf32>
}

func.func @size_17x17x17(%a: tensor<17x17xf32>, %b: tensor<17x17xf32>) -> tensor<17x17xf32> {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<17x17xf32>, tensor<17x17xf32>) -> tensor<17x17xf32>
  return %y : tensor<17x17xf32>
}

func.func @size_33x65x70(%a: tensor<33x70xf32>, %b: tensor<70x65xf32>) -> tensor<33x65xf32> {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<33x70xf32>, tensor<70x65xf32>) -> tensor<33x65xf32>
  return %y : tensor<33x65xf32>
}

func.func @size_64x64x64(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// About 300 to 400 products of up to 4 each: partial sums reach 30, and f32 rounds each by up to 2e-6, mostly cancelling.
func.func @size_5x100x400(%a: tensor<5x400xf32>, %b: tensor<400x100xf32>) -> tensor<5x100xf32> attributes {dl.compiled_tolerance = 4.0e-5 : f64} {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<5x400xf32>, tensor<400x100xf32>) -> tensor<5x100xf32>
  return %y : tensor<5x100xf32>
}

// About 300 to 400 products of up to 4 each: partial sums reach 30, and f32 rounds each by up to 2e-6, mostly cancelling.
func.func @size_130x20x390(%a: tensor<130x390xf32>, %b: tensor<390x20xf32>) -> tensor<130x20xf32> attributes {dl.compiled_tolerance = 4.0e-5 : f64} {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<130x390xf32>, tensor<390x20xf32>) -> tensor<130x20xf32>
  return %y : tensor<130x20xf32>
}

func.func @size_lhs_transposed(%a: tensor<70x33xf32>, %b: tensor<70x19xf32>) -> tensor<33x19xf32> {
  %y = dl.dot_general %a, %b batch [] x [] contract [0] x [0] : (tensor<70x33xf32>, tensor<70x19xf32>) -> tensor<33x19xf32>
  return %y : tensor<33x19xf32>
}

func.func @size_rhs_transposed(%a: tensor<33x70xf32>, %b: tensor<19x70xf32>) -> tensor<33x19xf32> {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [1] : (tensor<33x70xf32>, tensor<19x70xf32>) -> tensor<33x19xf32>
  return %y : tensor<33x19xf32>
}

func.func @size_both_transposed(%a: tensor<70x33xf32>, %b: tensor<19x70xf32>) -> tensor<33x19xf32> {
  %y = dl.dot_general %a, %b batch [] x [] contract [0] x [1] : (tensor<70x33xf32>, tensor<19x70xf32>) -> tensor<33x19xf32>
  return %y : tensor<33x19xf32>
}

func.func @size_batched(%a: tensor<3x17x20xf32>, %b: tensor<3x20x9xf32>) -> tensor<3x17x9xf32> {
  %y = dl.dot_general %a, %b batch [0] x [0] contract [2] x [1] : (tensor<3x17x20xf32>, tensor<3x20x9xf32>) -> tensor<3x17x9xf32>
  return %y : tensor<3x17x9xf32>
}

func.func @size_heads(%a: tensor<2x9x3x16xf32>, %b: tensor<2x9x3x16xf32>) -> tensor<2x3x9x9xf32> {
  %y = dl.dot_general %a, %b batch [0, 2] x [0, 2] contract [3] x [3] : (tensor<2x9x3x16xf32>, tensor<2x9x3x16xf32>) -> tensor<2x3x9x9xf32>
  return %y : tensor<2x3x9x9xf32>
}

// Neither terms nor rows lie side by side.
func.func @size_batch_last(%a: tensor<20x29x2xf32>, %b: tensor<20x21x2xf32>) -> tensor<2x29x21xf32> {
  %y = dl.dot_general %a, %b batch [2] x [2] contract [0] x [0] : (tensor<20x29x2xf32>, tensor<20x21x2xf32>) -> tensor<2x29x21xf32>
  return %y : tensor<2x29x21xf32>
}

func.func @size_double(%a: tensor<9x400xf64>, %b: tensor<400x21xf64>) -> tensor<9x21xf64> {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<9x400xf64>, tensor<400x21xf64>) -> tensor<9x21xf64>
  return %y : tensor<9x21xf64>
}

func.func @size_65x129x63(%a: tensor<65x63xf32>, %b: tensor<63x129xf32>) -> tensor<65x129xf32> {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<65x63xf32>, tensor<63x129xf32>) -> tensor<65x129xf32>
  return %y : tensor<65x129xf32>
}

func.func @size_129x64x65_transposed(%a: tensor<65x129xf32>, %b: tensor<64x65xf32>) -> tensor<129x64xf32> {
  %y = dl.dot_general %a, %b batch [] x [] contract [0] x [1] : (tensor<65x129xf32>, tensor<64x65xf32>) -> tensor<129x64xf32>
  return %y : tensor<129x64xf32>
}

func.func @size_63x17x129_double(%a: tensor<63x129xf64>, %b: tensor<17x129xf64>) -> tensor<63x17xf64> {
  %y = dl.dot_general %a, %b batch [] x [] contract [1] x [1] : (tensor<63x129xf64>, tensor<17x129xf64>) -> tensor<63x17xf64>
  return %y : tensor<63x17xf64>
}

// Tiles of 128 x 64 on GPUs.
func.func @size_large_tiles(%a: tensor<32x129x17xf32>, %b: tensor<32x17x65xf32>) -> tensor<32x129x65xf32> {
  %y = dl.dot_general %a, %b batch [0] x [0] contract [2] x [1] : (tensor<32x129x17xf32>, tensor<32x17x65xf32>) -> tensor<32x129x65xf32>
  return %y : tensor<32x129x65xf32>
}

// Terms in parts on GPUs. 1100 products of up to 4 each: partial sums reach 60, rounded by up to 4e-6 each.
func.func @size_parts(%a: tensor<1100x33xf32>, %b: tensor<1100x7xf32>) -> tensor<33x7xf32> attributes {dl.compiled_tolerance = 1.0e-4 : f64} {
  %y = dl.dot_general %a, %b batch [] x [] contract [0] x [0] : (tensor<1100x33xf32>, tensor<1100x7xf32>) -> tensor<33x7xf32>
  return %y : tensor<33x7xf32>
}

func.func @size_parts_inner(%a: tensor<2000xf32>, %b: tensor<2000xf32>) -> tensor<f32> attributes {dl.compiled_tolerance = 1.0e-4 : f64} {
  %y = dl.dot_general %a, %b batch [] x [] contract [0] x [0] : (tensor<2000xf32>, tensor<2000xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// Sums as a tree over parts of the first contracted dimension, the last one shorter.
func.func @leaves(%a: tensor<7x5xf32>, %b: tensor<7x9xf32>) -> tensor<5x9xf32> {
  %y = dl.dot_general %a, %b batch [] x [] contract [0] x [0] leaves(4) : (tensor<7x5xf32>, tensor<7x9xf32>) -> tensor<5x9xf32>
  return %y : tensor<5x9xf32>
}
