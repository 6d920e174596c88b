// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @shapes_differ(%x: tensor<4xf32>) {
  // expected-error@+1 {{'dl.cast' op expects a result of the operand's shape, got 'tensor<4xf32>' and 'tensor<5xi32>'}}
  %0 = dl.cast %x : tensor<4xf32> to tensor<5xi32>
  return
}
