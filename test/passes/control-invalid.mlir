// RUN: dlc-opt %s -dl-check-plan -split-input-file -verify-diagnostics

// The value is carried in place, although a later group still reads the old one.
func.func @overwritten(%h0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dl.group kind(control) [] (%c = %h0 : tensor<4xf32>) -> tensor<4xf32> attributes {slots = [#dl.slot<"result", 0, 16>], workspace = #dl.slot<"activation", 0, 64>} {
    %1 = dl.scan 2 carry(%h = %c : tensor<4xf32>) -> tensor<4xf32> attributes {second_buffers = array<i64: -1>} {
      // expected-note@-1 {{the value}}
      // expected-error@+1 {{where a value is needed later}}
      %2 = dl.group kind(pointwise) [4] (%a = %h : tensor<4xf32>) -> tensor<4xf32> attributes {in_place = array<i64: 0>, slots = [#dl.slot<"argument", 0, 16>]} {
        %4 = dl.exp %a : tensor<4xf32>
        dl.yield %4 : tensor<4xf32>
      }
      %3 = dl.group kind(pointwise) [4] (%a = %h : tensor<4xf32>) -> tensor<4xf32> attributes {slots = [#dl.slot<"activation", 0, 16>]} {
        %4 = dl.exp %a : tensor<4xf32>
        dl.yield %4 : tensor<4xf32>
      }
      dl.yield %2 : tensor<4xf32>
    }
    dl.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// The memory of the body is larger than the workspace.
func.func @too_small(%h0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dl.group kind(control) [] (%c = %h0 : tensor<4xf32>) -> tensor<4xf32> attributes {slots = [#dl.slot<"result", 0, 16>], workspace = #dl.slot<"activation", 0, 64>} {
    %1 = dl.scan 2 carry(%h = %c : tensor<4xf32>) -> tensor<4xf32> attributes {second_buffers = array<i64: 0>} {
      // expected-error@+1 {{expects a slot in the 64 bytes of its region, got #dl.slot<"activation", 64, 16>}}
      %2 = dl.group kind(pointwise) [4] (%a = %h : tensor<4xf32>) -> tensor<4xf32> attributes {slots = [#dl.slot<"activation", 64, 16>]} {
        %4 = dl.exp %a : tensor<4xf32>
        dl.yield %4 : tensor<4xf32>
      }
      %3 = dl.group kind(pointwise) [4] (%a = %2 : tensor<4xf32>) -> tensor<4xf32> attributes {slots = [#dl.slot<"result", 0, 16>]} {
        %4 = dl.exp %a : tensor<4xf32>
        dl.yield %4 : tensor<4xf32>
      }
      dl.yield %3 : tensor<4xf32>
    }
    dl.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// The second buffer of the carried value is written.
func.func @second_buffer(%h0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dl.group kind(control) [] (%c = %h0 : tensor<4xf32>) -> tensor<4xf32> attributes {slots = [#dl.slot<"result", 0, 16>], workspace = #dl.slot<"activation", 0, 64>} {
    %1 = dl.scan 2 carry(%h = %c : tensor<4xf32>) -> tensor<4xf32> attributes {second_buffers = array<i64: 0>} {
      // expected-error@+1 {{expects bytes apart from the second buffer of a carried value, got #dl.slot<"activation", 0, 16>}}
      %2 = dl.group kind(pointwise) [4] (%a = %h : tensor<4xf32>) -> tensor<4xf32> attributes {slots = [#dl.slot<"activation", 0, 16>]} {
        %4 = dl.exp %a : tensor<4xf32>
        dl.yield %4 : tensor<4xf32>
      }
      %3 = dl.group kind(pointwise) [4] (%a = %2 : tensor<4xf32>) -> tensor<4xf32> attributes {slots = [#dl.slot<"result", 0, 16>]} {
        %4 = dl.exp %a : tensor<4xf32>
        dl.yield %4 : tensor<4xf32>
      }
      dl.yield %3 : tensor<4xf32>
    }
    dl.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
