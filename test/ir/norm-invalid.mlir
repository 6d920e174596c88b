// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @softmax_axis(%x: tensor<2xf32>) {
  // expected-error@+1 {{expects axis in [0, 1), got 1}}
  %0 = dl.softmax %x axis 1 : tensor<2xf32>
  return
}

// -----

func.func @log_softmax_axis(%x: tensor<2xf32>) {
  // expected-error@+1 {{expects axis in [0, 1), got -1}}
  %0 = dl.log_softmax %x axis -1 : tensor<2xf32>
  return
}

// -----

func.func @layer_norm_axis(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects axis in [0, 2), got 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.layer_norm %x axis 2 eps 1.0e-5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layer_norm_weight(%x: tensor<2x3xf32>, %w: tensor<2xf32>) {
  // expected-error@+2 {{expects weight and bias of the normalized axes' type 'tensor<3xf32>', got 'tensor<2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.layer_norm %x weight %w axis 1 eps 1.0e-5 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layer_norm_bias(%x: tensor<2x3xf32>, %b: tensor<3xf64>) {
  // expected-error@+2 {{expects weight and bias of the normalized axes' type 'tensor<3xf32>', got 'tensor<3xf64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.layer_norm %x bias %b axis 1 eps 1.0e-5 : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layer_norm_eps(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects eps of at least 0, got -1.0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.layer_norm %x axis 1 eps -1.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
