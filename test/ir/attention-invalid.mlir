// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%q: tensor<4xf32>) {
  // expected-error@+2 {{expects q, k and v of one element type and one rank of at least 2, got 'tensor<4xf32>', 'tensor<4xf32>' and 'tensor<4xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = dl.attention %q, %q, %q scale 1.0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @element_types(%q: tensor<3x4xf32>, %v: tensor<3x4xf64>) {
  // expected-error@+2 {{expects q, k and v of one element type and one rank of at least 2, got 'tensor<3x4xf32>', 'tensor<3x4xf32>' and 'tensor<3x4xf64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = dl.attention %q, %q, %v scale 1.0 : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf64>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch(%q: tensor<2x3x4xf32>, %v: tensor<1x3x4xf32>) {
  // expected-error@+2 {{expects equal batch dimensions of q, k and v, got 'tensor<2x3x4xf32>', 'tensor<2x3x4xf32>' and 'tensor<1x3x4xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = dl.attention %q, %q, %v scale 1.0 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<1x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @depth(%q: tensor<3x4xf32>, %k: tensor<3x5xf32>) {
  // expected-error@+2 {{expects rows of q and k of one length, got 'tensor<3x4xf32>' and 'tensor<3x5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = dl.attention %q, %k, %k scale 1.0 : (tensor<3x4xf32>, tensor<3x5xf32>, tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3xf32>)
  return
}

// -----

func.func @keys(%q: tensor<3x4xf32>, %v: tensor<2x4xf32>) {
  // expected-error@+2 {{expects as many rows of v as of k, got 'tensor<2x4xf32>' and 'tensor<3x4xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = dl.attention %q, %q, %v scale 1.0 : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @mask(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %m: tensor<3x5xi1>) {
  // expected-error@+2 {{expects a mask of type 'tensor<2x3x5xf32>' or 'tensor<2x3x5xi1>', got 'tensor<3x5xi1>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = dl.attention %q, %k, %k mask %m scale 1.0 : (tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<3x5xi1>) -> (tensor<2x3x4xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @scale(%q: tensor<3x4xf32>) {
  // expected-error@+2 {{expects a finite scale, got INF}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = dl.attention %q, %q, %q scale 0x7FF0000000000000 : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @result(%q: tensor<3x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'dl.attention' op inferred type(s) 'tensor<3x4xf32>', 'tensor<3xf32>' are incompatible with return type(s) of operation 'tensor<3x4xf32>', 'tensor<3x4xf32>'}}
  %0:2 = dl.attention %q, %q, %q scale 1.0 : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
  return
}
