// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @softmax_axis(%x: tensor<2xf32>) {
  // expected-error@+1 {{expects axis in [0, 1), got 1}}
  %0 = dl.softmax %x axis 1 : tensor<2xf32>
  return
}

// -----

func.func @log_softmax_axis(%x: tensor<2xf32>) {
  // expected-error@+1 {{expects axis in [0, 1), got -1}}
  %0 = dl.log_softmax %x axis -1 : tensor<2xf32>
  return
}
