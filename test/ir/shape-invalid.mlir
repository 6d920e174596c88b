// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @reshape_count(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects as many elements of one type, got 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = dl.reshape %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @reshape_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects as many elements of one type, got}}
  %0 = dl.reshape %x : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @reshape_dynamic(%x: tensor<?xf32>) {
  // expected-error@+1 {{expects static shapes, got}}
  %0 = dl.reshape %x : (tensor<?xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @transpose_count(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects 2 entries in permutation, got 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.transpose %x permutation [1] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects each of permutation once, got 1 twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.transpose %x permutation [1, 1] : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @transpose_range(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects permutation in [0, 2), got -1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.transpose %x permutation [0, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_type(%x: tensor<3xf32>) {
  // expected-error@+1 {{expects one element type, got}}
  %0 = dl.broadcast %x dims [1] : (tensor<3xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @broadcast_count(%x: tensor<3xf32>) {
  // expected-error@+1 {{expects 1 entries in dims, got 2}}
  %0 = dl.broadcast %x dims [0, 1] : (tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_range(%x: tensor<3xf32>) {
  // expected-error@+1 {{expects dims in [0, 2), got 2}}
  %0 = dl.broadcast %x dims [2] : (tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_order(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects dims ascending, got 0 after 1; use dl.transpose}}
  %0 = dl.broadcast %x dims [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @broadcast_extent(%x: tensor<3xf32>) {
  // expected-error@+1 {{expects dimension 0 of extent 1 or 2, got 3}}
  %0 = dl.broadcast %x dims [0] : (tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_start(%x: tensor<4xf32>) {
  // expected-error@+2 {{expects starts of at least 0, got -1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.slice %x starts [-1] limits [2] strides [1] : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @slice_limit(%x: tensor<4xf32>) {
  // expected-error@+2 {{expects start <= limit <= 4 on axis 0, got 1 and 5}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.slice %x starts [1] limits [5] strides [1] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice_stride(%x: tensor<4xf32>) {
  // expected-error@+2 {{expects strides of at least 1, got 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.slice %x starts [0] limits [4] strides [0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice_count(%x: tensor<4x2xf32>) {
  // expected-error@+2 {{expects 2 entries in limits, got 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.slice %x starts [0, 0] limits [4] strides [1, 1] : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @pad_value(%x: tensor<4xf32>, %v: tensor<f64>) {
  // expected-error@+2 {{expects a value of type 'tensor<f32>', got 'tensor<f64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.pad %x, %v lo [0] hi [1] interior [0] : (tensor<4xf32>, tensor<f64>) -> tensor<5xf32>
  return
}

// -----

func.func @pad_negative(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{expects lo of at least 0, got -1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.pad %x, %v lo [-1] hi [1] interior [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @concat_extents(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error@+2 {{expects inputs that differ on axis 1 only, got 'tensor<2x3xf32>' and 'tensor<3x3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.concat %x, %y axis 1 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @concat_axis(%x: tensor<2xf32>) {
  // expected-error@+2 {{expects axis in [0, 1), got 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.concat %x axis 1 : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reverse_axis(%x: tensor<2xf32>) {
  // expected-error@+2 {{expects axes in [0, 1), got 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = dl.reverse %x axes [1] : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @iota_axis() {
  // expected-error@+1 {{expects axis in [0, 1), got 1}}
  %0 = dl.iota axis 1 : tensor<3xi64>
  return
}
