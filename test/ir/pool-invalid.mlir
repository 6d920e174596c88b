// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%x: tensor<4x4xf32>) {
  // expected-error@+2 {{expects an input of static rank 4 (NCHW), got}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.max_pool %x kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<4x4xf32>) -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @kernel(%x: tensor<1x2x4x4xf32>) {
  // expected-error@+2 {{expects kernel of at least 1, got 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.max_pool %x kernel [0, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @kernel_too_large(%x: tensor<1x2x4x4xf32>) {
  // expected-error@+2 {{expects a kernel of at most 4 (the padded input) on axis 2, got 5}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.avg_pool %x kernel [5, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @padding(%x: tensor<1x2x4x4xf32>) {
  // expected-error@+2 {{expects padding below the kernel's 2 on axis 3, got 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.max_pool %x kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 2] : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @strides(%x: tensor<1x2x4x4xf32>) {
  // expected-error@+2 {{expects 2 entries in strides, got 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.max_pool %x kernel [2, 2] strides [2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @max_gradient(%x: tensor<1x2x4x4xf32>, %dy: tensor<1x2x3x2xf32>) {
  // expected-error@+2 {{expects dy of the pooled type 'tensor<1x2x2x2xf32>', got 'tensor<1x2x3x2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.max_pool_grad %x, %dy kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x4x4xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x4x4xf32>
  return
}

// -----

func.func @avg_gradient(%dy: tensor<1x2x3x2xf32>) {
  // expected-error@+1 {{expects dy of the pooled type 'tensor<1x2x2x2xf32>', got 'tensor<1x2x3x2xf32>'}}
  %0 = dl.avg_pool_grad %dy kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x2x3x2xf32>) -> tensor<1x2x4x4xf32>
  return
}
