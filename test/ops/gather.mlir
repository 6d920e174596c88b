// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @gather(
// CHECK: dl.gather %{{.*}}, %{{.*}} axis 1 batch_dims 1 : (tensor<2x5x3xf32>, tensor<2x4xi64>) -> tensor<2x4x3xf32>
func.func @gather(%x: tensor<2x5x3xf32>, %i: tensor<2x4xi64> {dl.test = "index:5"}) -> tensor<2x4x3xf32> attributes {dl.check_gradient} {
  %y = dl.gather %x, %i axis 1 batch_dims 1 : (tensor<2x5x3xf32>, tensor<2x4xi64>) -> tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @rows(
// CHECK: dl.gather %{{.*}}, %{{.*}} axis 0 : (tensor<3x2xf32>, tensor<2x2xi64>) -> tensor<2x2x2xf32>
func.func @rows(
    %x: tensor<3x2xf32> {dl.value = dense<[[1.0,2.0],[3.0,4.0],[5.0,6.0]]> : tensor<3x2xf32>},
    %i: tensor<2x2xi64> {dl.value = dense<[[2,0],[2,1]]> : tensor<2x2xi64>}) -> tensor<2x2x2xf32>
    attributes {dl.expect = dense<[[[5.0,6.0],[1.0,2.0]],[[5.0,6.0],[3.0,4.0]]]> : tensor<2x2x2xf32>, dl.check_gradient} {
  %y = dl.gather %x, %i axis 0 : (tensor<3x2xf32>, tensor<2x2xi64>) -> tensor<2x2x2xf32>
  return %y : tensor<2x2x2xf32>
}

// numpy: np.take(x, [1, 0, 1, 1], axis=1)
func.func @columns_with_duplicates(
    %x: tensor<3x2xf64> {dl.value = dense<[[1.0,2.0],[3.0,4.0],[5.0,6.0]]> : tensor<3x2xf64>},
    %i: tensor<4xi32> {dl.value = dense<[1,0,1,1]> : tensor<4xi32>}) -> tensor<3x4xf64>
    attributes {dl.expect = dense<[[2.0,1.0,2.0,2.0],[4.0,3.0,4.0,4.0],[6.0,5.0,6.0,6.0]]> : tensor<3x4xf64>, dl.check_gradient} {
  %y = dl.gather %x, %i axis 1 : (tensor<3x2xf64>, tensor<4xi32>) -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

// torch.gather(x, 1, i) of matrices
func.func @along_the_last_dim(
    %x: tensor<2x3xf32> {dl.value = dense<[[1.0,2.0,3.0],[4.0,5.0,6.0]]> : tensor<2x3xf32>},
    %i: tensor<2x4xi64> {dl.value = dense<[[2,0,0,1],[1,1,2,0]]> : tensor<2x4xi64>}) -> tensor<2x4xf32>
    attributes {dl.expect = dense<[[3.0,1.0,1.0,2.0],[5.0,5.0,6.0,4.0]]> : tensor<2x4xf32>, dl.check_gradient} {
  %y = dl.gather %x, %i axis 1 batch_dims 1 : (tensor<2x3xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

func.func @one_place(
    %x: tensor<3x2xf32> {dl.value = dense<[[1.0,2.0],[3.0,4.0],[5.0,6.0]]> : tensor<3x2xf32>},
    %i: tensor<i64> {dl.value = dense<1> : tensor<i64>}) -> tensor<2xf32>
    attributes {dl.expect = dense<[3.0,4.0]> : tensor<2xf32>, dl.check_gradient} {
  %y = dl.gather %x, %i axis 0 : (tensor<3x2xf32>, tensor<i64>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func @batch_outer_places_inner(%x: tensor<2x3x5x4xf64>, %i: tensor<2x2x3xi64> {dl.test = "index:5"}) -> tensor<2x3x2x3x4xf64>
    attributes {dl.check_gradient} {
  %y = dl.gather %x, %i axis 2 batch_dims 1 : (tensor<2x3x5x4xf64>, tensor<2x2x3xi64>) -> tensor<2x3x2x3x4xf64>
  return %y : tensor<2x3x2x3x4xf64>
}

// x[b, o, i[b, o]]: every dim but the axis is a batch dim, so neighbours look up indices of their own.
func.func @all_batch_dims(%x: tensor<3x4x5xf64>, %i: tensor<3x4xi64> {dl.test = "index:5"}) -> tensor<3x4xf64>
    attributes {dl.check_gradient} {
  %y = dl.gather %x, %i axis 2 batch_dims 2 : (tensor<3x4x5xf64>, tensor<3x4xi64>) -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

func.func @outside_is_nan(
    %x: tensor<2x2xf32> {dl.value = dense<[[1.0,2.0],[3.0,4.0]]> : tensor<2x2xf32>},
    %i: tensor<4xi64> {dl.value = dense<[-1,1,2,9223372036854775807]> : tensor<4xi64>}) -> (tensor<4x2xf32>, tensor<2x4xf32>)
    attributes {dl.expect = [
      dense<[[0x7FC00000,0x7FC00000],[3.0,4.0],[0x7FC00000,0x7FC00000],[0x7FC00000,0x7FC00000]]> : tensor<4x2xf32>,
      dense<[[0x7FC00000,2.0,0x7FC00000,0x7FC00000],[0x7FC00000,4.0,0x7FC00000,0x7FC00000]]> : tensor<2x4xf32>]} {
  %y = dl.gather %x, %i axis 0 : (tensor<2x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  %z = dl.gather %x, %i axis 1 : (tensor<2x2xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  return %y, %z : tensor<4x2xf32>, tensor<2x4xf32>
}

func.func @outside_is_zero_for_integers(
    %x: tensor<2xi32> {dl.value = dense<[7,8]> : tensor<2xi32>}, %m: tensor<2xi1> {dl.value = dense<true> : tensor<2xi1>},
    %i: tensor<3xi32> {dl.value = dense<[-2147483648,1,2147483647]> : tensor<3xi32>}) -> (tensor<3xi32>, tensor<3xi1>)
    attributes {dl.expect = [dense<[0,8,0]> : tensor<3xi32>, dense<[false,true,false]> : tensor<3xi1>]} {
  %y = dl.gather %x, %i axis 0 : (tensor<2xi32>, tensor<3xi32>) -> tensor<3xi32>
  %n = dl.gather %m, %i axis 0 : (tensor<2xi1>, tensor<3xi32>) -> tensor<3xi1>
  return %y, %n : tensor<3xi32>, tensor<3xi1>
}

// The gradient of sum(weights * y): rows read twice get both weights, an index outside none.
func.func @gradient_of_duplicates_and_outside(
    %x: tensor<3xf64> {dl.value = dense<[1.0,2.0,3.0]> : tensor<3xf64>},
    %i: tensor<5xi64> {dl.value = dense<[2,0,2,7,-1]> : tensor<5xi64>}) -> tensor<3xf64>
    attributes {dl.expect = dense<[2.0,0.0,4.0]> : tensor<3xf64>} {
  %weights = dl.constant dense<[1.0,2.0,3.0,4.0,5.0]> : tensor<5xf64>
  %y = dl.gather %x, %i axis 0 : (tensor<3xf64>, tensor<5xi64>) -> tensor<5xf64>
  %w = dl.mul %y, %weights : tensor<5xf64>
  %loss = dl.reduce_sum %w over [0] : (tensor<5xf64>) -> tensor<f64>
  %g = dl.gradient %loss wrt %x : tensor<f64>, tensor<3xf64>
  return %g : tensor<3xf64>
}

// No extent at all: every index is outside.
func.func @empty_axis(%x: tensor<0x3xf32>, %i: tensor<2xi64> {dl.value = dense<0> : tensor<2xi64>}) -> tensor<2x3xf32>
    attributes {dl.expect = dense<0x7FC00000> : tensor<2x3xf32>} {
  %y = dl.gather %x, %i axis 0 : (tensor<0x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func @no_places(%x: tensor<3x3xf32>, %i: tensor<0xi64>) -> tensor<0x3xf32> {
  %y = dl.gather %x, %i axis 0 : (tensor<3x3xf32>, tensor<0xi64>) -> tensor<0x3xf32>
  return %y : tensor<0x3xf32>
}

func.func @size_1(%x: tensor<1x1xf32>, %i: tensor<1xi64> {dl.test = "index:1"}) -> tensor<1x1xf32> {
  %y = dl.gather %x, %i axis 0 : (tensor<1x1xf32>, tensor<1xi64>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

func.func @size_17(%x: tensor<17x17xf32>, %i: tensor<17xi64> {dl.test = "any"}) -> (tensor<17x17xf32>, tensor<17x17xf32>) {
  %y = dl.gather %x, %i axis 0 : (tensor<17x17xf32>, tensor<17xi64>) -> tensor<17x17xf32>
  %z = dl.gather %x, %i axis 1 : (tensor<17x17xf32>, tensor<17xi64>) -> tensor<17x17xf32>
  return %y, %z : tensor<17x17xf32>, tensor<17x17xf32>
}

func.func @size_tiles(%x: tensor<65x70xf32>, %i: tensor<3x131xi64> {dl.test = "index:65"}) -> tensor<3x131x70xf32> {
  %y = dl.gather %x, %i axis 0 : (tensor<65x70xf32>, tensor<3x131xi64>) -> tensor<3x131x70xf32>
  return %y : tensor<3x131x70xf32>
}

func.func @size_tiles_along(%x: tensor<37x300xf32>, %i: tensor<37x131xi32> {dl.test = "index:300"}) -> tensor<37x131xf32> {
  %y = dl.gather %x, %i axis 1 batch_dims 1 : (tensor<37x300xf32>, tensor<37x131xi32>) -> tensor<37x131xf32>
  return %y : tensor<37x131xf32>
}

// One kernel: rows of a table, positions added, normalised, and read from a computed table.
func.func @fused_with_rows(%table: tensor<19x33xf32>, %positions: tensor<7x33xf32>, %i: tensor<5x7xi32> {dl.test = "index:19"}) -> tensor<5x7xf32>
    attributes {dl.check_gradient} {
  %wide = dl.cast %i : tensor<5x7xi32> to tensor<5x7xi64>
  %rows = dl.gather %table, %wide axis 0 : (tensor<19x33xf32>, tensor<5x7xi64>) -> tensor<5x7x33xf32>
  %p = dl.broadcast %positions dims [1, 2] : (tensor<7x33xf32>) -> tensor<5x7x33xf32>
  %sum = dl.add %rows, %p : tensor<5x7x33xf32>
  %t = dl.tanh %sum : tensor<5x7x33xf32>
  %y = dl.reduce_sum %t over [2] : (tensor<5x7x33xf32>) -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

func.func @fused_with_columns(%x: tensor<40x19xf32>, %i: tensor<33xi64> {dl.test = "index:19"}) -> tensor<33xf32>
    attributes {dl.check_gradient} {
  %g = dl.gather %x, %i axis 1 : (tensor<40x19xf32>, tensor<33xi64>) -> tensor<40x33xf32>
  %s = dl.mul %g, %g : tensor<40x33xf32>
  %y = dl.reduce_sum %s over [0] : (tensor<40x33xf32>) -> tensor<33xf32>
  return %y : tensor<33xf32>
}

// Behind a transpose the lanes have positions of their own.
func.func @transposed(%x: tensor<30x40xf32>, %i: tensor<50xi64> {dl.test = "index:30"}) -> tensor<40x50xf32> {
  %g = dl.gather %x, %i axis 0 : (tensor<30x40xf32>, tensor<50xi64>) -> tensor<50x40xf32>
  %t = dl.transpose %g permutation [1, 0] : (tensor<50x40xf32>) -> tensor<40x50xf32>
  %y = dl.exp %t : tensor<40x50xf32>
  return %y : tensor<40x50xf32>
}

// Lies contiguous along another dim than the result, but for the places.
func.func @transposed_around_the_axis(%x: tensor<40x9x33xf32>, %i: tensor<3xi64> {dl.test = "index:9"}) -> tensor<33x3x40xf32> {
  %g = dl.gather %x, %i axis 1 : (tensor<40x9x33xf32>, tensor<3xi64>) -> tensor<40x3x33xf32>
  %t = dl.transpose %g permutation [2, 1, 0] : (tensor<40x3x33xf32>) -> tensor<33x3x40xf32>
  %y = dl.exp %t : tensor<33x3x40xf32>
  return %y : tensor<33x3x40xf32>
}

// A table of positions that was itself gathered, and one behind a pad.
func.func @chained(%x: tensor<9x21xf32>, %i: tensor<6xi64> {dl.test = "index:9"}, %j: tensor<13xi64> {dl.test = "index:6"}) -> tensor<17x21xf32> {
  %k = dl.gather %i, %j axis 0 : (tensor<6xi64>, tensor<13xi64>) -> tensor<13xi64>
  %outside = dl.constant dense<-1> : tensor<i64>
  %padded = dl.pad %k, %outside lo [1] hi [3] interior [0] : (tensor<13xi64>, tensor<i64>) -> tensor<17xi64>
  %y = dl.gather %x, %padded axis 0 : (tensor<9x21xf32>, tensor<17xi64>) -> tensor<17x21xf32>
  return %y : tensor<17x21xf32>
}

// What is gathered from may be computed where it is needed: torch.gather(exp(x), 0, i).
func.func @from_computed(%x: tensor<37x21xf32>, %i: tensor<21x19xi64> {dl.test = "index:37"}) -> tensor<19x21xf32>
    attributes {dl.check_gradient} {
  %e = dl.exp %x : tensor<37x21xf32>
  %t = dl.transpose %e permutation [1, 0] : (tensor<37x21xf32>) -> tensor<21x37xf32>
  %g = dl.gather %t, %i axis 1 batch_dims 1 : (tensor<21x37xf32>, tensor<21x19xi64>) -> tensor<21x19xf32>
  %y = dl.transpose %g permutation [1, 0] : (tensor<21x19xf32>) -> tensor<19x21xf32>
  return %y : tensor<19x21xf32>
}

// An infinite derivative behind elements that are not used: the gradient is 0 there, not NaN.
func.func @masked(
    %x: tensor<2xf64> {dl.value = dense<[0.0,2.0]> : tensor<2xf64>}, %i: tensor<3xi64> {dl.value = dense<[0,1,0]> : tensor<3xi64>},
    %used: tensor<3xi1> {dl.value = dense<[false,true,false]> : tensor<3xi1>}) -> tensor<2xf64>
    attributes {dl.expect = dense<[0.0,0.5]> : tensor<2xf64>} {
  %l = dl.log %x : tensor<2xf64>
  %g = dl.gather %l, %i axis 0 : (tensor<2xf64>, tensor<3xi64>) -> tensor<3xf64>
  %zero = dl.constant dense<0.0> : tensor<3xf64>
  %y = dl.select %used, %g, %zero : tensor<3xf64>
  %loss = dl.reduce_sum %y over [0] : (tensor<3xf64>) -> tensor<f64>
  %gx = dl.gradient %loss wrt %x : tensor<f64>, tensor<2xf64>
  return %gx : tensor<2xf64>
}
