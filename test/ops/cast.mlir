// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @cast(
// CHECK: dl.cast %{{.*}} : tensor<17xf32> to tensor<17xf64>
func.func @cast(%x: tensor<17xf32>) -> tensor<17xf64> attributes {dl.check_gradient} {
  %y = dl.cast %x : tensor<17xf32> to tensor<17xf64>
  return %y : tensor<17xf64>
}

func.func @narrow(%x: tensor<17xf64>) -> tensor<17xf32> attributes {dl.check_gradient} {
  %y = dl.cast %x : tensor<17xf64> to tensor<17xf32>
  return %y : tensor<17xf32>
}

func.func @f64_to_i64(%x: tensor<35xf64>) -> tensor<35xi64> {
  %y = dl.cast %x : tensor<35xf64> to tensor<35xi64>
  return %y : tensor<35xi64>
}

func.func @f64_to_i32(%x: tensor<35xf64>) -> tensor<35xi32> {
  %y = dl.cast %x : tensor<35xf64> to tensor<35xi32>
  return %y : tensor<35xi32>
}

func.func @f64_to_i8(%x: tensor<35xf64>) -> tensor<35xi8> {
  %y = dl.cast %x : tensor<35xf64> to tensor<35xi8>
  return %y : tensor<35xi8>
}

func.func @f64_to_i1(%x: tensor<35xf64>) -> tensor<35xi1> {
  %y = dl.cast %x : tensor<35xf64> to tensor<35xi1>
  return %y : tensor<35xi1>
}

func.func @f32_to_i64(%x: tensor<35xf32>) -> tensor<35xi64> {
  %y = dl.cast %x : tensor<35xf32> to tensor<35xi64>
  return %y : tensor<35xi64>
}

func.func @f32_to_i32(%x: tensor<35xf32>) -> tensor<35xi32> {
  %y = dl.cast %x : tensor<35xf32> to tensor<35xi32>
  return %y : tensor<35xi32>
}

func.func @f32_to_i8(%x: tensor<35xf32>) -> tensor<35xi8> {
  %y = dl.cast %x : tensor<35xf32> to tensor<35xi8>
  return %y : tensor<35xi8>
}

func.func @f32_to_i1(%x: tensor<35xf32>) -> tensor<35xi1> {
  %y = dl.cast %x : tensor<35xf32> to tensor<35xi1>
  return %y : tensor<35xi1>
}

func.func @i64_to_f64(%x: tensor<35xi64>) -> tensor<35xf64> {
  %y = dl.cast %x : tensor<35xi64> to tensor<35xf64>
  return %y : tensor<35xf64>
}

func.func @i64_to_f32(%x: tensor<35xi64>) -> tensor<35xf32> {
  %y = dl.cast %x : tensor<35xi64> to tensor<35xf32>
  return %y : tensor<35xf32>
}

func.func @i64_to_i32(%x: tensor<35xi64>) -> tensor<35xi32> {
  %y = dl.cast %x : tensor<35xi64> to tensor<35xi32>
  return %y : tensor<35xi32>
}

func.func @i64_to_i8(%x: tensor<35xi64>) -> tensor<35xi8> {
  %y = dl.cast %x : tensor<35xi64> to tensor<35xi8>
  return %y : tensor<35xi8>
}

func.func @i64_to_i1(%x: tensor<35xi64>) -> tensor<35xi1> {
  %y = dl.cast %x : tensor<35xi64> to tensor<35xi1>
  return %y : tensor<35xi1>
}

func.func @i32_to_f64(%x: tensor<35xi32>) -> tensor<35xf64> {
  %y = dl.cast %x : tensor<35xi32> to tensor<35xf64>
  return %y : tensor<35xf64>
}

func.func @i32_to_f32(%x: tensor<35xi32>) -> tensor<35xf32> {
  %y = dl.cast %x : tensor<35xi32> to tensor<35xf32>
  return %y : tensor<35xf32>
}

func.func @i32_to_i64(%x: tensor<35xi32>) -> tensor<35xi64> {
  %y = dl.cast %x : tensor<35xi32> to tensor<35xi64>
  return %y : tensor<35xi64>
}

func.func @i32_to_i8(%x: tensor<35xi32>) -> tensor<35xi8> {
  %y = dl.cast %x : tensor<35xi32> to tensor<35xi8>
  return %y : tensor<35xi8>
}

func.func @i32_to_i1(%x: tensor<35xi32>) -> tensor<35xi1> {
  %y = dl.cast %x : tensor<35xi32> to tensor<35xi1>
  return %y : tensor<35xi1>
}

func.func @i8_to_f64(%x: tensor<35xi8>) -> tensor<35xf64> {
  %y = dl.cast %x : tensor<35xi8> to tensor<35xf64>
  return %y : tensor<35xf64>
}

func.func @i8_to_f32(%x: tensor<35xi8>) -> tensor<35xf32> {
  %y = dl.cast %x : tensor<35xi8> to tensor<35xf32>
  return %y : tensor<35xf32>
}

func.func @i8_to_i64(%x: tensor<35xi8>) -> tensor<35xi64> {
  %y = dl.cast %x : tensor<35xi8> to tensor<35xi64>
  return %y : tensor<35xi64>
}

func.func @i8_to_i32(%x: tensor<35xi8>) -> tensor<35xi32> {
  %y = dl.cast %x : tensor<35xi8> to tensor<35xi32>
  return %y : tensor<35xi32>
}

func.func @i8_to_i1(%x: tensor<35xi8>) -> tensor<35xi1> {
  %y = dl.cast %x : tensor<35xi8> to tensor<35xi1>
  return %y : tensor<35xi1>
}

func.func @i1_to_f64(%x: tensor<35xi1>) -> tensor<35xf64> {
  %y = dl.cast %x : tensor<35xi1> to tensor<35xf64>
  return %y : tensor<35xf64>
}

func.func @i1_to_f32(%x: tensor<35xi1>) -> tensor<35xf32> {
  %y = dl.cast %x : tensor<35xi1> to tensor<35xf32>
  return %y : tensor<35xf32>
}

func.func @i1_to_i64(%x: tensor<35xi1>) -> tensor<35xi64> {
  %y = dl.cast %x : tensor<35xi1> to tensor<35xi64>
  return %y : tensor<35xi64>
}

func.func @i1_to_i32(%x: tensor<35xi1>) -> tensor<35xi32> {
  %y = dl.cast %x : tensor<35xi1> to tensor<35xi32>
  return %y : tensor<35xi32>
}

func.func @i1_to_i8(%x: tensor<35xi1>) -> tensor<35xi8> {
  %y = dl.cast %x : tensor<35xi1> to tensor<35xi8>
  return %y : tensor<35xi8>
}

// NUM-07: toward zero, saturating, NaN gives 0.
func.func @num07_i32(%x: tensor<5xf32> {dl.value = dense<[0x7FC00000, 0x7F800000, 0xFF800000, -3.7, 300.0]> : tensor<5xf32>}) -> tensor<5xi32> attributes {dl.expect = dense<[0, 2147483647, -2147483648, -3, 300]> : tensor<5xi32>} {
  %y = dl.cast %x : tensor<5xf32> to tensor<5xi32>
  return %y : tensor<5xi32>
}

func.func @num07_i8(%x: tensor<5xf32> {dl.value = dense<[0x7FC00000, 0x7F800000, 0xFF800000, -3.7, 300.0]> : tensor<5xf32>}) -> tensor<5xi8> attributes {dl.expect = dense<[0, 127, -128, -3, 127]> : tensor<5xi8>} {
  %y = dl.cast %x : tensor<5xf32> to tensor<5xi8>
  return %y : tensor<5xi8>
}

func.func @num07_i64(%x: tensor<5xf64> {dl.value = dense<[0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000, -3.7, 1.0e+19]> : tensor<5xf64>}) -> tensor<5xi64> attributes {dl.expect = dense<[0, 9223372036854775807, -9223372036854775808, -3, 9223372036854775807]> : tensor<5xi64>} {
  %y = dl.cast %x : tensor<5xf64> to tensor<5xi64>
  return %y : tensor<5xi64>
}

func.func @num07_edges(%x: tensor<4xf64> {dl.value = dense<[2147483647.9, 2147483648.0, -2147483648.9, -2147483649.0]> : tensor<4xf64>}) -> tensor<4xi32> attributes {dl.expect = dense<[2147483647, 2147483647, -2147483648, -2147483648]> : tensor<4xi32>} {
  %y = dl.cast %x : tensor<4xf64> to tensor<4xi32>
  return %y : tensor<4xi32>
}

func.func @to_bool(%x: tensor<4xf32> {dl.value = dense<[0.0, -0.0, 0.1, 0x7FC00000]> : tensor<4xf32>}) -> tensor<4xi1> attributes {dl.expect = dense<[false, false, true, true]> : tensor<4xi1>} {
  %y = dl.cast %x : tensor<4xf32> to tensor<4xi1>
  return %y : tensor<4xi1>
}

func.func @wraps(%x: tensor<4xi32> {dl.value = dense<[127, 128, -129, 511]> : tensor<4xi32>}) -> tensor<4xi8> attributes {dl.expect = dense<[127, -128, 127, -1]> : tensor<4xi8>} {
  %y = dl.cast %x : tensor<4xi32> to tensor<4xi8>
  return %y : tensor<4xi8>
}
