// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @scan(
// CHECK: dl.scan 3 carry(%{{.*}} = %{{.*}} : tensor<4xf32>) slices(%{{.*}} = %{{.*}} : tensor<3x4xf32>)
// CHECK-SAME: whole(%{{.*}} = %{{.*}} : tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
func.func @scan(%h0: tensor<4xf32>, %xs: tensor<3x4xf32>, %w0: tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>)
    attributes {dl.check_gradient} {
  %last, %all = dl.scan 3 carry(%h = %h0 : tensor<4xf32>) slices(%x = %xs : tensor<3x4xf32>)
      whole(%w = %w0 : tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
    %0 = dl.mul %h, %w : tensor<4xf32>
    %n = dl.add %0, %x : tensor<4xf32>
    dl.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  return %last, %all : tensor<4xf32>, tensor<3x4xf32>
}

// h = h * 2 + x from 1 over 1, 2, 3: 3, 8, 19.
func.func @values(
    %h0: tensor<f64> {dl.value = dense<1.0> : tensor<f64>},
    %xs: tensor<3xf64> {dl.value = dense<[1.0, 2.0, 3.0]> : tensor<3xf64>},
    %w0: tensor<f64> {dl.value = dense<2.0> : tensor<f64>}) -> (tensor<f64>, tensor<3xf64>)
    attributes {dl.expect = [dense<19.0> : tensor<f64>, dense<[3.0, 8.0, 19.0]> : tensor<3xf64>], dl.check_gradient} {
  %last, %all = dl.scan 3 carry(%h = %h0 : tensor<f64>) slices(%x = %xs : tensor<3xf64>)
      whole(%w = %w0 : tensor<f64>) -> (tensor<f64>, tensor<3xf64>) {
    %0 = dl.mul %h, %w : tensor<f64>
    %n = dl.add %0, %x : tensor<f64>
    dl.yield %n, %n : tensor<f64>, tensor<f64>
  }
  return %last, %all : tensor<f64>, tensor<3xf64>
}

// From the last slice on: h = 1 * 2 + 3 = 5, 12, 25, each where its slice lies.
func.func @backwards(
    %h0: tensor<f64> {dl.value = dense<1.0> : tensor<f64>},
    %xs: tensor<3xf64> {dl.value = dense<[1.0, 2.0, 3.0]> : tensor<3xf64>},
    %w0: tensor<f64> {dl.value = dense<2.0> : tensor<f64>}) -> (tensor<f64>, tensor<3xf64>)
    attributes {dl.expect = [dense<25.0> : tensor<f64>, dense<[25.0, 12.0, 5.0]> : tensor<3xf64>], dl.check_gradient} {
  %last, %all = dl.scan 3 backwards carry(%h = %h0 : tensor<f64>) slices(%x = %xs : tensor<3xf64>)
      whole(%w = %w0 : tensor<f64>) -> (tensor<f64>, tensor<3xf64>) {
    %0 = dl.mul %h, %w : tensor<f64>
    %n = dl.add %0, %x : tensor<f64>
    dl.yield %n, %n : tensor<f64>, tensor<f64>
  }
  return %last, %all : tensor<f64>, tensor<3xf64>
}

// No step leaves the carried values as they are.
func.func @no_steps(
    %h0: tensor<2xf64> {dl.value = dense<[1.0, 2.0]> : tensor<2xf64>}, %xs: tensor<0x2xf64> {dl.value = dense<> : tensor<0x2xf64>})
    -> (tensor<2xf64>, tensor<0x2xf64>)
    attributes {dl.expect = [dense<[1.0, 2.0]> : tensor<2xf64>, dense<> : tensor<0x2xf64>], dl.check_gradient} {
  %last, %all = dl.scan 0 carry(%h = %h0 : tensor<2xf64>) slices(%x = %xs : tensor<0x2xf64>)
      -> (tensor<2xf64>, tensor<0x2xf64>) {
    %n = dl.add %h, %x : tensor<2xf64>
    dl.yield %n, %h : tensor<2xf64>, tensor<2xf64>
  }
  return %last, %all : tensor<2xf64>, tensor<0x2xf64>
}

func.func @one_step(%h0: tensor<5xf32>, %xs: tensor<1x5xf32>) -> (tensor<5xf32>, tensor<1x5xf32>)
    attributes {dl.check_gradient} {
  %last, %all = dl.scan 1 carry(%h = %h0 : tensor<5xf32>) slices(%x = %xs : tensor<1x5xf32>)
      -> (tensor<5xf32>, tensor<1x5xf32>) {
    %n = dl.mul %h, %x : tensor<5xf32>
    dl.yield %n, %x : tensor<5xf32>, tensor<5xf32>
  }
  return %last, %all : tensor<5xf32>, tensor<1x5xf32>
}

// An RNN: matrices as whole operands, whose gradients are sums over the steps.
func.func @size_rnn(%h0: tensor<3x8xf32>, %xs: tensor<6x3x5xf32>, %w0: tensor<8x5xf32>, %u0: tensor<8x8xf32>,
    %b0: tensor<8xf32>) -> (tensor<3x8xf32>, tensor<6x3x8xf32>)
    attributes {dl.check_gradient, dl.roundings = 64.0 : f64} {
  %last, %all = dl.scan 6 carry(%h = %h0 : tensor<3x8xf32>) slices(%x = %xs : tensor<6x3x5xf32>)
      whole(%w = %w0 : tensor<8x5xf32>, %u = %u0 : tensor<8x8xf32>, %b = %b0 : tensor<8xf32>)
      -> (tensor<3x8xf32>, tensor<6x3x8xf32>) {
    %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [1] : (tensor<3x5xf32>, tensor<8x5xf32>) -> tensor<3x8xf32>
    %1 = dl.dot_general %h, %u batch [] x [] contract [1] x [1] : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
    %2 = dl.add %0, %1 : tensor<3x8xf32>
    %3 = dl.broadcast %b dims [1] : (tensor<8xf32>) -> tensor<3x8xf32>
    %4 = dl.add %2, %3 : tensor<3x8xf32>
    %n = dl.tanh %4 : tensor<3x8xf32>
    dl.yield %n, %n : tensor<3x8xf32>, tensor<3x8xf32>
  }
  return %last, %all : tensor<3x8xf32>, tensor<6x3x8xf32>
}

// Two carried values change places; a third one counts.
func.func @swap(
    %a0: tensor<2xf32> {dl.value = dense<[1.0, 2.0]> : tensor<2xf32>},
    %b0: tensor<2xf32> {dl.value = dense<[3.0, 4.0]> : tensor<2xf32>},
    %i0: tensor<i64> {dl.value = dense<10> : tensor<i64>})
    -> (tensor<2xf32>, tensor<2xf32>, tensor<i64>, tensor<3xi64>)
    attributes {dl.expect = [dense<[3.0, 4.0]> : tensor<2xf32>, dense<[1.0, 2.0]> : tensor<2xf32>, dense<13> : tensor<i64>,
      dense<[10, 11, 12]> : tensor<3xi64>], dl.check_gradient} {
  %a1, %b1, %i1, %is = dl.scan 3 carry(%a = %a0 : tensor<2xf32>, %b = %b0 : tensor<2xf32>, %i = %i0 : tensor<i64>)
      -> (tensor<2xf32>, tensor<2xf32>, tensor<i64>, tensor<3xi64>) {
    %one = dl.constant dense<1> : tensor<i64>
    %j = dl.add %i, %one : tensor<i64>
    dl.yield %b, %a, %j, %i : tensor<2xf32>, tensor<2xf32>, tensor<i64>, tensor<i64>
  }
  return %a1, %b1, %i1, %is : tensor<2xf32>, tensor<2xf32>, tensor<i64>, tensor<3xi64>
}

// A scan in a scan, with a constant table.
func.func @size_nested(%h0: tensor<4xf32>, %xs: tensor<4x2x4xf32>) -> (tensor<4xf32>, tensor<4x2x4xf32>)
    attributes {dl.check_gradient, dl.roundings = 256.0 : f64} {
  %last, %all = dl.scan 4 carry(%h = %h0 : tensor<4xf32>) slices(%x = %xs : tensor<4x2x4xf32>)
      -> (tensor<4xf32>, tensor<4x2x4xf32>) {
    %c = dl.constant dense<[0.5, -0.25, 0.75, 1.5]> : tensor<4xf32>
    %hh, %ys = dl.scan 2 backwards carry(%g = %h : tensor<4xf32>) slices(%y = %x : tensor<2x4xf32>)
        whole(%d = %c : tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
      %0 = dl.mul %g, %d : tensor<4xf32>
      %1 = dl.mul %y, %y : tensor<4xf32>
      %2 = dl.add %0, %1 : tensor<4xf32>
      %3 = dl.sin %2 : tensor<4xf32>
      dl.yield %2, %3 : tensor<4xf32>, tensor<4xf32>
    }
    dl.yield %hh, %ys : tensor<4xf32>, tensor<2x4xf32>
  }
  return %last, %all : tensor<4xf32>, tensor<4x2x4xf32>
}

// 1,000 steps are compiled once. The carried value comes from a variable and goes back to it.
dl.variable @h : tensor<4xf32> role(buffer) init(#dl.zeros)
func.func @size_state(%xs: tensor<1000x4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  %h0 = dl.read @h : tensor<4xf32>
  %half = dl.constant dense<0.5> : tensor<4xf32>
  %h1 = dl.scan 1000 carry(%h = %h0 : tensor<4xf32>) slices(%x = %xs : tensor<1000x4xf32>)
      whole(%c = %half : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.mul %h, %c : tensor<4xf32>
    %1 = dl.add %0, %x : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  dl.write @h, %h1 : tensor<4xf32>
  return %h1 : tensor<4xf32>
}

// The gradient of a gradient: d/dx of sum(g * g) with g = d/dx of the last carried value.
func.func @size_second_order(%h0: tensor<3xf64>, %xs: tensor<4x3xf64>) -> tensor<f64> attributes {dl.check_gradient} {
  %last = dl.scan 4 carry(%h = %h0 : tensor<3xf64>) slices(%x = %xs : tensor<4x3xf64>) -> (tensor<3xf64>) {
    %0 = dl.mul %h, %x : tensor<3xf64>
    %1 = dl.sin %0 : tensor<3xf64>
    dl.yield %1 : tensor<3xf64>
  }
  %loss = dl.reduce_sum %last over [0] : (tensor<3xf64>) -> tensor<f64>
  %g = dl.gradient %loss wrt %xs : tensor<f64>, tensor<4x3xf64>
  %gg = dl.mul %g, %g : tensor<4x3xf64>
  %s = dl.reduce_sum %gg over [0, 1] : (tensor<4x3xf64>) -> tensor<f64>
  return %s : tensor<f64>
}

// A gradient inside each step, of a sum over four steps.
func.func @size_gradient_inside(%w0: tensor<3xf32>, %xs: tensor<4x3xf32>) -> tensor<3xf32> attributes {dl.check_gradient} {
  %zero = dl.constant dense<0.0> : tensor<3xf32>
  %sum = dl.scan 4 carry(%a = %zero : tensor<3xf32>) slices(%x = %xs : tensor<4x3xf32>) whole(%w = %w0 : tensor<3xf32>)
      -> (tensor<3xf32>) {
    %0 = dl.mul %w, %x : tensor<3xf32>
    %1 = dl.tanh %0 : tensor<3xf32>
    %2 = dl.reduce_sum %1 over [0] : (tensor<3xf32>) -> tensor<f32>
    %g = dl.gradient %2 wrt %w : tensor<f32>, tensor<3xf32>
    %b = dl.add %a, %g : tensor<3xf32>
    dl.yield %b : tensor<3xf32>
  }
  return %sum : tensor<3xf32>
}
