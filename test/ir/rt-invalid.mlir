// RUN: dlc-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expects bytes in multiples of 64, got 100}}
rt.arena @activation class(activation) bytes(100)

// -----

// expected-error @+1 {{expects one dl.group and dl.yield in its body}}
rt.kernel @k0 workspace(0) {
^bb0(%a: tensor<4xf32>):
  dl.yield %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{expects a group of all block arguments whose results are yielded, in order}}
rt.kernel @k0 workspace(0) {
^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
  %y = dl.group kind(pointwise) [4] (%x = %a : tensor<4xf32>) -> (tensor<4xf32>) {
    dl.yield %x : tensor<4xf32>
  }
  dl.yield %y : tensor<4xf32>
}

// -----

rt.program @step () -> () peak(0) {
  // expected-error @+1 {{expects an index below 0, got 0}}
  %0 = rt.argument 0
  rt.return
}

// -----

func.func @group(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects in_place inputs below 1 or -1, got 1}}
  %y = dl.group kind(pointwise) [4] (%x = %a : tensor<4xf32>) -> (tensor<4xf32>) attributes {in_place = array<i64: 1>} {
    dl.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{expects a call #rt.matmul or #rt.conv, got "gemm"}}
rt.library @k0_0 call "gemm"

// -----

// expected-error @+1 {{expects a workspace of an operand's bytes, got bytes 0 + -1 of operand 3}}
rt.library @k0_0 call #rt.conv<kind = forward, element = f32, input = <operand = 0, offset = 0, extents = [1, 1, 1, 1], strides = [1, 1, 1, 1]>, weight = <operand = 1, offset = 0, extents = [1, 1, 1, 1], strides = [1, 1, 1, 1]>, output = <operand = 2, offset = 0, extents = [1, 1, 1, 1], strides = [1, 1, 1, 1]>, strides = [1, 1], padding = [0, 0], dilation = [1, 1]> workspace(3, at 0, -1)
