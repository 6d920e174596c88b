// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @cond(
// CHECK: dl.cond %{{.*}} (%{{.*}} = %{{.*}} : tensor<4xf32>, %{{.*}} = %{{.*}} : tensor<4xf32>) -> tensor<4xf32> {
// CHECK: } else (%{{.*}}, %{{.*}}) {
func.func @cond(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {dl.check_gradient} {
  %r = dl.cond %p (%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> tensor<4xf32> {
    %0 = dl.exp %a : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  } else (%a, %b) {
    %0 = dl.mul %a, %b : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @values(
    %x: tensor<2xf64> {dl.value = dense<[3.0, 4.0]> : tensor<2xf64>}) -> (tensor<2xf64>, tensor<2xf64>)
    attributes {dl.expect = [dense<[6.0, 8.0]> : tensor<2xf64>, dense<[9.0, 16.0]> : tensor<2xf64>], dl.check_gradient} {
  %yes = dl.constant dense<true> : tensor<i1>
  %no = dl.constant dense<false> : tensor<i1>
  %r = dl.cond %yes (%a = %x : tensor<2xf64>) -> tensor<2xf64> {
    %0 = dl.add %a, %a : tensor<2xf64>
    dl.yield %0 : tensor<2xf64>
  } else (%a) {
    %0 = dl.mul %a, %a : tensor<2xf64>
    dl.yield %0 : tensor<2xf64>
  }
  %s = dl.cond %no (%a = %x : tensor<2xf64>) -> tensor<2xf64> {
    dl.yield %a : tensor<2xf64>
  } else (%a) {
    %0 = dl.mul %a, %a : tensor<2xf64>
    dl.yield %0 : tensor<2xf64>
  }
  return %r, %s : tensor<2xf64>, tensor<2xf64>
}

// A predicate computed from data, both ways; the regions save values of different number, and one yields an operand.
func.func @taken(%x: tensor<3xf32> {dl.value = dense<[0.5, 0.25, 1.5]> : tensor<3xf32>}, %y: tensor<3xf32>)
    -> (tensor<3xf32>, tensor<f32>) attributes {dl.check_gradient} {
  %zero = dl.constant dense<0.0> : tensor<f32>
  %s = dl.reduce_sum %x over [0] : (tensor<3xf32>) -> tensor<f32>
  %p = dl.compare gt, %s, %zero : tensor<f32>
  %r, %t = dl.cond %p (%a = %x : tensor<3xf32>, %b = %y : tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
    %0 = dl.tanh %a : tensor<3xf32>
    %1 = dl.mul %0, %b : tensor<3xf32>
    %2 = dl.sin %1 : tensor<3xf32>
    %3 = dl.reduce_sum %1 over [0] : (tensor<3xf32>) -> tensor<f32>
    dl.yield %2, %3 : tensor<3xf32>, tensor<f32>
  } else (%a, %b) {
    %0 = dl.mul %b, %b : tensor<3xf32>
    %1 = dl.reduce_sum %0 over [0] : (tensor<3xf32>) -> tensor<f32>
    dl.yield %b, %1 : tensor<3xf32>, tensor<f32>
  }
  return %r, %t : tensor<3xf32>, tensor<f32>
}

func.func @not_taken(%x: tensor<3xf32> {dl.value = dense<[-0.5, -0.25, -1.5]> : tensor<3xf32>}, %y: tensor<3xf32>)
    -> (tensor<3xf32>, tensor<f32>) attributes {dl.check_gradient} {
  %zero = dl.constant dense<0.0> : tensor<f32>
  %s = dl.reduce_sum %x over [0] : (tensor<3xf32>) -> tensor<f32>
  %p = dl.compare gt, %s, %zero : tensor<f32>
  %r, %t = dl.cond %p (%a = %x : tensor<3xf32>, %b = %y : tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
    %0 = dl.tanh %a : tensor<3xf32>
    %1 = dl.mul %0, %b : tensor<3xf32>
    %2 = dl.sin %1 : tensor<3xf32>
    %3 = dl.reduce_sum %1 over [0] : (tensor<3xf32>) -> tensor<f32>
    dl.yield %2, %3 : tensor<3xf32>, tensor<f32>
  } else (%a, %b) {
    %0 = dl.mul %b, %b : tensor<3xf32>
    %1 = dl.reduce_sum %0 over [0] : (tensor<3xf32>) -> tensor<f32>
    dl.yield %b, %1 : tensor<3xf32>, tensor<f32>
  }
  return %r, %t : tensor<3xf32>, tensor<f32>
}

// DIST-03, GRAD-03: the region not taken would divide by zero; what only it uses has a gradient of exact zeros.
func.func @region_not_taken_gives_zeros(
    %x: tensor<2xf64> {dl.value = dense<[0.0, 1.0]> : tensor<2xf64>},
    %w: tensor<2xf64> {dl.value = dense<[5.0, 7.0]> : tensor<2xf64>}) -> (tensor<2xf64>, tensor<2xf64>)
    attributes {dl.expect = [dense<[1.0, 1.0]> : tensor<2xf64>, dense<0.0> : tensor<2xf64>]} {
  %zero = dl.constant dense<0.0> : tensor<f64>
  %s = dl.reduce_prod %x over [0] : (tensor<2xf64>) -> tensor<f64>
  %p = dl.compare ne, %s, %zero : tensor<f64>
  %r = dl.cond %p (%a = %x : tensor<2xf64>, %b = %w : tensor<2xf64>) -> tensor<2xf64> {
    %0 = dl.div %b, %a : tensor<2xf64>
    dl.yield %0 : tensor<2xf64>
  } else (%a, %b) {
    dl.yield %a : tensor<2xf64>
  }
  %loss = dl.reduce_sum %r over [0] : (tensor<2xf64>) -> tensor<f64>
  %gx, %gw = dl.gradient %loss wrt %x, %w : tensor<f64>, tensor<2xf64>, tensor<2xf64>
  return %gx, %gw : tensor<2xf64>, tensor<2xf64>
}

// A choice in every step.
func.func @size_cond_in_scan(%h0: tensor<5xf32>, %xs: tensor<6x5xf32>, %w0: tensor<5xf32>) -> (tensor<5xf32>, tensor<6x5xf32>)
    attributes {dl.check_gradient} {
  %last, %all = dl.scan 6 carry(%h = %h0 : tensor<5xf32>) slices(%x = %xs : tensor<6x5xf32>)
      whole(%w = %w0 : tensor<5xf32>) -> (tensor<5xf32>, tensor<6x5xf32>) {
    %zero = dl.constant dense<0.0> : tensor<f32>
    %s = dl.reduce_sum %x over [0] : (tensor<5xf32>) -> tensor<f32>
    %p = dl.compare gt, %s, %zero : tensor<f32>
    %n = dl.cond %p (%a = %h : tensor<5xf32>, %b = %x : tensor<5xf32>, %c = %w : tensor<5xf32>) -> tensor<5xf32> {
      %0 = dl.mul %a, %c : tensor<5xf32>
      %1 = dl.tanh %0 : tensor<5xf32>
      dl.yield %1 : tensor<5xf32>
    } else (%a, %b, %c) {
      %0 = dl.add %a, %b : tensor<5xf32>
      dl.yield %0 : tensor<5xf32>
    }
    %y = dl.mul %n, %n : tensor<5xf32>
    dl.yield %n, %y : tensor<5xf32>, tensor<5xf32>
  }
  return %last, %all : tensor<5xf32>, tensor<6x5xf32>
}
