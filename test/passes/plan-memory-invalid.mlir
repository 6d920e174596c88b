// RUN: dlc-opt %s -dl-plan-memory=memory-limit=500 -split-input-file -verify-diagnostics

// expected-error @below {{expects to need at most 500 bytes, got 640}}
// expected-note @below {{16 bit instead of 32 would save about 130 bytes (--amp=bf16)}}
// expected-note @below {{half the batch would save about 130 bytes}}
// expected-note @below {{bytes by class: activations 320, arguments and results 320, constants 0}}
func.func @limit(%x: tensor<8x8xf32>) -> tensor<f32> {
  // expected-note @+1 {{256 bytes live at the peak, in use there}}
  %0 = dl.group kind(pointwise) [8, 8] (%a = %x : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %1 = dl.exp %a : tensor<8x8xf32>
    dl.yield %1 : tensor<8x8xf32>
  }
  // expected-note @+1 {{4 bytes live at the peak, in use there}}
  %2 = dl.group kind(row) [8, 8] (%a = %0 : tensor<8x8xf32>) -> (tensor<f32>) {
    %1 = dl.reduce_sum %a over [0, 1] : (tensor<8x8xf32>) -> tensor<f32>
    dl.yield %1 : tensor<f32>
  }
  %3 = dl.group kind(pointwise) [] (%a = %2 : tensor<f32>) -> (tensor<f32>) {
    %1 = dl.neg %a : tensor<f32>
    dl.yield %1 : tensor<f32>
  }
  return %3 : tensor<f32>
}

// -----

func.func @not_fused(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{expects to be in a dl.group; run dl-fuse}}
  %0 = dl.neg %x : tensor<f32>
  return %0 : tensor<f32>
}

// -----

dl.variable @w : tensor<f32> role(parameter) init(#dl.zeros)
func.func @no_slot() attributes {dl.entry} {
  %w = dl.read @w : tensor<f32>
  %0 = dl.group kind(pointwise) [] (%a = %w : tensor<f32>) -> (tensor<f32>) {
    %1 = dl.neg %a : tensor<f32>
    dl.yield %1 : tensor<f32>
  }
  // expected-error @+1 {{expects a variable with a slot, got @w; run dl-layout-state}}
  dl.write @w, %0 : tensor<f32>
  return
}
