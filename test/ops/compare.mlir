// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @eq(
// CHECK: dl.compare eq, %{{.*}}, %{{.*}} : tensor<6xf32>
func.func @eq(%a: tensor<6xf32> {dl.value = dense<[1.0, 2.0, 3.0, 0x7FC00000, 0x7FC00000, 0.0]> : tensor<6xf32>}, %b: tensor<6xf32> {dl.value = dense<[2.0, 2.0, 2.0, 1.0, 0x7FC00000, -0.0]> : tensor<6xf32>}) -> tensor<6xi1> attributes {dl.expect = dense<[false, true, false, false, false, true]> : tensor<6xi1>} {
  %y = dl.compare eq, %a, %b : tensor<6xf32>
  return %y : tensor<6xi1>
}

// CHECK-LABEL: func.func @ne(
// CHECK: dl.compare ne, %{{.*}}, %{{.*}} : tensor<6xf32>
func.func @ne(%a: tensor<6xf32> {dl.value = dense<[1.0, 2.0, 3.0, 0x7FC00000, 0x7FC00000, 0.0]> : tensor<6xf32>}, %b: tensor<6xf32> {dl.value = dense<[2.0, 2.0, 2.0, 1.0, 0x7FC00000, -0.0]> : tensor<6xf32>}) -> tensor<6xi1> attributes {dl.expect = dense<[true, false, true, true, true, false]> : tensor<6xi1>} {
  %y = dl.compare ne, %a, %b : tensor<6xf32>
  return %y : tensor<6xi1>
}

// CHECK-LABEL: func.func @lt(
// CHECK: dl.compare lt, %{{.*}}, %{{.*}} : tensor<6xf32>
func.func @lt(%a: tensor<6xf32> {dl.value = dense<[1.0, 2.0, 3.0, 0x7FC00000, 0x7FC00000, 0.0]> : tensor<6xf32>}, %b: tensor<6xf32> {dl.value = dense<[2.0, 2.0, 2.0, 1.0, 0x7FC00000, -0.0]> : tensor<6xf32>}) -> tensor<6xi1> attributes {dl.expect = dense<[true, false, false, false, false, false]> : tensor<6xi1>} {
  %y = dl.compare lt, %a, %b : tensor<6xf32>
  return %y : tensor<6xi1>
}

// CHECK-LABEL: func.func @le(
// CHECK: dl.compare le, %{{.*}}, %{{.*}} : tensor<6xf32>
func.func @le(%a: tensor<6xf32> {dl.value = dense<[1.0, 2.0, 3.0, 0x7FC00000, 0x7FC00000, 0.0]> : tensor<6xf32>}, %b: tensor<6xf32> {dl.value = dense<[2.0, 2.0, 2.0, 1.0, 0x7FC00000, -0.0]> : tensor<6xf32>}) -> tensor<6xi1> attributes {dl.expect = dense<[true, true, false, false, false, true]> : tensor<6xi1>} {
  %y = dl.compare le, %a, %b : tensor<6xf32>
  return %y : tensor<6xi1>
}

// CHECK-LABEL: func.func @gt(
// CHECK: dl.compare gt, %{{.*}}, %{{.*}} : tensor<6xf32>
func.func @gt(%a: tensor<6xf32> {dl.value = dense<[1.0, 2.0, 3.0, 0x7FC00000, 0x7FC00000, 0.0]> : tensor<6xf32>}, %b: tensor<6xf32> {dl.value = dense<[2.0, 2.0, 2.0, 1.0, 0x7FC00000, -0.0]> : tensor<6xf32>}) -> tensor<6xi1> attributes {dl.expect = dense<[false, false, true, false, false, false]> : tensor<6xi1>} {
  %y = dl.compare gt, %a, %b : tensor<6xf32>
  return %y : tensor<6xi1>
}

// CHECK-LABEL: func.func @ge(
// CHECK: dl.compare ge, %{{.*}}, %{{.*}} : tensor<6xf32>
func.func @ge(%a: tensor<6xf32> {dl.value = dense<[1.0, 2.0, 3.0, 0x7FC00000, 0x7FC00000, 0.0]> : tensor<6xf32>}, %b: tensor<6xf32> {dl.value = dense<[2.0, 2.0, 2.0, 1.0, 0x7FC00000, -0.0]> : tensor<6xf32>}) -> tensor<6xi1> attributes {dl.expect = dense<[false, true, true, false, false, true]> : tensor<6xi1>} {
  %y = dl.compare ge, %a, %b : tensor<6xf32>
  return %y : tensor<6xi1>
}

func.func @f64(%a: tensor<35xf64>, %b: tensor<35xf64>) -> tensor<35xi1> {
  %y = dl.compare le, %a, %b : tensor<35xf64>
  return %y : tensor<35xi1>
}

func.func @i64(%a: tensor<35xi64>, %b: tensor<35xi64>) -> tensor<35xi1> {
  %y = dl.compare le, %a, %b : tensor<35xi64>
  return %y : tensor<35xi1>
}

func.func @i32(%a: tensor<35xi32>, %b: tensor<35xi32>) -> tensor<35xi1> {
  %y = dl.compare le, %a, %b : tensor<35xi32>
  return %y : tensor<35xi1>
}

func.func @i8(%a: tensor<35xi8>, %b: tensor<35xi8>) -> tensor<35xi1> {
  %y = dl.compare le, %a, %b : tensor<35xi8>
  return %y : tensor<35xi1>
}

func.func @i1(%a: tensor<35xi1>, %b: tensor<35xi1>) -> tensor<35xi1> {
  %y = dl.compare le, %a, %b : tensor<35xi1>
  return %y : tensor<35xi1>
}

// false < true
func.func @bool(%a: tensor<4xi1> {dl.value = dense<[false, false, true, true]> : tensor<4xi1>}, %b: tensor<4xi1> {dl.value = dense<[false, true, false, true]> : tensor<4xi1>}) -> tensor<4xi1> attributes {dl.expect = dense<[false, true, false, false]> : tensor<4xi1>} {
  %y = dl.compare lt, %a, %b : tensor<4xi1>
  return %y : tensor<4xi1>
}
