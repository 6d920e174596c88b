// RUN: dlc-opt %s -dl-check-collectives -split-input-file -verify-diagnostics

module attributes {dl.local} {
  dl.mesh @mesh ["data" = 2, "model" = 2]
  dl.variable @w : tensor<4xf32> role(parameter) init(#dl.zeros)
  dl.variable @mesh.data : tensor<i64> role(coordinate) init(#dl.zeros)
  // What is summed over an axis is equal along it; what is kept split says so.
  func.func @right(%x: tensor<2x4xf32> {dl.sharding = #dl.sharding<[data, _]>, dl.global = tensor<4x4xf32>})
      -> (tensor<4xf32>, tensor<2x4xf32> {dl.sharding = #dl.sharding<[data, _]>, dl.global = tensor<4x4xf32>}) attributes {dl.entry} {
    %s = dl.reduce_sum %x over [0] : (tensor<2x4xf32>) -> tensor<4xf32>
    %r = dl.all_reduce sum(data) %s : tensor<4xf32>
    dl.write @w, %r : tensor<4xf32>
    %n = dl.neg %x : tensor<2x4xf32>
    return %r, %n : tensor<4xf32>, tensor<2x4xf32>
  }
}

// -----

module attributes {dl.local} {
  dl.mesh @mesh ["data" = 2]
  dl.variable @w : tensor<4xf32> role(parameter) init(#dl.zeros)
  func.func @forgotten(%x: tensor<2x4xf32> {dl.sharding = #dl.sharding<[data, _]>, dl.global = tensor<4x4xf32>}) attributes {dl.entry} {
    %s = dl.reduce_sum %x over [0] : (tensor<2x4xf32>) -> tensor<4xf32>
    // expected-error@+1 {{expects a new value that is equal on all members, got one that differs along data}}
    dl.write @w, %s : tensor<4xf32>
    return
  }
}

// -----

module attributes {dl.local} {
  dl.mesh @mesh ["data" = 2, "model" = 2]
  // A sum over one axis leaves what differs along the other.
  func.func @half(%x: tensor<2x4xf32> {dl.sharding = #dl.sharding<[data * model, _]>, dl.global = tensor<8x4xf32>}) -> tensor<4xf32> attributes {dl.entry} {
    %s = dl.reduce_sum %x over [0] : (tensor<2x4xf32>) -> tensor<4xf32>
    %r = dl.all_reduce sum(data) %s : tensor<4xf32>
    // expected-error@+1 {{expects result 0 to be equal on all members, got one that differs along model}}
    return %r : tensor<4xf32>
  }
}

// -----

module attributes {dl.local} {
  dl.mesh @mesh ["data" = 2]
  dl.variable @mesh.data : tensor<i64> role(coordinate) init(#dl.zeros)
  func.func @coordinate() -> tensor<i64> attributes {dl.entry} {
    %i = dl.read @mesh.data : tensor<i64>
    // Inside groups each result counts for itself.
    %g:2 = dl.group kind(pointwise) [] (%a = %i : tensor<i64>) -> (tensor<i64>, tensor<i64>) {
      %0 = dl.add %a, %a : tensor<i64>
      %1 = dl.constant dense<1> : tensor<i64>
      dl.yield %0, %1 : tensor<i64>, tensor<i64>
    }
    // expected-error@+1 {{expects result 0 to be equal on all members, got one that differs along data}}
    return %g#0 : tensor<i64>
  }
  func.func @constant() -> tensor<i64> attributes {dl.entry} {
    %i = dl.read @mesh.data : tensor<i64>
    %g:2 = dl.group kind(pointwise) [] (%a = %i : tensor<i64>) -> (tensor<i64>, tensor<i64>) {
      %0 = dl.add %a, %a : tensor<i64>
      %1 = dl.constant dense<1> : tensor<i64>
      dl.yield %0, %1 : tensor<i64>, tensor<i64>
    }
    return %g#1 : tensor<i64>
  }
}

// -----

module attributes {dl.local} {
  dl.mesh @mesh ["data" = 2]
  func.func @two_waits(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {dl.entry} {
    // expected-error@+1 {{expects one wait for all its results, got 2}}
    %r:2 = dl.group kind(collective) [] (%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0:2 = dl.all_reduce sum(data) %a, %b : tensor<4xf32>, tensor<4xf32>
      dl.yield %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
    }
    %v = dl.group kind(wait) [] (%a = %r#0 : tensor<4xf32>) -> (tensor<4xf32>) {
      %0 = dl.wait %a : tensor<4xf32>
      dl.yield %0 : tensor<4xf32>
    }
    %w = dl.group kind(wait) [] (%a = %r#1 : tensor<4xf32>) -> (tensor<4xf32>) {
      %0 = dl.wait %a : tensor<4xf32>
      dl.yield %0 : tensor<4xf32>
    }
    return %v, %w : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module attributes {dl.local} {
  dl.mesh @mesh ["data" = 2]
  func.func @no_collective(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
    // expected-error@+1 {{expects to wait for results of collectives}}
    %w = dl.group kind(wait) [] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %0 = dl.wait %a : tensor<4xf32>
      dl.yield %0 : tensor<4xf32>
    }
    return %w : tensor<4xf32>
  }
}

// -----

module attributes {dl.local} {
  dl.mesh @mesh ["data" = 2]
  func.func @dim(%x: tensor<4x4xf32>) -> tensor<4x8xf32> attributes {dl.entry} {
    // expected-error@+1 {{expects dim(0), got dim(1); exchange the dims before and after}}
    %r = dl.all_gather(data) %x dim(1) : tensor<4x4xf32> -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }
}

// -----

module attributes {dl.local} {
  dl.mesh @mesh ["data" = 2]
  // All take as many steps, each with its exchange; what differs comes round to the next step.
  func.func @steps(%xs: tensor<2x3x4xf32> {dl.sharding = #dl.sharding<[_, data, _]>, dl.global = tensor<2x6x4xf32>},
                   %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {dl.entry} {
    %sum, %own = dl.scan 2 carry(%a = %h : tensor<4xf32>, %b = %h : tensor<4xf32>) slices(%x = %xs : tensor<2x3x4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = dl.reduce_sum %x over [0] : (tensor<3x4xf32>) -> tensor<4xf32>
      %1 = dl.all_reduce sum(data) %0 : tensor<4xf32>
      %2 = dl.add %a, %1 : tensor<4xf32>
      dl.yield %2, %0 : tensor<4xf32>, tensor<4xf32>
    }
    // expected-error@+1 {{expects result 1 to be equal on all members, got one that differs along data}}
    return %sum, %own : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module attributes {dl.local} {
  dl.mesh @mesh ["data" = 2]
  dl.variable @mesh.data : tensor<i64> role(coordinate) init(#dl.zeros)
  func.func @ways(%h: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
    %i = dl.read @mesh.data : tensor<i64>
    %zero = dl.constant dense<0> : tensor<i64>
    %first = dl.compare eq, %i, %zero : tensor<i64>
    %y = dl.cond %first (%a = %h : tensor<4xf32>) -> (tensor<4xf32>) {
      // expected-error@+1 {{expects members to take the same way to it, but that may differ along data}}
      %0 = dl.all_reduce sum(data) %a : tensor<4xf32>
      dl.yield %0 : tensor<4xf32>
    } else (%a) {
      dl.yield %a : tensor<4xf32>
    }
    return %y : tensor<4xf32>
  }
}
