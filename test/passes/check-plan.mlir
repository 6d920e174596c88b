// RUN: dlc-opt %s -dl-check-plan -split-input-file -verify-diagnostics

// The first value is overwritten although the third group still reads it.
func.func @overwritten(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @+1 {{the value}}
  %0 = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"activation", 0, 16>]} {
    %1 = dl.neg %a : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  // expected-error @+1 {{expects bytes no one reads, got #dl.slot<"activation", 0, 16>, where a value is needed later}}
  %2 = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"activation", 0, 16>]} {
    %1 = dl.exp %a : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  %3 = dl.group kind(pointwise) [4] (%a = %0 : tensor<4xf32>, %b = %2 : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"result", 0, 16>]} {
    %1 = dl.add %a, %b : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  return %3 : tensor<4xf32>
}

// -----

// SHAPE-09: a reversal in place would read what it has written.
func.func @flip(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @+1 {{the value}}
  %0 = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"activation", 0, 16>]} {
    %1 = dl.neg %a : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  // expected-error @+1 {{where a value is read by other lanes}}
  %2 = dl.group kind(pointwise) [4] (%a = %0 : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"activation", 0, 16>], in_place = array<i64: 0>} {
    %1 = dl.reverse %a axes [0] : (tensor<4xf32>) -> tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  %3 = dl.group kind(pointwise) [4] (%a = %2 : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"result", 0, 16>]} {
    %1 = dl.neg %a : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  return %3 : tensor<4xf32>
}

// -----

// In place without saying so: the kernel would believe its operands apart.
func.func @unsaid(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @+1 {{the value}}
  %0 = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"result", 0, 16>]} {
    %1 = dl.neg %a : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  // expected-error @+1 {{where a value is}}
  %2 = dl.group kind(pointwise) [4] (%a = %0 : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"result", 0, 16>]} {
    %1 = dl.exp %a : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}

// -----

dl.variable @w : tensor<4xf32> role(parameter) init(#dl.zeros) slot(#dl.slot<"parameter.f32", 0, 16>)
func.func @someone_elses(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects not to overwrite @w, got #dl.slot<"parameter.f32", 0, 16>}}
  %0 = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"parameter.f32", 0, 16>]} {
    %1 = dl.neg %a : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  %2 = dl.group kind(pointwise) [4] (%a = %0 : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"result", 0, 16>]} {
    %1 = dl.exp %a : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}

// -----

dl.variable @w : tensor<4xf32> role(parameter) init(#dl.zeros) slot(#dl.slot<"parameter.f32", 0, 16>)
func.func @lost(%x: tensor<4xf32>) attributes {dl.entry} {
  %0 = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"activation", 0, 16>]} {
    %1 = dl.neg %a : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  // expected-error @+1 {{expects the new value in the variable's slot, got #dl.slot<"activation", 0, 16>}}
  dl.write @w, %0 : tensor<4xf32>
  return
}

// -----

// Parts run side by side: the first overwrites what the second reads.
func.func @other_part(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @+1 {{the value}}
  %0 = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"activation", 0, 16>]} {
    %1 = dl.neg %a : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  // expected-error @+1 {{where a value is read by other lanes}}
  %2:2 = dl.group kind(horizontal) [] (%a = %0 : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {slots = [#dl.slot<"activation", 0, 16>, #dl.slot<"result", 0, 16>], in_place = array<i64: 0, -1>} {
    %3 = dl.group kind(pointwise) [4] (%b = %a : tensor<4xf32>) -> (tensor<4xf32>) {
      %1 = dl.exp %b : tensor<4xf32>
      dl.yield %1 : tensor<4xf32>
    }
    %4 = dl.group kind(pointwise) [4] (%b = %a : tensor<4xf32>) -> (tensor<4xf32>) {
      %1 = dl.neg %b : tensor<4xf32>
      dl.yield %1 : tensor<4xf32>
    }
    dl.yield %3, %4 : tensor<4xf32>, tensor<4xf32>
  }
  return %2#1 : tensor<4xf32>
}

// -----

// A part may overwrite what it alone reads lane by lane, and no more.
func.func @part_flips(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @+1 {{the value}}
  %0:2 = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {slots = [#dl.slot<"activation", 0, 16>, #dl.slot<"activation", 64, 16>]} {
    %1 = dl.neg %a : tensor<4xf32>
    dl.yield %1, %a : tensor<4xf32>, tensor<4xf32>
  }
  // expected-error @+1 {{expects bytes no one reads, got #dl.slot<"activation", 64, 16>, where a value is read by other lanes}}
  %2:2 = dl.group kind(horizontal) [] (%a = %0#0 : tensor<4xf32>, %c = %0#1 : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {slots = [#dl.slot<"activation", 0, 16>, #dl.slot<"activation", 64, 16>], in_place = array<i64: 0, 1>} {
    %3 = dl.group kind(pointwise) [4] (%b = %a : tensor<4xf32>) -> (tensor<4xf32>) {
      %1 = dl.exp %b : tensor<4xf32>
      dl.yield %1 : tensor<4xf32>
    }
    %4 = dl.group kind(pointwise) [4] (%b = %c : tensor<4xf32>) -> (tensor<4xf32>) {
      %1 = dl.reverse %b axes [0] : (tensor<4xf32>) -> tensor<4xf32>
      dl.yield %1 : tensor<4xf32>
    }
    dl.yield %3, %4 : tensor<4xf32>, tensor<4xf32>
  }
  %5 = dl.group kind(pointwise) [4] (%a = %2#0 : tensor<4xf32>, %c = %2#1 : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"result", 0, 16>]} {
    %1 = dl.add %a, %c : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  return %5 : tensor<4xf32>
}
