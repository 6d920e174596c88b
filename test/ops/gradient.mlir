// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @gradient(
// CHECK: dl.gradient %{{.*}} wrt %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>, tensor<f32>
func.func @gradient(%a: tensor<f32> {dl.value = dense<3.0> : tensor<f32>}, %b: tensor<f32> {dl.value = dense<5.0> : tensor<f32>})
    -> (tensor<f32>, tensor<f32>) attributes {dl.expect = [dense<5.0> : tensor<f32>, dense<3.0> : tensor<f32>]} {
  %y = dl.mul %a, %b : tensor<f32>
  %ga, %gb = dl.gradient %y wrt %a, %b : tensor<f32>, tensor<f32>, tensor<f32>
  return %ga, %gb : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @unused(
// CHECK: dl.gradient %{{.*}} wrt %{{.*}} allow_unused : tensor<f32>, tensor<2xf32>
func.func @unused(%a: tensor<f32>, %b: tensor<2xf32>) -> tensor<2xf32> attributes {dl.expect = dense<0.0> : tensor<2xf32>} {
  %g = dl.gradient %a wrt %b allow_unused : tensor<f32>, tensor<2xf32>
  return %g : tensor<2xf32>
}
