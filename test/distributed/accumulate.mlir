// RUN: dlc-check --mesh=data=2 %s
// RUN: dlc-check --mesh=data=3 %s
// RUN: dlc-check --mesh=data=4 %s

dl.variable @w : tensor<5x3xf32> role(parameter) init(#dl.uniform<-1.0, 1.0>)

// Four micro-batches: their mean losses add up to the batch's, gradients are reduced once.
func.func @even(%x: tensor<48x5xf32>, %y: tensor<48x3xf32>) -> tensor<f32> attributes {dl.entry} {
  %w = dl.read @w : tensor<5x3xf32>
  %zero = dl.constant dense<-0.0> : tensor<f32>
  %zeros = dl.constant dense<-0.0> : tensor<5x3xf32>
  %xs = dl.micro_batches %x : tensor<48x5xf32> -> tensor<4x12x5xf32>
  %ys = dl.micro_batches %y : tensor<48x3xf32> -> tensor<4x12x3xf32>
  %loss, %g = dl.scan 4 carry(%sum = %zero : tensor<f32>, %gradients = %zeros : tensor<5x3xf32>)
      slices(%a = %xs : tensor<4x12x5xf32>, %b = %ys : tensor<4x12x3xf32>) whole(%v = %w : tensor<5x3xf32>)
      -> (tensor<f32>, tensor<5x3xf32>) {
    %quarter = dl.constant dense<0.25> : tensor<f32>
    %p = dl.dot_general %a, %v batch [] x [] contract [1] x [0] : (tensor<12x5xf32>, tensor<5x3xf32>) -> tensor<12x3xf32>
    %mean = dl.mse %p, %b : (tensor<12x3xf32>, tensor<12x3xf32>) -> tensor<f32>
    %share = dl.mul %mean, %quarter : tensor<f32>
    %d = dl.gradient %share wrt %v : tensor<f32>, tensor<5x3xf32>
    %0 = dl.add %sum, %share : tensor<f32>
    %1 = dl.add %gradients, %d : tensor<5x3xf32>
    dl.yield %0, %1 : tensor<f32>, tensor<5x3xf32>
  }
  %new = dl.sub %w, %g : tensor<5x3xf32>
  dl.write @w, %new : tensor<5x3xf32>
  return %loss : tensor<f32>
}

// Seven rows of which no member has as many in each part, and the last one by itself: all get all rows.
func.func @uneven(%x: tensor<7x5xf32>, %y: tensor<7x3xf32>) -> (tensor<f32>, tensor<5x3xf32>) attributes {dl.entry} {
  %w = dl.read @w : tensor<5x3xf32>
  %zero = dl.constant dense<-0.0> : tensor<f32>
  %zeros = dl.constant dense<-0.0> : tensor<5x3xf32>
  %third = dl.constant dense<0.42857142857> : tensor<f32>
  %seventh = dl.constant dense<0.142857142857> : tensor<f32>
  %xs = dl.micro_batches %x : tensor<7x5xf32> -> tensor<2x3x5xf32>
  %ys = dl.micro_batches %y : tensor<7x3xf32> -> tensor<2x3x3xf32>
  %xl = dl.micro_batches %x {first = 6 : i64} : tensor<7x5xf32> -> tensor<1x1x5xf32>
  %yl = dl.micro_batches %y {first = 6 : i64} : tensor<7x3xf32> -> tensor<1x1x3xf32>
  %x6 = dl.reshape %xl : (tensor<1x1x5xf32>) -> tensor<1x5xf32>
  %y6 = dl.reshape %yl : (tensor<1x1x3xf32>) -> tensor<1x3xf32>
  %loss, %g = dl.scan 2 carry(%sum = %zero : tensor<f32>, %gradients = %zeros : tensor<5x3xf32>)
      slices(%a = %xs : tensor<2x3x5xf32>, %b = %ys : tensor<2x3x3xf32>)
      whole(%v = %w : tensor<5x3xf32>, %weight = %third : tensor<f32>) -> (tensor<f32>, tensor<5x3xf32>) {
    %p = dl.dot_general %a, %v batch [] x [] contract [1] x [0] : (tensor<3x5xf32>, tensor<5x3xf32>) -> tensor<3x3xf32>
    %mean = dl.mse %p, %b : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<f32>
    %share = dl.mul %mean, %weight : tensor<f32>
    %d = dl.gradient %share wrt %v : tensor<f32>, tensor<5x3xf32>
    %0 = dl.add %sum, %share : tensor<f32>
    %1 = dl.add %gradients, %d : tensor<5x3xf32>
    dl.yield %0, %1 : tensor<f32>, tensor<5x3xf32>
  }
  %p = dl.dot_general %x6, %w batch [] x [] contract [1] x [0] : (tensor<1x5xf32>, tensor<5x3xf32>) -> tensor<1x3xf32>
  %mean = dl.mse %p, %y6 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<f32>
  %share = dl.mul %mean, %seventh : tensor<f32>
  %d = dl.gradient %share wrt %w : tensor<f32>, tensor<5x3xf32>
  %0 = dl.add %loss, %share : tensor<f32>
  %1 = dl.add %g, %d : tensor<5x3xf32>
  return %0, %1 : tensor<f32>, tensor<5x3xf32>
}

// A tree of micro-batches, as --invariant has it.
func.func @tree(%x: tensor<48x5xf32>, %y: tensor<48x5xf32>) -> tensor<5x5xf32> attributes {dl.entry} {
  %zeros = dl.constant dense<-0.0> : tensor<5x5xf32>
  %xs = dl.micro_batches %x : tensor<48x5xf32> -> tensor<4x12x5xf32>
  %ys = dl.micro_batches %y : tensor<48x5xf32> -> tensor<4x12x5xf32>
  %x2 = dl.reshape %xs : (tensor<4x12x5xf32>) -> tensor<2x2x12x5xf32>
  %y2 = dl.reshape %ys : (tensor<4x12x5xf32>) -> tensor<2x2x12x5xf32>
  %g = dl.scan 2 carry(%outer = %zeros : tensor<5x5xf32>)
      slices(%xp = %x2 : tensor<2x2x12x5xf32>, %yp = %y2 : tensor<2x2x12x5xf32>) -> (tensor<5x5xf32>) {
    %none = dl.constant dense<-0.0> : tensor<5x5xf32>
    %i = dl.scan 2 carry(%inner = %none : tensor<5x5xf32>)
        slices(%a = %xp : tensor<2x12x5xf32>, %b = %yp : tensor<2x12x5xf32>) -> (tensor<5x5xf32>) {
      %d = dl.dot_general %a, %b batch [] x [] contract [0] x [0] : (tensor<12x5xf32>, tensor<12x5xf32>) -> tensor<5x5xf32>
      %s = dl.add %inner, %d : tensor<5x5xf32>
      dl.yield %s : tensor<5x5xf32>
    }
    %t = dl.add %outer, %i : tensor<5x5xf32>
    dl.yield %t : tensor<5x5xf32>
  }
  return %g : tensor<5x5xf32>
}
