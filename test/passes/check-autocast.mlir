// RUN: dlc-opt %s -dl-check-autocast -split-input-file -verify-diagnostics | FileCheck %s --allow-empty
// CHECK-NOT: dl.autocast

func.func @low(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{expects operands of 16 bits inside of autocast, got 'tensor<4x4xf32>'}}
  %h = dl.dot_general %x, %x batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %h : tensor<4x4xf32>
}

// -----

func.func @full(%x: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
  // expected-error @+1 {{expects f32 inside of autocast, got 'tensor<4x4xbf16>'}}
  %h = dl.softmax %x axis 1 {dl.autocast = bf16} : tensor<4x4xbf16>
  return %h : tensor<4x4xbf16>
}

// -----

func.func @right(%x: tensor<4x4xbf16>) -> tensor<4x4xf32> {
  %h = dl.dot_general %x, %x batch [] x [] contract [1] x [0] {dl.autocast = bf16} : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %w = dl.cast %h : tensor<4x4xbf16> to tensor<4x4xf32>
  %s = dl.softmax %w axis 1 {dl.autocast = bf16} : tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}
