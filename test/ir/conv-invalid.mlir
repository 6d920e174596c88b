// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @input_rank(%x: tensor<2x4x4xf32>, %w: tensor<3x2x2x2xf32>) {
  // expected-error@+2 {{expects an input of static rank 4 (NCHW), got}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.conv %x, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<2x4x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @weight_rank(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x2xf32>) {
  // expected-error@+2 {{expects a weight of static rank 4 (OIHW), got}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.conv %x, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x4x4xf32>, tensor<3x2x2xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @channels(%x: tensor<1x2x4x4xf32>, %w: tensor<3x1x2x2xf32>) {
  // expected-error@+2 {{expects a weight with 2 input channels, got 'tensor<3x1x2x2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.conv %x, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x4x4xf32>, tensor<3x1x2x2xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @kernel(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x2x5xf32>) {
  // expected-error@+2 {{expects a kernel of 1 to 4 (the padded input) on axis 3, got 5}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.conv %x, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x4x4xf32>, tensor<3x2x2x5xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @strides(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x2x2xf32>) {
  // expected-error@+2 {{expects strides of at least 1, got 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.conv %x, %w strides [0, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x4x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @padding(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x2x2xf32>) {
  // expected-error@+2 {{expects padding_lo of at least 0, got -1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.conv %x, %w strides [1, 1] padding_lo [0, -1] padding_hi [0, 0] : (tensor<1x2x4x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @padding_count(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x2x2xf32>) {
  // expected-error@+2 {{expects 2 entries in padding_hi, got 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.conv %x, %w strides [1, 1] padding_lo [0, 0] padding_hi [0] : (tensor<1x2x4x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @dilation(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x2x2xf32>) {
  // expected-error@+2 {{dilated convolution is not supported yet}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.conv %x, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] {rhs_dilation = array<i64: 2, 1>} : (tensor<1x2x4x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @groups(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x2x2xf32>) {
  // expected-error@+2 {{expects groups 1, got 2; grouped convolution is not supported yet}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.conv %x, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] {groups = 2 : i64} : (tensor<1x2x4x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @input_gradient(%dy: tensor<1x3x2x3xf32>, %w: tensor<3x2x2x2xf32>) {
  // expected-error@+1 {{expects dy of the convolution's type 'tensor<1x3x3x3xf32>', got 'tensor<1x3x2x3xf32>'}}
  %0 = dl.conv_input_grad %dy, %w strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x3x2x3xf32>, tensor<3x2x2x2xf32>) -> tensor<1x2x4x4xf32>
  return
}

// -----

func.func @weight_gradient(%x: tensor<1x2x4x4xf32>, %dy: tensor<1x3x3x3xf32>) {
  // expected-error@+1 {{expects dy of the convolution's type 'tensor<1x3x2x2xf32>', got 'tensor<1x3x3x3xf32>'}}
  %0 = dl.conv_weight_grad %x, %dy strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x4x4xf32>, tensor<1x3x3x3xf32>) -> tensor<3x2x3x3xf32>
  return
}
