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

// -----

func.func @batch_norm_rank(%x: tensor<3xf32>) {
  // expected-error@+2 {{expects x of rank 2 or more, got 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:3 = dl.batch_norm %x eps 1.0e-5 : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_eps(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects eps of at least 0, got -1.0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:3 = dl.batch_norm %x eps -1.0 : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_weight(%x: tensor<2x3xf32>, %w: tensor<2xf32>) {
  // expected-error@+2 {{expects weight, bias, mean and var of type 'tensor<3xf32>', got 'tensor<2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:3 = dl.batch_norm %x weight %w eps 1.0e-5 : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_bias(%x: tensor<2x3xf32>, %b: tensor<3xf64>) {
  // expected-error@+2 {{expects weight, bias, mean and var of type 'tensor<3xf32>', got 'tensor<3xf64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:3 = dl.batch_norm %x bias %b eps 1.0e-5 : (tensor<2x3xf32>, tensor<3xf64>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @batch_norm_var(%x: tensor<2x3x4xf32>, %m: tensor<3xf32>, %v: tensor<4xf32>) {
  // expected-error@+2 {{expects weight, bias, mean and var of type 'tensor<3xf32>', got 'tensor<4xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.batch_norm %x mean %m var %v eps 1.0e-5 : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @batch_norm_mean_alone(%x: tensor<2x3xf32>, %m: tensor<3xf32>) {
  // expected-error@+2 {{expects mean and var together, got mean alone}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "dl.batch_norm"(%x, %m) <{eps = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 0, 0, 1, 0>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_results(%x: tensor<2x3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'dl.batch_norm' op inferred type(s) 'tensor<2x3xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>', 'tensor<3xf32>', 'tensor<3xf32>'}}
  %0:3 = dl.batch_norm %x mean %m var %v eps 1.0e-5 : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
