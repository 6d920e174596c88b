// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @bounds_crossed(%x: tensor<4xf32>) {
  // expected-error@+1 {{'dl.clamp' op expects min <= max, got 1.000000e+00 and -1.000000e+00}}
  %0 = dl.clamp %x min(1.0) max(-1.0) : tensor<4xf32>
  return
}

// -----

func.func @bound_is_nan(%x: tensor<4xf32>) {
  // expected-error@+1 {{'dl.clamp' op expects min <= max, got nan and INF}}
  %0 = dl.clamp %x min(0x7FF8000000000000) : tensor<4xf32>
  return
}

// -----

func.func @unknown_formula(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected string or keyword containing one of the following enum values for attribute 'approximate' [none, tanh]}}
  %0 = dl.gelu %x approximate(erf) : tensor<4xf32>
  return
}
