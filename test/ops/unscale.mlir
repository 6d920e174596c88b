// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @unscale(
// CHECK: dl.unscale %{{.*}} scale %{{.*}} : (tensor<5x7xf32>, tensor<f32>) -> (tensor<5x7xf32>, tensor<i1>)
func.func @unscale(%g: tensor<5x7xf32>, %s: tensor<f32> {dl.test = "positive"}) -> (tensor<5x7xf32>, tensor<i1>) {
  %y:2 = dl.unscale %g scale %s : (tensor<5x7xf32>, tensor<f32>) -> (tensor<5x7xf32>, tensor<i1>)
  return %y#0, %y#1 : tensor<5x7xf32>, tensor<i1>
}

func.func @size_1000(%g: tensor<1000xf32>, %s: tensor<f32> {dl.test = "positive"}) -> (tensor<1000xf32>, tensor<i1>) {
  %y:2 = dl.unscale %g scale %s : (tensor<1000xf32>, tensor<f32>) -> (tensor<1000xf32>, tensor<i1>)
  return %y#0, %y#1 : tensor<1000xf32>, tensor<i1>
}

func.func @powers_of_two_are_exact(
    %g: tensor<3xf32> {dl.value = dense<[3072.0, -4096.0, 0.5]> : tensor<3xf32>},
    %s: tensor<f32> {dl.value = dense<1024.0> : tensor<f32>}) -> (tensor<3xf32>, tensor<i1>)
    attributes {dl.expect = [dense<[3.0, -4.0, 4.8828125e-4]> : tensor<3xf32>, dense<true> : tensor<i1>]} {
  %y:2 = dl.unscale %g scale %s : (tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<i1>)
  return %y#0, %y#1 : tensor<3xf32>, tensor<i1>
}

func.func @infinite(
    %g: tensor<2x2xf32> {dl.value = dense<[[1.0, 2.0], [0xFF800000, 4.0]]> : tensor<2x2xf32>},
    %s: tensor<f32> {dl.value = dense<2.0> : tensor<f32>}) -> (tensor<2x2xf32>, tensor<i1>)
    attributes {dl.expect = [dense<[[0.5, 1.0], [0xFF800000, 2.0]]> : tensor<2x2xf32>, dense<false> : tensor<i1>]} {
  %y:2 = dl.unscale %g scale %s : (tensor<2x2xf32>, tensor<f32>) -> (tensor<2x2xf32>, tensor<i1>)
  return %y#0, %y#1 : tensor<2x2xf32>, tensor<i1>
}

func.func @nan(
    %g: tensor<f64> {dl.value = dense<0x7FF8000000000000> : tensor<f64>},
    %s: tensor<f32> {dl.value = dense<2.0> : tensor<f32>}) -> (tensor<f64>, tensor<i1>)
    attributes {dl.expect = [dense<0x7FF8000000000000> : tensor<f64>, dense<false> : tensor<i1>]} {
  %y:2 = dl.unscale %g scale %s : (tensor<f64>, tensor<f32>) -> (tensor<f64>, tensor<i1>)
  return %y#0, %y#1 : tensor<f64>, tensor<i1>
}
