// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @negative(%h: tensor<2xf32>) {
  // expected-error@+1 {{expects 0 or more steps, got -1}}
  %0 = dl.scan -1 carry(%a = %h : tensor<2xf32>) -> tensor<2xf32> {
    dl.yield %a : tensor<2xf32>
  }
  return
}

// -----

func.func @other_number_of_slices(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{expects 3 slices along dimension 0, got 'tensor<4x2xf32>'}}
  %0 = dl.scan 3 slices(%a = %x : tensor<4x2xf32>) -> tensor<3x2xf32> {
    dl.yield %a : tensor<2xf32>
  }
  return
}

// -----

func.func @slice_of_a_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{expects slices of a tensor of rank 1 or more, got 'tensor<f32>'}}
  %0 = dl.scan 3 slices(%a = %x : tensor<f32>) -> tensor<3xf32> {
    dl.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @carries_another_type(%h: tensor<2xf32>, %x: tensor<3x4xf32>) {
  // expected-error@+1 {{expects yielded value 0 of type 'tensor<2xf32>', got 'tensor<4xf32>'}}
  %0 = dl.scan 3 carry(%a = %h : tensor<2xf32>) slices(%b = %x : tensor<3x4xf32>) -> tensor<2xf32> {
    dl.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @stacked_type(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{expects result 0 of type 'tensor<3x4xf32>', got 'tensor<4xf32>'}}
  %0 = dl.scan 3 slices(%b = %x : tensor<3x4xf32>) -> tensor<4xf32> {
    dl.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @predicate(%p: tensor<1xi1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{expects a scalar predicate, got 'tensor<1xi1>'; use dl.select to choose element by element}}
  %0 = "dl.cond"(%p, %x) ({
  ^bb0(%a: tensor<4xf32>):
    dl.yield %a : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    dl.yield %a : tensor<4xf32>
  }) : (tensor<1xi1>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @results_differ(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{expects yielded value 0 of type 'tensor<4xf32>', got 'tensor<2xf32>'}}
  %0 = dl.cond %p (%a = %x : tensor<4xf32>, %b = %y : tensor<2xf32>) -> tensor<4xf32> {
    dl.yield %a : tensor<4xf32>
  } else (%a, %b) {
    dl.yield %b : tensor<2xf32>
  }
  return
}
