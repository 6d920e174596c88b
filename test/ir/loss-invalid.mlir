// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%x: tensor<2x3x4xf32>, %t: tensor<2xi64>) {
  // expected-error@+2 {{expects logits of rank 2 (rows, classes), got}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.cross_entropy %x, %t : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<f32>
  return
}

// -----

func.func @rows(%x: tensor<2x3xf32>, %t: tensor<3xi64>) {
  // expected-error@+2 {{expects one target a row of 'tensor<2x3xf32>', got 'tensor<3xi64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.cross_entropy %x, %t : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<f32>
  return
}

// -----

func.func @classes(%x: tensor<2x0xf32>, %t: tensor<2xi64>) {
  // expected-error@+2 {{expects at least one class, got}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.cross_entropy %x, %t : (tensor<2x0xf32>, tensor<2xi64>) -> tensor<f32>
  return
}

// -----

func.func @smoothing(%x: tensor<2x3xf32>, %t: tensor<2xi64>) {
  // expected-error@+2 {{expects label_smoothing in [0, 1], got 2.0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.cross_entropy %x, %t {label_smoothing = 2.0 : f64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<f32>
  return
}

// -----

func.func @mse_types(%x: tensor<2xf32>, %t: tensor<3xf32>) {
  // expected-error@+1 {{expects equal operand types, got 'tensor<2xf32>' and 'tensor<3xf32>'}}
  %0 = dl.mse %x, %t : (tensor<2xf32>, tensor<3xf32>) -> tensor<f32>
  return
}
