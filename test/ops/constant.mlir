// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @constant(
// CHECK: dl.constant dense<[1.000000e+00, 0x7FC00000, -0.000000e+00]> : tensor<3xf32>
func.func @constant() -> tensor<3xf32> attributes {dl.expect = dense<[1.0, 0x7FC00000, -0.0]> : tensor<3xf32>} {
  %y = dl.constant dense<[1.0, 0x7FC00000, -0.0]> : tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @splat(
// CHECK: dl.constant dense<-7> : tensor<4x5xi8>
func.func @splat() -> tensor<4x5xi8> attributes {dl.expect = dense<-7> : tensor<4x5xi8>} {
  %y = dl.constant dense<-7> : tensor<4x5xi8>
  return %y : tensor<4x5xi8>
}

// CHECK-LABEL: func.func @bools(
// CHECK: dl.constant dense<[true, false, true]> : tensor<3xi1>
func.func @bools() -> tensor<3xi1> attributes {dl.expect = dense<[true, false, true]> : tensor<3xi1>} {
  %y = dl.constant dense<[true, false, true]> : tensor<3xi1>
  return %y : tensor<3xi1>
}

// CHECK-LABEL: func.func @resource(
// CHECK: dl.constant dense_resource<weights> : tensor<2xf32>
func.func @resource() -> tensor<2xf32> attributes {dl.expect = dense<[1.0, -2.0]> : tensor<2xf32>} {
  %y = dl.constant dense_resource<weights> : tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK: dialect_resources
// CHECK: weights: "0x400000000000803F000000C0"
{-#
  dialect_resources: {
    builtin: {
      weights: "0x400000000000803F000000C0"
    }
  }
#-}
