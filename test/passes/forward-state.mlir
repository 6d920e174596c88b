// RUN: dlc-opt %s -dl-forward-state -split-input-file -verify-diagnostics | FileCheck %s

dl.variable @w : tensor<4xf32> role(parameter) init(#dl.zeros)
dl.variable @n : tensor<i64> role(counter) init(#dl.zeros)

// Reads of one variable merge at the top, in order of the first read.
// CHECK-LABEL: func.func @merge_reads
// CHECK-NEXT: %[[W:.*]] = dl.read @w
// CHECK-NEXT: %[[N:.*]] = dl.read @n
// CHECK-NEXT: %[[A:.*]] = dl.add %{{.*}}, %[[W]]
// CHECK-NEXT: %[[B:.*]] = dl.add %[[A]], %[[W]]
// CHECK-NEXT: return %[[B]], %[[N]]
func.func @merge_reads(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>) attributes {dl.entry} {
  %w0 = dl.read @w : tensor<4xf32>
  %a = dl.add %x, %w0 : tensor<4xf32>
  %n = dl.read @n : tensor<i64>
  %w1 = dl.read @w : tensor<4xf32>
  %b = dl.add %a, %w1 : tensor<4xf32>
  return %b, %n : tensor<4xf32>, tensor<i64>
}

// The last write stays, at the end; a read sees the write before it, behind a stop_gradient.
// CHECK-LABEL: func.func @read_after_write
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[S:.*]] = dl.stop_gradient %[[X]]
// CHECK-NEXT: %[[U:.*]] = dl.add %[[S]], %[[S]]
// CHECK-NEXT: %[[T:.*]] = dl.stop_gradient %[[U]]
// CHECK-NEXT: %[[Y:.*]] = dl.neg %[[T]]
// CHECK-NEXT: dl.write @w, %[[U]]
// CHECK-NEXT: return %[[Y]]
func.func @read_after_write(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  dl.write @w, %x : tensor<4xf32>
  %w0 = dl.read @w : tensor<4xf32>
  %w1 = dl.read @w : tensor<4xf32>
  %u = dl.add %w0, %w1 : tensor<4xf32>
  dl.write @w, %u : tensor<4xf32>
  %w2 = dl.read @w : tensor<4xf32>
  %y = dl.neg %w2 : tensor<4xf32>
  return %y : tensor<4xf32>
}

// A value read before the write is the old one.
// CHECK-LABEL: func.func @swap
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[W:.*]] = dl.read @w
// CHECK-NEXT: dl.write @w, %[[X]]
// CHECK-NEXT: return %[[W]]
func.func @swap(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  %old = dl.read @w : tensor<4xf32>
  dl.write @w, %x : tensor<4xf32>
  return %old : tensor<4xf32>
}

// CHECK-LABEL: func.func @unchanged
// CHECK-NOT: dl.write
// CHECK: return
func.func @unchanged(%x: tensor<4xf32>) attributes {dl.entry} {
  %old = dl.read @w : tensor<4xf32>
  dl.write @w, %x : tensor<4xf32>
  dl.write @w, %old : tensor<4xf32>
  %again = dl.read @w : tensor<4xf32>
  dl.write @w, %again : tensor<4xf32>
  return
}

// -----

dl.variable @w : tensor<4xf32> role(parameter) init(#dl.zeros)
func.func @no_entry() -> tensor<4xf32> {
  // expected-error@+1 {{expects to be in an entry, got function @no_entry without dl.entry}}
  %w = dl.read @w : tensor<4xf32>
  return %w : tensor<4xf32>
}

// -----

dl.variable @w : tensor<4xf32> role(parameter) init(#dl.zeros)
func.func @in_region(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  %y = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{expects to be in the top block of an entry, got a place inside 'dl.group'; pass the value in as an operand}}
    %w = dl.read @w : tensor<4xf32>
    dl.yield %w : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
