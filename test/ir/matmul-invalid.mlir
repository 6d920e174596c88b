// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @types(%a: tensor<2x3xf32>, %b: tensor<3x2xf64>) {
  // expected-error@+2 {{expects one element type, got}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf64>) -> tensor<2x2xf32>
  return
}

// -----

func.func @extents(%a: tensor<2x3xf32>, %b: tensor<4x2xf32>) {
  // expected-error@+2 {{expects equal extents of contracted dimensions 1 and 0, got 3 and 4}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<2x3xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @batch_extents(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+2 {{expects equal extents of batch dimensions 0 and 0, got 2 and 4}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.dot_general %a, %b batch [0] x [0] contract [1] x [1] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @counts(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) {
  // expected-error@+2 {{expects as many lhs as rhs contracted dimensions, got 1 and 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.dot_general %a, %b batch [] x [] contract [1] x [0, 1] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @twice(%a: tensor<3x3xf32>, %b: tensor<3x3xf32>) {
  // expected-error@+2 {{expects each of lhs dimensions once, got 1 twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.dot_general %a, %b batch [1] x [0] contract [1] x [1] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @range(%a: tensor<3x3xf32>, %b: tensor<3x3xf32>) {
  // expected-error@+2 {{expects rhs dimensions in [0, 2), got 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.dot_general %a, %b batch [] x [] contract [1] x [2] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @leaves(%a: tensor<3x3xf32>, %b: tensor<3x3xf32>) {
  // expected-error@+1 {{expects leaves to be a power of two, got 3}}
  %0 = dl.dot_general %a, %b batch [] x [] contract [1] x [0] leaves(3) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}
