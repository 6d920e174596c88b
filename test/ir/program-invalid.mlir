// RUN: dlc-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{'dl.variable' op expects a static shape, got 'tensor<?xf32>'}}
dl.variable @w : tensor<?xf32> role(parameter) init(#dl.zeros)

// -----

// expected-error@+1 {{'dl.variable' op expects initial data of type 'tensor<2xf32>', got 'tensor<3xf32>'}}
dl.variable @w : tensor<2xf32> role(parameter) init(dense<0.0> : tensor<3xf32>)

// -----

func.func @no_variable() -> tensor<2xf32> {
  // expected-error@+1 {{'dl.read' op expects a dl.variable, got @w, which is none}}
  %w = dl.read @w : tensor<2xf32>
  return %w : tensor<2xf32>
}

// -----

dl.variable @w : tensor<2xf32> role(parameter) init(#dl.zeros)
func.func @other_type(%x: tensor<3xf32>) {
  // expected-error@+1 {{'dl.write' op expects the type of @w, 'tensor<2xf32>', got 'tensor<3xf32>'}}
  dl.write @w, %x : tensor<3xf32>
  return
}

// -----

func.func @loss_is_no_scalar(%x: tensor<3xf32>) {
  // expected-error@+1 {{'dl.gradient' op expects a scalar loss (rank 0), got 'tensor<3xf32>'}}
  %g = dl.gradient %x wrt %x : tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @group_yields_other_types(%x: tensor<3xf32>) {
  // expected-error@+1 {{'dl.group' op expects a body ending in dl.yield of the result types}}
  %r = dl.group kind(pointwise) [3] (%a = %x : tensor<3xf32>) -> (tensor<3xi1>) {
    dl.yield %a : tensor<3xf32>
  }
  return
}

// -----

func.func @part(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dl.group kind(horizontal) [] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    // expected-error @+1 {{expects to be a group of kind pointwise inside one of kind horizontal}}
    %1 = dl.neg %a : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @dependent_parts(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = dl.group kind(horizontal) [] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %1 = dl.group kind(pointwise) [4] (%b = %a : tensor<4xf32>) -> (tensor<4xf32>) {
      %2 = dl.neg %b : tensor<4xf32>
      dl.yield %2 : tensor<4xf32>
    }
    // expected-error @+1 {{expects to be independent of the other parts of the horizontal group}}
    %3 = dl.group kind(pointwise) [4] (%b = %1 : tensor<4xf32>) -> (tensor<4xf32>) {
      %2 = dl.neg %b : tensor<4xf32>
      dl.yield %2 : tensor<4xf32>
    }
    dl.yield %1, %3 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @parts_in_order(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @+1 {{expects to yield all results of its parts in order}}
  %0:2 = dl.group kind(horizontal) [] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %1:2 = dl.group kind(pointwise) [4] (%b = %a : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %2 = dl.neg %b : tensor<4xf32>
      dl.yield %2, %b : tensor<4xf32>, tensor<4xf32>
    }
    dl.yield %1#1, %1#0 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
