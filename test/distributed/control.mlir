// RUN: dlc-check --mesh=data=2 %s
// RUN: dlc-check --mesh=data=3 %s
// RUN: dlc-check --mesh=data=4 %s

dl.variable @w : tensor<5x3xf32> role(parameter) init(#dl.uniform<-1.0, 1.0>)

// An RNN, the batch in dim 1: steps run on a member's rows, the gradient of the weights is a carried sum.
func.func @rnn(%xs: tensor<4x6x5xf32> {dl.sharding = #dl.sharding<[_, data, _]>}, %h0: tensor<6x3xf32>,
    %u: tensor<3x3xf32> {dl.sharding = #dl.sharding<[_, _]>}) -> (tensor<f32>, tensor<5x3xf32>, tensor<4x6x3xf32>)
    attributes {dl.entry} {
  %w = dl.read @w : tensor<5x3xf32>
  %last, %all = dl.scan 4 carry(%h = %h0 : tensor<6x3xf32>) slices(%x = %xs : tensor<4x6x5xf32>)
      whole(%v = %w : tensor<5x3xf32>, %r = %u : tensor<3x3xf32>) -> (tensor<6x3xf32>, tensor<4x6x3xf32>) {
    %0 = dl.dot_general %x, %v batch [] x [] contract [1] x [0] : (tensor<6x5xf32>, tensor<5x3xf32>) -> tensor<6x3xf32>
    %1 = dl.dot_general %h, %r batch [] x [] contract [1] x [0] : (tensor<6x3xf32>, tensor<3x3xf32>) -> tensor<6x3xf32>
    %2 = dl.add %0, %1 : tensor<6x3xf32>
    %n = dl.tanh %2 : tensor<6x3xf32>
    dl.yield %n, %n : tensor<6x3xf32>, tensor<6x3xf32>
  }
  %s = dl.reduce_sum %all over [0, 1, 2] : (tensor<4x6x3xf32>) -> tensor<f32>
  %g = dl.gradient %s wrt %w : tensor<f32>, tensor<5x3xf32>
  return %s, %g, %all : tensor<f32>, tensor<5x3xf32>, tensor<4x6x3xf32>
}

// A collective in each step: a norm over the batch's rows.
func.func @norm(%x: tensor<7x4xf32>, %ws: tensor<3x4xf32> {dl.sharding = #dl.sharding<[_, _]>})
    -> (tensor<7x4xf32>, tensor<3xf32>) attributes {dl.entry} {
  %y, %ms = dl.scan 3 carry(%a = %x : tensor<7x4xf32>) slices(%v = %ws : tensor<3x4xf32>)
      -> (tensor<7x4xf32>, tensor<3xf32>) {
    %n = dl.constant dense<7.0> : tensor<4xf32>
    %0 = dl.reduce_sum %a over [0] : (tensor<7x4xf32>) -> tensor<4xf32>
    %1 = dl.div %0, %n : tensor<4xf32>
    %2 = dl.sub %v, %1 : tensor<4xf32>
    %3 = dl.broadcast %2 dims [1] : (tensor<4xf32>) -> tensor<7x4xf32>
    %4 = dl.add %a, %3 : tensor<7x4xf32>
    %5 = dl.tanh %4 : tensor<7x4xf32>
    %m = dl.reduce_max %5 over [0, 1] : (tensor<7x4xf32>) -> tensor<f32>
    dl.yield %5, %m : tensor<7x4xf32>, tensor<f32>
  }
  return %y, %ms : tensor<7x4xf32>, tensor<3xf32>
}

// One branch gives a sum of the members' rows, the other a value that all have; it needs all rows itself.
func.func @branch(%x: tensor<7x4xf32>, %p: tensor<f32>) -> (tensor<4xf32>, tensor<7x4xf32>) attributes {dl.entry} {
  %zero = dl.constant dense<0.0> : tensor<f32>
  %t = dl.compare gt, %p, %zero : tensor<f32>
  %s, %r = dl.cond %t (%a = %x : tensor<7x4xf32>) -> (tensor<4xf32>, tensor<7x4xf32>) {
    %0 = dl.reduce_sum %a over [0] : (tensor<7x4xf32>) -> tensor<4xf32>
    %1 = dl.exp %a : tensor<7x4xf32>
    dl.yield %0, %1 : tensor<4xf32>, tensor<7x4xf32>
  } else (%b) {
    %0 = dl.constant dense<2.0> : tensor<4xf32>
    %1 = dl.reduce_sum %b over [0] : (tensor<7x4xf32>) -> tensor<4xf32>
    %2 = dl.exp %1 : tensor<4xf32>
    %3 = dl.broadcast %2 dims [1] : (tensor<4xf32>) -> tensor<7x4xf32>
    %4 = dl.mul %3, %b : tensor<7x4xf32>
    dl.yield %0, %4 : tensor<4xf32>, tensor<7x4xf32>
  }
  return %s, %r : tensor<4xf32>, tensor<7x4xf32>
}
