// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s
// RUN: dlc-check --mesh=data=3 --function=rows %s

// CHECK-LABEL: func.func @checkpoint(
// CHECK: dl.checkpoint (%{{.*}} = %{{.*}} : tensor<4xf32>, %{{.*}} = %{{.*}} : tensor<4xf32>) -> tensor<4xf32> {
// CHECK:   dl.yield %{{.*}} : tensor<4xf32>
func.func @checkpoint(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> attributes {dl.check_gradient} {
  %r = dl.checkpoint (%a = %x : tensor<4xf32>, %b = %w : tensor<4xf32>) -> tensor<4xf32> {
    %0 = dl.mul %a, %b : tensor<4xf32>
    %1 = dl.tanh %0 : tensor<4xf32>
    %2 = dl.mul %1, %a : tensor<4xf32>
    dl.yield %2 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @values(%x: tensor<2xf64> {dl.value = dense<[3.0, 4.0]> : tensor<2xf64>}) -> (tensor<2xf64>, tensor<2xf64>)
    attributes {dl.expect = [dense<[9.0, 16.0]> : tensor<2xf64>, dense<[3.0, 4.0]> : tensor<2xf64>], dl.check_gradient} {
  %r:2 = dl.checkpoint (%a = %x : tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
    %0 = dl.mul %a, %a : tensor<2xf64>
    dl.yield %0, %a : tensor<2xf64>, tensor<2xf64>
  }
  return %r#0, %r#1 : tensor<2xf64>, tensor<2xf64>
}

// One behind the other, and one inside another; a value from outside is read by both.
func.func @several(%x: tensor<3x5xf32>, %w: tensor<5x5xf32>) -> tensor<3x5xf32> attributes {dl.check_gradient} {
  %y = dl.checkpoint (%a = %x : tensor<3x5xf32>, %b = %w : tensor<5x5xf32>) -> tensor<3x5xf32> {
    %0 = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32>
    %1 = dl.sigmoid %0 : tensor<3x5xf32>
    dl.yield %1 : tensor<3x5xf32>
  }
  %z = dl.checkpoint (%a = %y : tensor<3x5xf32>, %b = %w : tensor<5x5xf32>, %c = %x : tensor<3x5xf32>) -> tensor<3x5xf32> {
    %0 = dl.tanh %a : tensor<3x5xf32>
    %i = dl.checkpoint (%d = %0 : tensor<3x5xf32>, %e = %b : tensor<5x5xf32>) -> tensor<3x5xf32> {
      %2 = dl.dot_general %d, %e batch [] x [] contract [1] x [0] : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32>
      %3 = dl.gelu %2 : tensor<3x5xf32>
      dl.yield %3 : tensor<3x5xf32>
    }
    %1 = dl.add %i, %c : tensor<3x5xf32>
    dl.yield %1 : tensor<3x5xf32>
  }
  return %z : tensor<3x5xf32>
}

// What is drawn inside is drawn again alike: the gradient is 0 exactly where the result is.
func.func @draws(%x: tensor<64xf32> {dl.test = "positive"}) -> (tensor<64xf32>, tensor<64xi1>)
    attributes {dl.expect = [dense<0.0> : tensor<64xf32>, dense<true> : tensor<64xi1>]} {
  %seed = dl.constant dense<7> : tensor<i64>
  %offset = dl.constant dense<3> : tensor<i64>
  %r = dl.checkpoint (%a = %x : tensor<64xf32>, %s = %seed : tensor<i64>, %o = %offset : tensor<i64>) -> tensor<64xf32> {
    %bits = dl.random_bits %s, %o : tensor<64xi32>
    %zero = dl.constant dense<0> : tensor<64xi32>
    %no = dl.constant dense<0.0> : tensor<64xf32>
    %keep = dl.compare gt, %bits, %zero : tensor<64xi32>
    %2 = dl.mul %a, %a : tensor<64xf32>
    %3 = dl.select %keep, %2, %no : tensor<64xf32>
    dl.yield %3 : tensor<64xf32>
  }
  %loss = dl.reduce_sum %r over [0] : (tensor<64xf32>) -> tensor<f32>
  %g = dl.gradient %loss wrt %x : tensor<f32>, tensor<64xf32>
  // r = x² or 0, g = 2 x or 0: x g = 2 r.
  %two = dl.constant dense<2.0> : tensor<64xf32>
  %xg = dl.mul %x, %g : tensor<64xf32>
  %rr = dl.mul %r, %two : tensor<64xf32>
  %d = dl.sub %xg, %rr : tensor<64xf32>
  %zero = dl.constant dense<0.0> : tensor<64xf32>
  %a = dl.compare eq, %r, %zero : tensor<64xf32>
  %b = dl.compare eq, %g, %zero : tensor<64xf32>
  %same = dl.compare eq, %a, %b : tensor<64xi1>
  return %d, %same : tensor<64xf32>, tensor<64xi1>
}

// In every step of a scan, and a scan inside.
func.func @with_scan(%h0: tensor<5xf32>, %xs: tensor<6x5xf32>, %w0: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>)
    attributes {dl.check_gradient} {
  %last = dl.scan 6 carry(%h = %h0 : tensor<5xf32>) slices(%x = %xs : tensor<6x5xf32>)
      whole(%w = %w0 : tensor<5xf32>) -> (tensor<5xf32>) {
    %n = dl.checkpoint (%a = %h : tensor<5xf32>, %b = %x : tensor<5xf32>, %c = %w : tensor<5xf32>) -> tensor<5xf32> {
      %0 = dl.mul %a, %c : tensor<5xf32>
      %1 = dl.add %0, %b : tensor<5xf32>
      %2 = dl.tanh %1 : tensor<5xf32>
      dl.yield %2 : tensor<5xf32>
    }
    dl.yield %n : tensor<5xf32>
  }
  %inside = dl.checkpoint (%a = %h0 : tensor<5xf32>, %b = %xs : tensor<6x5xf32>) -> tensor<5xf32> {
    %l = dl.scan 6 carry(%h = %a : tensor<5xf32>) slices(%x = %b : tensor<6x5xf32>) -> (tensor<5xf32>) {
      %0 = dl.sin %h : tensor<5xf32>
      %1 = dl.mul %0, %x : tensor<5xf32>
      dl.yield %1 : tensor<5xf32>
    }
    dl.yield %l : tensor<5xf32>
  }
  return %last, %inside : tensor<5xf32>, tensor<5xf32>
}

// Rows on members: what the barriers wait for is split otherwise than the weights.
func.func @rows(%x: tensor<7x5xf32>, %w: tensor<5x5xf32>) -> tensor<7x5xf32> attributes {dl.check_gradient} {
  %y = dl.checkpoint (%a = %x : tensor<7x5xf32>, %b = %w : tensor<5x5xf32>) -> tensor<7x5xf32> {
    %0 = dl.dot_general %a, %b batch [] x [] contract [1] x [0] : (tensor<7x5xf32>, tensor<5x5xf32>) -> tensor<7x5xf32>
    %1 = dl.tanh %0 : tensor<7x5xf32>
    dl.yield %1 : tensor<7x5xf32>
  }
  return %y : tensor<7x5xf32>
}
