// RUN: dlc-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{'dl.mesh' op expects one or more axes, each with a size}}
dl.mesh @mesh []

// -----

// expected-error@+1 {{'dl.mesh' op expects axes of different names, got "data" twice or empty}}
dl.mesh @mesh ["data" = 2, "data" = 2]

// -----

// expected-error@+1 {{'dl.mesh' op expects sizes of at least 1 and at most 1048576 members, got "model" = 1000000}}
dl.mesh @mesh ["data" = 1000, "model" = 1000000]

// -----

// expected-error@+1 {{'dl.mesh' op expects to be the only mesh of the module, got also @other}}
dl.mesh @mesh ["data" = 2]
dl.mesh @other ["data" = 2]

// -----

func.func @axis_twice(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expects each axis once in a sharding, got "data" twice}}
  %0 = dl.reshard %x to <[data, data]> : tensor<4x4xf32>
  return
}

// -----

func.func @borders_descend(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects borders of a split dim that begin with 0 and ascend, got 0, 3, 2}}
  %0 = dl.reshard %x to <[data(0, 3, 2)]> : tensor<4xf32>
  return
}

// -----

func.func @no_mesh(%x: tensor<4xf32>) {
  // expected-error@+1 {{'dl.reshard' op expects a dl.mesh in the module, got none}}
  %0 = dl.reshard %x to <[data]> : tensor<4xf32>
  return
}

// -----

dl.mesh @mesh ["data" = 2]
func.func @rank(%x: tensor<4xf32>) {
  // expected-error@+1 {{'dl.reshard' op expects 1 dims in the sharding, got #dl.sharding<[_, _]>}}
  %0 = dl.reshard %x to <[_, _]> : tensor<4xf32>
  return
}

// -----

dl.mesh @mesh ["data" = 2]
func.func @other_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{'dl.reshard' op expects axes of ["data"], got "model"}}
  %0 = dl.reshard %x to <[model]> : tensor<4xf32>
  return
}

// -----

dl.mesh @mesh ["data" = 2]
func.func @borders(%x: tensor<4xf32>) {
  // expected-error@+1 {{'dl.reshard' op expects 3 borders, the last one 4, got #dl.sharding<[data(0, 1, 3)]>}}
  %0 = dl.reshard %x to <[data(0, 1, 3)]> : tensor<4xf32>
  return
}

// -----

dl.mesh @mesh ["data" = 2]
func.func @mixed(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@+1 {{'dl.all_reduce' op expects one element type, got 'f32' and 'f64'}}
  %0:2 = dl.all_reduce sum(data) %x, %y : tensor<4xf32>, tensor<4xf64>
  return
}

// -----

dl.mesh @mesh ["data" = 2]
func.func @twice(%x: tensor<4xf32>) {
  // expected-error@+1 {{'dl.all_reduce' op expects each axis once, got "data" twice}}
  %0 = dl.all_reduce sum(data, data) %x : tensor<4xf32>
  return
}

// -----

dl.mesh @mesh ["data" = 2]
func.func @gathered(%x: tensor<4xf32>) {
  // expected-error@+1 {{'dl.all_gather' op expects extent 8 in dim 0 on 2 members, got 'tensor<12xf32>'}}
  %0 = dl.all_gather(data) %x dim(0) : tensor<4xf32> -> tensor<12xf32>
  return
}

// -----

dl.mesh @mesh ["data" = 2]
func.func @scattered(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{'dl.reduce_scatter' op expects types that differ in dim 0 only, got 'tensor<2x2xf32>' and 'tensor<4x3xf32>'}}
  %0 = dl.reduce_scatter sum(data) %x dim(0) : tensor<4x3xf32> -> tensor<2x2xf32>
  return
}

// -----

dl.mesh @mesh ["data" = 2]
func.func @exchanged(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{'dl.all_to_all' op expects an extent in dim 0 that 2 members divide, got 'tensor<3x4xf32>'}}
  %0 = dl.all_to_all(data) %x dim(0) : tensor<3x4xf32>
  return
}

// -----

dl.mesh @mesh ["data" = 2]
func.func @exchanged_dim(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'dl.all_to_all' op expects a dim in [0, 2), got 2}}
  %0 = dl.all_to_all(data) %x dim(2) : tensor<2x4xf32>
  return
}

// -----

func.func @collective_group(%x: tensor<4xf32>) {
  // expected-error@+1 {{'dl.group' op expects a body of one collective of its arguments and a dl.yield of its results}}
  %r = dl.group kind(collective) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.neg %a : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  return
}

// -----

// expected-error@+1 {{expects leaves to be a power of two that the members divide, got "data" = 3 of 8}}
dl.mesh @mesh ["data" = 3 of 8]
