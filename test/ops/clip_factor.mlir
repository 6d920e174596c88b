// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @clip_factor(
// CHECK: dl.clip_factor %{{.*}}, %{{.*}} max_norm %{{.*}} : (tensor<f32>, tensor<f32>, tensor<f64>) -> (tensor<f32>, tensor<f32>)
func.func @clip_factor(%a: tensor<f32>, %b: tensor<f32>, %m: tensor<f64> {dl.test = "positive"}) -> (tensor<f32>, tensor<f32>) {
  %y:2 = dl.clip_factor %a, %b max_norm %m : (tensor<f32>, tensor<f32>, tensor<f64>) -> (tensor<f32>, tensor<f32>)
  return %y#0, %y#1 : tensor<f32>, tensor<f32>
}

// 3² + 4² + 12² = 13²; 2 / 13.000001
func.func @above(
    %a: tensor<f64> {dl.value = dense<3.0> : tensor<f64>}, %b: tensor<f64> {dl.value = dense<4.0> : tensor<f64>},
    %c: tensor<f64> {dl.value = dense<12.0> : tensor<f64>}, %m: tensor<f64> {dl.value = dense<2.0> : tensor<f64>}) -> (tensor<f64>, tensor<f64>)
    attributes {dl.expect = [dense<13.0> : tensor<f64>, dense<0.15384614201183525> : tensor<f64>], dl.tolerance = 1.0e-12 : f64} {
  %y:2 = dl.clip_factor %a, %b, %c max_norm %m : (tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %y#0, %y#1 : tensor<f64>, tensor<f64>
}

func.func @below(%a: tensor<f32> {dl.value = dense<3.0> : tensor<f32>}, %m: tensor<f64> {dl.value = dense<3.5> : tensor<f64>}) -> (tensor<f32>, tensor<f32>)
    attributes {dl.expect = [dense<3.0> : tensor<f32>, dense<1.0> : tensor<f32>]} {
  %y:2 = dl.clip_factor %a max_norm %m : (tensor<f32>, tensor<f64>) -> (tensor<f32>, tensor<f32>)
  return %y#0, %y#1 : tensor<f32>, tensor<f32>
}

// Nothing to scale, and 0 / 0 is none: 1 / 1e-6 is above 1.
func.func @zero(%a: tensor<f32> {dl.value = dense<0.0> : tensor<f32>}, %m: tensor<f64> {dl.value = dense<1.0> : tensor<f64>}) -> (tensor<f32>, tensor<f32>)
    attributes {dl.expect = [dense<0.0> : tensor<f32>, dense<1.0> : tensor<f32>]} {
  %y:2 = dl.clip_factor %a max_norm %m : (tensor<f32>, tensor<f64>) -> (tensor<f32>, tensor<f32>)
  return %y#0, %y#1 : tensor<f32>, tensor<f32>
}

func.func @infinite(%a: tensor<f32> {dl.value = dense<0x7F800000> : tensor<f32>}, %b: tensor<f32>, %m: tensor<f64> {dl.value = dense<1.0> : tensor<f64>}) -> (tensor<f32>, tensor<f32>)
    attributes {dl.expect = [dense<0x7F800000> : tensor<f32>, dense<0.0> : tensor<f32>]} {
  %y:2 = dl.clip_factor %a, %b max_norm %m : (tensor<f32>, tensor<f32>, tensor<f64>) -> (tensor<f32>, tensor<f32>)
  return %y#0, %y#1 : tensor<f32>, tensor<f32>
}

func.func @nan(%a: tensor<f32> {dl.value = dense<0x7FC00000> : tensor<f32>}, %b: tensor<f32>, %m: tensor<f64> {dl.value = dense<1.0> : tensor<f64>}) -> (tensor<f32>, tensor<f32>)
    attributes {dl.expect = [dense<0x7FC00000> : tensor<f32>, dense<0x7FC00000> : tensor<f32>]} {
  %y:2 = dl.clip_factor %a, %b max_norm %m : (tensor<f32>, tensor<f32>, tensor<f64>) -> (tensor<f32>, tensor<f32>)
  return %y#0, %y#1 : tensor<f32>, tensor<f32>
}
