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

// Kernels read 16-bit floats that were cast to f32 as they are; one of 32 bits beside them.
func.func @read_by_product(%a: tensor<2x33x70xbf16>, %b: tensor<2x70x19xbf16>, %c: tensor<2x70x19xf32>)
    -> (tensor<2x33x19xf32>, tensor<2x33x19xf32>, tensor<2x19x19xf32>) {
  %wide = dl.cast %a : tensor<2x33x70xbf16> to tensor<2x33x70xf32>
  %wide_b = dl.cast %b : tensor<2x70x19xbf16> to tensor<2x70x19xf32>
  %both = dl.dot_general %wide, %wide_b batch [0] x [0] contract [2] x [1] : (tensor<2x33x70xf32>, tensor<2x70x19xf32>) -> tensor<2x33x19xf32>
  %left = dl.dot_general %wide, %c batch [0] x [0] contract [2] x [1] : (tensor<2x33x70xf32>, tensor<2x70x19xf32>) -> tensor<2x33x19xf32>
  %right = dl.dot_general %c, %wide_b batch [0] x [0] contract [1] x [1] : (tensor<2x70x19xf32>, tensor<2x70x19xf32>) -> tensor<2x19x19xf32>
  return %both, %left, %right : tensor<2x33x19xf32>, tensor<2x33x19xf32>, tensor<2x19x19xf32>
}

func.func @read_by_conv(%x: tensor<2x3x5x6xbf16>, %w: tensor<4x3x2x3xf32>, %x2: tensor<2x3x5x6xf32>, %w2: tensor<4x3x2x3xbf16>)
    -> (tensor<2x4x4x4xf32>, tensor<2x4x4x4xf32>) {
  %0 = dl.cast %x : tensor<2x3x5x6xbf16> to tensor<2x3x5x6xf32>
  %1 = dl.cast %w2 : tensor<4x3x2x3xbf16> to tensor<4x3x2x3xf32>
  %y = dl.conv %0, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<2x3x5x6xf32>, tensor<4x3x2x3xf32>) -> tensor<2x4x4x4xf32>
  %z = dl.conv %x2, %1 strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<2x3x5x6xf32>, tensor<4x3x2x3xf32>) -> tensor<2x4x4x4xf32>
  return %y, %z : tensor<2x4x4x4xf32>, tensor<2x4x4x4xf32>
}

func.func @read_by_pool(%x: tensor<2x3x6x5xbf16>) -> tensor<2x3x5x4xf32> {
  %0 = dl.cast %x : tensor<2x3x6x5xbf16> to tensor<2x3x6x5xf32>
  %y = dl.max_pool %0 kernel [2, 2] strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<2x3x6x5xf32>) -> tensor<2x3x5x4xf32>
  return %y : tensor<2x3x5x4xf32>
}

func.func @read_by_attention(%q: tensor<2x19x8xbf16>, %k: tensor<2x300x8xbf16>, %k2: tensor<2x300x8xf32>, %v: tensor<2x300x5xf32>)
    -> (tensor<2x19x5xf32>, tensor<2x19x5xf32>) {
  %0 = dl.cast %q : tensor<2x19x8xbf16> to tensor<2x19x8xf32>
  %1 = dl.cast %k : tensor<2x300x8xbf16> to tensor<2x300x8xf32>
  %y, %lse = dl.attention %0, %k2, %v scale 0.25
      : (tensor<2x19x8xf32>, tensor<2x300x8xf32>, tensor<2x300x5xf32>) -> (tensor<2x19x5xf32>, tensor<2x19xf32>)
  %z, %lse2 = dl.attention %0, %1, %v scale 0.25
      : (tensor<2x19x8xf32>, tensor<2x300x8xf32>, tensor<2x300x5xf32>) -> (tensor<2x19x5xf32>, tensor<2x19xf32>)
  return %y, %z : tensor<2x19x5xf32>, tensor<2x19x5xf32>
}

func.func @read_by_scatter(%x: tensor<6x3xbf16>, %i: tensor<4xi64> {dl.test = "index:6"}, %u: tensor<4x3xbf16>) -> tensor<6x3xf32> {
  %0 = dl.cast %x : tensor<6x3xbf16> to tensor<6x3xf32>
  %1 = dl.cast %u : tensor<4x3xbf16> to tensor<4x3xf32>
  %y = dl.scatter %0, %i, %1 axis 0 kind(add) : (tensor<6x3xf32>, tensor<4xi64>, tensor<4x3xf32>) -> tensor<6x3xf32>
  return %y : tensor<6x3xf32>
}
