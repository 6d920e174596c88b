// RUN: dlc-opt %s -dl-check-plan -split-input-file -verify-diagnostics

dl.mesh @mesh ["data" = 2]
func.func @reads(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) attributes {dl.entry} {
  %e = dl.group kind(pointwise) [16] (%a = %x : tensor<16xf32>) -> (tensor<16xf32>) attributes {slots = [#dl.slot<"activation", 0, 64>]} {
    %0 = dl.exp %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  // expected-note@+1 {{the collective}}
  %r = dl.group kind(collective) [] (%a = %e : tensor<16xf32>) -> (tensor<16xf32>) attributes {in_place = array<i64: 0>, slots = [#dl.slot<"activation", 0, 64>]} {
    %0 = dl.all_reduce sum(data) %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  // expected-error@+1 {{expects to read no bytes between the start and the wait of a collective, got #dl.slot<"activation", 0, 64>}}
  %n = dl.group kind(pointwise) [16] (%a = %r : tensor<16xf32>) -> (tensor<16xf32>) attributes {slots = [#dl.slot<"result", 1, 64>]} {
    %0 = dl.neg %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  %w = dl.group kind(wait) [] (%a = %r : tensor<16xf32>) -> (tensor<16xf32>) attributes {slots = [#dl.slot<"activation", 0, 64>]} {
    %0 = dl.wait %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  %m = dl.group kind(pointwise) [16] (%a = %w : tensor<16xf32>) -> (tensor<16xf32>) attributes {slots = [#dl.slot<"result", 0, 64>]} {
    %0 = dl.neg %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  return %m, %n : tensor<16xf32>, tensor<16xf32>
}

// -----

// A gather's operand may be read meanwhile, not written.
dl.mesh @mesh ["data" = 2]
func.func @writes(%x: tensor<16xf32>) -> (tensor<32xf32>, tensor<16xf32>, tensor<16xf32>) attributes {dl.entry} {
  %e = dl.group kind(pointwise) [16] (%a = %x : tensor<16xf32>) -> (tensor<16xf32>) attributes {slots = [#dl.slot<"activation", 0, 64>]} {
    %0 = dl.exp %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  // expected-note@+1 {{the collective}}
  %r = dl.group kind(collective) [] (%a = %e : tensor<16xf32>) -> (tensor<32xf32>) attributes {slots = [#dl.slot<"result", 0, 128>]} {
    %0 = dl.all_gather(data) %a dim(0) : tensor<16xf32> -> tensor<32xf32>
    dl.yield %0 : tensor<32xf32>
  }
  %n = dl.group kind(pointwise) [16] (%a = %e : tensor<16xf32>) -> (tensor<16xf32>) attributes {slots = [#dl.slot<"result", 1, 64>]} {
    %0 = dl.neg %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  // expected-error@+1 {{expects to write no bytes between the start and the wait of a collective, got #dl.slot<"activation", 0, 64>}}
  %l = dl.group kind(pointwise) [16] (%a = %x : tensor<16xf32>) -> (tensor<16xf32>) attributes {slots = [#dl.slot<"activation", 0, 64>]} {
    %0 = dl.log %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  %m = dl.group kind(pointwise) [16] (%a = %l : tensor<16xf32>) -> (tensor<16xf32>) attributes {slots = [#dl.slot<"result", 2, 64>]} {
    %0 = dl.neg %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  %w = dl.group kind(wait) [] (%a = %r : tensor<32xf32>) -> (tensor<32xf32>) attributes {slots = [#dl.slot<"result", 0, 128>]} {
    %0 = dl.wait %a : tensor<32xf32>
    dl.yield %0 : tensor<32xf32>
  }
  return %w, %n, %m : tensor<32xf32>, tensor<16xf32>, tensor<16xf32>
}

// -----

// Operands of one reduction lie one behind the other.
dl.mesh @mesh ["data" = 2]
func.func @apart(%x: tensor<16xf32>) -> (tensor<16xf32>) attributes {dl.entry} {
  %e:2 = dl.group kind(pointwise) [16] (%a = %x : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) attributes {slots = [#dl.slot<"activation", 0, 64>, #dl.slot<"activation", 128, 64>]} {
    %0 = dl.exp %a : tensor<16xf32>
    %1 = dl.log %a : tensor<16xf32>
    dl.yield %0, %1 : tensor<16xf32>, tensor<16xf32>
  }
  // expected-error@+1 {{expects operands one behind the other, got #dl.slot<"activation", 0, 64> and #dl.slot<"activation", 128, 64>}}
  %r:2 = dl.group kind(collective) [] (%a = %e#0 : tensor<16xf32>, %b = %e#1 : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) attributes {in_place = array<i64: 0, 1>, slots = [#dl.slot<"activation", 0, 64>, #dl.slot<"activation", 128, 64>]} {
    %0:2 = dl.all_reduce sum(data) %a, %b : tensor<16xf32>, tensor<16xf32>
    dl.yield %0#0, %0#1 : tensor<16xf32>, tensor<16xf32>
  }
  %m = dl.group kind(pointwise) [16] (%a = %r#0 : tensor<16xf32>, %b = %r#1 : tensor<16xf32>) -> (tensor<16xf32>) attributes {slots = [#dl.slot<"result", 0, 64>]} {
    %0 = dl.add %a, %b : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  return %m : tensor<16xf32>
}

// -----

dl.mesh @mesh ["data" = 2]
func.func @elsewhere(%x: tensor<16xf32>) -> (tensor<16xf32>) attributes {dl.entry} {
  %e = dl.group kind(pointwise) [16] (%a = %x : tensor<16xf32>) -> (tensor<16xf32>) attributes {slots = [#dl.slot<"activation", 0, 64>]} {
    %0 = dl.exp %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  // expected-error@+1 {{expects to leave its results in its operands' bytes}}
  %r = dl.group kind(collective) [] (%a = %e : tensor<16xf32>) -> (tensor<16xf32>) attributes {slots = [#dl.slot<"activation", 64, 64>]} {
    %0 = dl.all_reduce sum(data) %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  %m = dl.group kind(pointwise) [16] (%a = %r : tensor<16xf32>) -> (tensor<16xf32>) attributes {slots = [#dl.slot<"result", 0, 64>]} {
    %0 = dl.neg %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  return %m : tensor<16xf32>
}

// -----

// The gap between two operands travels too: nothing that is needed later lies in it.
dl.mesh @mesh ["data" = 2]
func.func @gap(%x: tensor<4xf32>) -> (tensor<4xf32>) attributes {dl.entry} {
  // expected-note@+1 {{the value}}
  %k = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"activation", 16, 16>]} {
    %0 = dl.neg %a : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  %e:2 = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {slots = [#dl.slot<"activation", 0, 16>, #dl.slot<"activation", 64, 16>]} {
    %0 = dl.exp %a : tensor<4xf32>
    %1 = dl.log %a : tensor<4xf32>
    dl.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  // expected-error@+1 {{is needed later}}
  %r:2 = dl.group kind(collective) [] (%a = %e#0 : tensor<4xf32>, %b = %e#1 : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {in_place = array<i64: 0, 1>, slots = [#dl.slot<"activation", 0, 16>, #dl.slot<"activation", 64, 16>]} {
    %0:2 = dl.all_reduce sum(data) %a, %b : tensor<4xf32>, tensor<4xf32>
    dl.yield %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
  }
  %m = dl.group kind(pointwise) [4] (%a = %r#0 : tensor<4xf32>, %b = %r#1 : tensor<4xf32>, %c = %k : tensor<4xf32>) -> (tensor<4xf32>) attributes {slots = [#dl.slot<"result", 0, 16>]} {
    %0 = dl.add %a, %b : tensor<4xf32>
    %1 = dl.add %0, %c : tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  return %m : tensor<4xf32>
}
