// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @update_scale(
// CHECK: dl.update_scale %{{.*}}, %{{.*}} found %{{.*}} growth 2.000000e+00 backoff 5.000000e-01 interval 3 : (tensor<f32>, tensor<i64>, tensor<i1>) -> (tensor<f32>, tensor<i64>)
func.func @update_scale(%s: tensor<f32> {dl.test = "positive"}, %n: tensor<i64>, %f: tensor<i1>) -> (tensor<f32>, tensor<i64>) {
  %y:2 = dl.update_scale %s, %n found %f growth 2.0 backoff 0.5 interval 3 : (tensor<f32>, tensor<i64>, tensor<i1>) -> (tensor<f32>, tensor<i64>)
  return %y#0, %y#1 : tensor<f32>, tensor<i64>
}

// PyTorch's rules: two steps of an interval of three, the third, and an overflow.
func.func @counts(
    %s: tensor<f32> {dl.value = dense<1024.0> : tensor<f32>}, %n: tensor<i64> {dl.value = dense<1> : tensor<i64>},
    %f: tensor<i1> {dl.value = dense<false> : tensor<i1>}) -> (tensor<f32>, tensor<i64>)
    attributes {dl.expect = [dense<1024.0> : tensor<f32>, dense<2> : tensor<i64>]} {
  %y:2 = dl.update_scale %s, %n found %f growth 2.0 backoff 0.5 interval 3 : (tensor<f32>, tensor<i64>, tensor<i1>) -> (tensor<f32>, tensor<i64>)
  return %y#0, %y#1 : tensor<f32>, tensor<i64>
}

func.func @grows(
    %s: tensor<f32> {dl.value = dense<1024.0> : tensor<f32>}, %n: tensor<i64> {dl.value = dense<2> : tensor<i64>},
    %f: tensor<i1> {dl.value = dense<false> : tensor<i1>}) -> (tensor<f32>, tensor<i64>)
    attributes {dl.expect = [dense<4096.0> : tensor<f32>, dense<0> : tensor<i64>]} {
  %y:2 = dl.update_scale %s, %n found %f growth 4.0 backoff 0.5 interval 3 : (tensor<f32>, tensor<i64>, tensor<i1>) -> (tensor<f32>, tensor<i64>)
  return %y#0, %y#1 : tensor<f32>, tensor<i64>
}

func.func @backs_off(
    %s: tensor<f32> {dl.value = dense<1024.0> : tensor<f32>}, %n: tensor<i64> {dl.value = dense<2> : tensor<i64>},
    %f: tensor<i1> {dl.value = dense<true> : tensor<i1>}) -> (tensor<f32>, tensor<i64>)
    attributes {dl.expect = [dense<256.0> : tensor<f32>, dense<0> : tensor<i64>]} {
  %y:2 = dl.update_scale %s, %n found %f growth 2.0 backoff 0.25 interval 3 : (tensor<f32>, tensor<i64>, tensor<i1>) -> (tensor<f32>, tensor<i64>)
  return %y#0, %y#1 : tensor<f32>, tensor<i64>
}

// AMP-03: 1e308 doubled is none.
func.func @stays_finite(
    %s: tensor<f64> {dl.value = dense<1.0e308> : tensor<f64>}, %n: tensor<i64> {dl.value = dense<0> : tensor<i64>},
    %f: tensor<i1> {dl.value = dense<false> : tensor<i1>}) -> (tensor<f64>, tensor<i64>)
    attributes {dl.expect = [dense<1.0e308> : tensor<f64>, dense<0> : tensor<i64>]} {
  %y:2 = dl.update_scale %s, %n found %f growth 2.0 backoff 0.5 interval 1 : (tensor<f64>, tensor<i64>, tensor<i1>) -> (tensor<f64>, tensor<i64>)
  return %y#0, %y#1 : tensor<f64>, tensor<i64>
}
