// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @scatter(
// CHECK: dl.scatter %{{.*}}, %{{.*}}, %{{.*}} axis 1 batch_dims 1 kind(add) : (tensor<2x5x3xf32>, tensor<2x4xi64>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
func.func @scatter(%x: tensor<2x5x3xf32>, %i: tensor<2x4xi64> {dl.test = "index:5"}, %u: tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
    attributes {dl.check_gradient} {
  %y = dl.scatter %x, %i, %u axis 1 batch_dims 1 kind(add) : (tensor<2x5x3xf32>, tensor<2x4xi64>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  return %y : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @set(
// CHECK: dl.scatter %{{.*}}, %{{.*}}, %{{.*}} axis 0 kind(set) : (tensor<6x3xf64>, tensor<4xi32>, tensor<4x3xf64>) -> tensor<6x3xf64>
func.func @set(%x: tensor<6x3xf64>, %i: tensor<4xi32> {dl.test = "index:3"}, %u: tensor<4x3xf64>) -> tensor<6x3xf64>
    attributes {dl.check_gradient} {
  %y = dl.scatter %x, %i, %u axis 0 kind(set) : (tensor<6x3xf64>, tensor<4xi32>, tensor<4x3xf64>) -> tensor<6x3xf64>
  return %y : tensor<6x3xf64>
}

// numpy: np.add.at(x, [1, 0, 1], u)
func.func @add_duplicates(
    %x: tensor<2x2xf32> {dl.value = dense<[[1.0,2.0],[3.0,4.0]]> : tensor<2x2xf32>},
    %i: tensor<3xi64> {dl.value = dense<[1,0,1]> : tensor<3xi64>},
    %u: tensor<3x2xf32> {dl.value = dense<[[10.0,20.0],[30.0,40.0],[50.0,60.0]]> : tensor<3x2xf32>}) -> tensor<2x2xf32>
    attributes {dl.expect = dense<[[31.0,42.0],[63.0,84.0]]> : tensor<2x2xf32>, dl.check_gradient} {
  %y = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<2x2xf32>, tensor<3xi64>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// One chain in order: ((1 + 1e16) - 1e16) + 3 = 3 in double; ordered by size it would be 4.
func.func @add_in_order(
    %x: tensor<1xf64> {dl.value = dense<1.0> : tensor<1xf64>},
    %i: tensor<3xi64> {dl.value = dense<0> : tensor<3xi64>},
    %u: tensor<3xf64> {dl.value = dense<[1.0e+16,-1.0e+16,3.0]> : tensor<3xf64>}) -> tensor<1xf64>
    attributes {dl.expect = dense<3.0> : tensor<1xf64>} {
  %y = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<1xf64>, tensor<3xi64>, tensor<3xf64>) -> tensor<1xf64>
  return %y : tensor<1xf64>
}

// torch.zeros(2, 3).scatter_add(1, i, u)
func.func @add_along_the_last_dim(
    %i: tensor<2x4xi64> {dl.value = dense<[[2,0,0,1],[1,1,2,0]]> : tensor<2x4xi64>},
    %u: tensor<2x4xf32> {dl.value = dense<[[1.0,2.0,3.0,4.0],[5.0,6.0,7.0,8.0]]> : tensor<2x4xf32>}) -> tensor<2x3xf32>
    attributes {dl.expect = dense<[[5.0,4.0,1.0],[8.0,11.0,7.0]]> : tensor<2x3xf32>, dl.check_gradient} {
  %zero = dl.constant dense<0.0> : tensor<2x3xf32>
  %y = dl.scatter %zero, %i, %u axis 1 batch_dims 1 kind(add) : (tensor<2x3xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func @outside_is_left_out(
    %x: tensor<3xf32> {dl.value = dense<[1.0,2.0,3.0]> : tensor<3xf32>},
    %i: tensor<4xi64> {dl.value = dense<[-1,3,1,9223372036854775807]> : tensor<4xi64>},
    %u: tensor<4xf32> {dl.value = dense<[10.0,20.0,30.0,40.0]> : tensor<4xf32>}) -> (tensor<3xf32>, tensor<3xf32>)
    attributes {dl.expect = [dense<[1.0,32.0,3.0]> : tensor<3xf32>, dense<[1.0,30.0,3.0]> : tensor<3xf32>], dl.check_gradient} {
  %a = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<3xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<3xf32>
  %s = dl.scatter %x, %i, %u axis 0 kind(set) : (tensor<3xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<3xf32>
  return %a, %s : tensor<3xf32>, tensor<3xf32>
}

// Only the last of several writes to a place counts, forward and backward.
func.func @set_with_duplicates(
    %base: tensor<3xf64> {dl.value = dense<[1.0,2.0,3.0]> : tensor<3xf64>},
    %i: tensor<2xi64> {dl.value = dense<[1,1]> : tensor<2xi64>},
    %u: tensor<2xf64> {dl.value = dense<[5.0,7.0]> : tensor<2xf64>}) -> (tensor<3xf64>, tensor<2xf64>, tensor<3xf64>)
    attributes {dl.expect = [dense<[1.0,7.0,3.0]> : tensor<3xf64>, dense<[0.0,1.0]> : tensor<2xf64>, dense<[1.0,0.0,1.0]> : tensor<3xf64>]} {
  %y = dl.scatter %base, %i, %u axis 0 kind(set) : (tensor<3xf64>, tensor<2xi64>, tensor<2xf64>) -> tensor<3xf64>
  %loss = dl.reduce_sum %y over [0] : (tensor<3xf64>) -> tensor<f64>
  %gu, %gx = dl.gradient %loss wrt %u, %base : tensor<f64>, tensor<2xf64>, tensor<3xf64>
  return %y, %gu, %gx : tensor<3xf64>, tensor<2xf64>, tensor<3xf64>
}

func.func @set_batch_outer_places_inner(
    %x: tensor<2x3x5x4xf64>, %i: tensor<2x2x3xi64> {dl.test = "any"}, %u: tensor<2x3x2x3x4xf64>) -> tensor<2x3x5x4xf64>
    attributes {dl.check_gradient} {
  %y = dl.scatter %x, %i, %u axis 2 batch_dims 1 kind(set) : (tensor<2x3x5x4xf64>, tensor<2x2x3xi64>, tensor<2x3x2x3x4xf64>) -> tensor<2x3x5x4xf64>
  return %y : tensor<2x3x5x4xf64>
}

func.func @add_batch_outer_places_inner(
    %x: tensor<2x3x5x4xf64>, %i: tensor<2x2x3xi64> {dl.test = "any"}, %u: tensor<2x3x2x3x4xf64>) -> tensor<2x3x5x4xf64>
    attributes {dl.check_gradient} {
  %y = dl.scatter %x, %i, %u axis 2 batch_dims 1 kind(add) : (tensor<2x3x5x4xf64>, tensor<2x2x3xi64>, tensor<2x3x2x3x4xf64>) -> tensor<2x3x5x4xf64>
  return %y : tensor<2x3x5x4xf64>
}

func.func @integers(
    %x: tensor<2xi8> {dl.value = dense<[100,1]> : tensor<2xi8>}, %m: tensor<2xi1> {dl.value = dense<false> : tensor<2xi1>},
    %i: tensor<2xi64> {dl.value = dense<0> : tensor<2xi64>},
    %u: tensor<2xi8> {dl.value = dense<[20,30]> : tensor<2xi8>}, %n: tensor<2xi1> {dl.value = dense<true> : tensor<2xi1>}) -> (tensor<2xi8>, tensor<2xi1>)
    attributes {dl.expect = [dense<[-106,1]> : tensor<2xi8>, dense<[true,false]> : tensor<2xi1>]} {
  %y = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<2xi8>, tensor<2xi64>, tensor<2xi8>) -> tensor<2xi8>
  %k = dl.scatter %m, %i, %n axis 0 kind(set) : (tensor<2xi1>, tensor<2xi64>, tensor<2xi1>) -> tensor<2xi1>
  return %y, %k : tensor<2xi8>, tensor<2xi1>
}

func.func @empty(%x: tensor<0x3xf32>, %z: tensor<2x3xf32>, %i: tensor<2xi64>, %u: tensor<2x3xf32>, %n: tensor<0xi64>, %v: tensor<0x3xf32>)
    -> (tensor<0x3xf32>, tensor<2x3xf32>) {
  %y = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<0x3xf32>, tensor<2xi64>, tensor<2x3xf32>) -> tensor<0x3xf32>
  %w = dl.scatter %z, %n, %v axis 0 kind(set) : (tensor<2x3xf32>, tensor<0xi64>, tensor<0x3xf32>) -> tensor<2x3xf32>
  return %y, %w : tensor<0x3xf32>, tensor<2x3xf32>
}

func.func @size_1(%x: tensor<1x1xf32>, %i: tensor<1xi64> {dl.test = "index:1"}, %u: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %y = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<1x1xf32>, tensor<1xi64>, tensor<1x1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

func.func @size_17(%x: tensor<17x17xf32>, %i: tensor<17xi64> {dl.test = "any"}, %u: tensor<17x17xf32>) -> (tensor<17x17xf32>, tensor<17x17xf32>) {
  %y = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<17x17xf32>, tensor<17xi64>, tensor<17x17xf32>) -> tensor<17x17xf32>
  %z = dl.scatter %x, %i, %u axis 1 kind(set) : (tensor<17x17xf32>, tensor<17xi64>, tensor<17x17xf32>) -> tensor<17x17xf32>
  return %y, %z : tensor<17x17xf32>, tensor<17x17xf32>
}

// Long enough to be shared among threads: the gradient of a table, and of a choice along the last dim.
func.func @size_tiles(%i: tensor<3x131xi64> {dl.test = "index:400"}, %u: tensor<3x131x70xf32>) -> tensor<400x70xf32> {
  %zero = dl.constant dense<0.0> : tensor<400x70xf32>
  %y = dl.scatter %zero, %i, %u axis 0 kind(add) : (tensor<400x70xf32>, tensor<3x131xi64>, tensor<3x131x70xf32>) -> tensor<400x70xf32>
  return %y : tensor<400x70xf32>
}

func.func @size_tiles_along(%x: tensor<137x300xf32>, %i: tensor<137x31xi32> {dl.test = "index:300"}, %u: tensor<137x31xf32>) -> tensor<137x300xf32> {
  %y = dl.scatter %x, %i, %u axis 1 batch_dims 1 kind(add) : (tensor<137x300xf32>, tensor<137x31xi32>, tensor<137x31xf32>) -> tensor<137x300xf32>
  return %y : tensor<137x300xf32>
}

// Across the tiles of GPUs: 256 positions, 32 rows a team's turn, 256 vectors of a row.
func.func @size_gpu_teams(%x: tensor<700x24xf32>, %i: tensor<600xi64> {dl.test = "index:700"}, %u: tensor<600x24xf32>)
    -> (tensor<700x24xf32>, tensor<700x24xf32>) {
  %a = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<700x24xf32>, tensor<600xi64>, tensor<600x24xf32>) -> tensor<700x24xf32>
  %s = dl.scatter %x, %i, %u axis 0 kind(set) : (tensor<700x24xf32>, tensor<600xi64>, tensor<600x24xf32>) -> tensor<700x24xf32>
  return %a, %s : tensor<700x24xf32>, tensor<700x24xf32>
}

func.func @size_gpu_columns(%x: tensor<5x1300xf32>, %i: tensor<70xi32> {dl.test = "any"}, %u: tensor<70x1300xf32>) -> tensor<5x1300xf32> {
  %y = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<5x1300xf32>, tensor<70xi32>, tensor<70x1300xf32>) -> tensor<5x1300xf32>
  return %y : tensor<5x1300xf32>
}

func.func @size_histogram(%i: tensor<3000xi64> {dl.test = "index:700"}) -> tensor<700xi32> {
  %zero = dl.constant dense<0> : tensor<700xi32>
  %one = dl.constant dense<1> : tensor<3000xi32>
  %y = dl.scatter %zero, %i, %one axis 0 kind(add) : (tensor<700xi32>, tensor<3000xi64>, tensor<3000xi32>) -> tensor<700xi32>
  return %y : tensor<700xi32>
}

// Infinite derivatives of updates that are left out, replaced or not used: their gradients are 0, not NaN.
func.func @masked(
    %u: tensor<4xf64> {dl.value = dense<[0.0,2.0,0.0,0.0]> : tensor<4xf64>}, %i: tensor<4xi64> {dl.value = dense<[1,1,9,0]> : tensor<4xi64>},
    %used: tensor<2xi1> {dl.value = dense<[false,true]> : tensor<2xi1>}) -> (tensor<4xf64>, tensor<4xf64>)
    attributes {dl.expect = [dense<[0.0,0.5,0.0,0.0]> : tensor<4xf64>, dense<[0x7FF0000000000000,0.5,0.0,0.0]> : tensor<4xf64>]} {
  %l = dl.log %u : tensor<4xf64>
  %zero = dl.constant dense<0.0> : tensor<2xf64>
  %s = dl.scatter %zero, %i, %l axis 0 kind(set) : (tensor<2xf64>, tensor<4xi64>, tensor<4xf64>) -> tensor<2xf64>
  %sy = dl.select %used, %s, %zero : tensor<2xf64>
  %sl = dl.reduce_sum %sy over [0] : (tensor<2xf64>) -> tensor<f64>
  %gs = dl.gradient %sl wrt %u : tensor<f64>, tensor<4xf64>
  %a = dl.scatter %zero, %i, %l axis 0 kind(add) : (tensor<2xf64>, tensor<4xi64>, tensor<4xf64>) -> tensor<2xf64>
  %ay = dl.select %used, %a, %zero : tensor<2xf64>
  %al = dl.reduce_sum %ay over [0] : (tensor<2xf64>) -> tensor<f64>
  %ga = dl.gradient %al wrt %u : tensor<f64>, tensor<4xf64>
  return %gs, %ga : tensor<4xf64>, tensor<4xf64>
}
