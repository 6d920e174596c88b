// RUN: not dlc-check %s 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: dlc-check %s -function=right | FileCheck %s --check-prefix=ONE

// CHECK: ok   @right
// CHECK: FAIL @wrong_value
// CHECK: FAIL @wrong_integer
// CHECK: FAIL @wrong_gradient
// CHECK: FAIL @wrong_variable
// CHECK: FAIL @unknown_kind
// ONE: ok   @right
// ONE-NOT: FAIL

func.func @right(%x: tensor<3xf32> {dl.value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}, %n: tensor<2xi64> {dl.test = "index:3"})
    -> (tensor<3xf32>, tensor<2xi64>)
    attributes {dl.check_gradient, dl.expect = [dense<[2.0, 8.0, 18.0]> : tensor<3xf32>, dense<0> : tensor<2xi64>]} {
  %y = dl.mul %x, %x : tensor<3xf32>
  %z = dl.add %y, %y : tensor<3xf32>
  %m = dl.sub %n, %n : tensor<2xi64>
  return %z, %m : tensor<3xf32>, tensor<2xi64>
}

// ERR: @wrong_value: result 0 at [1, 0]: expected 4, got 5
func.func @wrong_value() -> tensor<2x1xf64> attributes {dl.expect = dense<[[2.0], [4.0]]> : tensor<2x1xf64>} {
  %y = dl.constant dense<[[2.0], [5.0]]> : tensor<2x1xf64>
  return %y : tensor<2x1xf64>
}

// Integers agree exactly or not at all.
// ERR: @wrong_integer: result 0 at []: expected 9007199254740993, got 9007199254740992
func.func @wrong_integer() -> tensor<i64> attributes {dl.expect = dense<9007199254740993> : tensor<i64>} {
  %y = dl.constant dense<9007199254740992> : tensor<i64>
  return %y : tensor<i64>
}

// A derivative that stops on purpose is not what central differences see: x * w against 2 * x * w, both ways.
// ERR: @wrong_gradient: gradient of argument 0 by rule at [0]: expected {{.*}}, got
// ERR: @wrong_gradient: gradient of argument 0 by decomposition at [0]: expected {{.*}}, got
func.func @wrong_gradient(%x: tensor<1xf64> {dl.value = dense<3.0> : tensor<1xf64>}) -> tensor<1xf64>
    attributes {dl.check_gradient} {
  %s = dl.stop_gradient %x : tensor<1xf64>
  %y = dl.mul %x, %s : tensor<1xf64>
  return %y : tensor<1xf64>
}

// ERR: @wrong_variable: gradient of @w by rule at []
dl.variable @w : tensor<f32> role(parameter) init(#dl.constant<2.0>)
func.func @wrong_variable() -> tensor<f32> attributes {dl.entry, dl.check_gradient} {
  %w = dl.read @w : tensor<f32>
  %s = dl.stop_gradient %w : tensor<f32>
  %y = dl.add %w, %s : tensor<f32>
  return %y : tensor<f32>
}

// ERR: expects a kind of test values for 'tensor<f32>' (see test/ops/README.md), got gaussian
func.func @unknown_kind(%x: tensor<f32> {dl.test = "gaussian"}) -> tensor<f32> {
  return %x : tensor<f32>
}
