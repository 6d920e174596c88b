// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @gather_axis(%x: tensor<3x4xf32>, %i: tensor<2xi64>) {
  // expected-error@+2 {{expects axis in [0, 2), got 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.gather %x, %i axis 2 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  return
}

// -----

func.func @gather_batch_dims(%x: tensor<3x4xf32>, %i: tensor<3x2xi64>) {
  // expected-error@+2 {{expects batch_dims in [0, 1], got 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.gather %x, %i axis 1 batch_dims 2 : (tensor<3x4xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  return
}

// -----

func.func @gather_batch_extent(%x: tensor<3x4xf32>, %i: tensor<2x2xi64>) {
  // expected-error@+2 {{expects equal batch dimensions, got 3 and 2 on dimension 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.gather %x, %i axis 1 batch_dims 1 : (tensor<3x4xf32>, tensor<2x2xi64>) -> tensor<3x2xf32>
  return
}

// -----

func.func @gather_dynamic(%x: tensor<?x4xf32>, %i: tensor<2xi64>) {
  // expected-error@+2 {{expects static shapes, got 'tensor<?x4xf32>' and 'tensor<2xi64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.gather %x, %i axis 0 : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @gather_result(%x: tensor<3x4xf32>, %i: tensor<2xi64>) {
  // expected-error@+2 {{inferred type(s) 'tensor<2x4xf32>' are incompatible with return type(s) of operation 'tensor<4x2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.gather %x, %i axis 0 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  return
}

// -----

func.func @gather_float_indices(%x: tensor<3x4xf32>, %i: tensor<2xf32>) {
  // expected-error@+1 {{operand #1 must be ranked tensor of 64-bit signless integer or 32-bit signless integer values}}
  %0 = dl.gather %x, %i axis 0 : (tensor<3x4xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @scatter_updates(%x: tensor<3x4xf32>, %i: tensor<2xi64>, %u: tensor<3x4xf32>) {
  // expected-error@+2 {{expects updates of the gathered type 'tensor<2x4xf32>', got 'tensor<3x4xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<3x4xf32>, tensor<2xi64>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @scatter_update_type(%x: tensor<3x4xf32>, %i: tensor<2xi64>, %u: tensor<2x4xf64>) {
  // expected-error@+2 {{expects updates of the gathered type 'tensor<2x4xf32>', got 'tensor<2x4xf64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.scatter %x, %i, %u axis 0 kind(set) : (tensor<3x4xf32>, tensor<2xi64>, tensor<2x4xf64>) -> tensor<3x4xf32>
  return
}

// -----

func.func @scatter_add_of_bools(%x: tensor<3xi1>, %i: tensor<2xi64>, %u: tensor<2xi1>) {
  // expected-error@+2 {{expects numbers to add, got 'tensor<3xi1>'; use kind(set)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<3xi1>, tensor<2xi64>, tensor<2xi1>) -> tensor<3xi1>
  return
}
