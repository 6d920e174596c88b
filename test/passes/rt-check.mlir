// RUN: dlc-opt %s -rt-check -split-input-file -verify-diagnostics

rt.arena @activation class(activation) bytes(64)
rt.program @outside () -> () peak(0) {
  // expected-error @+1 {{expects bytes inside the arena's 64, from a multiple of 64, got [64, 80)}}
  %0 = rt.slice @activation[64, 16]
  rt.return
}

// -----

rt.arena @activation class(activation) bytes(128)
rt.program @unwritten () -> ("y": tensor<4xf32>) peak(0) {
  %0 = rt.slice @activation[0, 16]
  %1 = rt.result 0
  // expected-error @+1 {{expects to read written bytes, got activation [0, 16), not all of which are}}
  rt.copy %0 to %1 bytes(16)
  rt.return
}

// -----

// expected-error @+1 {{expects every result to be written, but result 0 is not}}
rt.program @no_result () -> ("y": tensor<4xf32>) peak(0) {
  rt.return
}

// -----

rt.program @argument ("x": tensor<4xf32>, "y": tensor<4xf32>) -> () peak(0) {
  %0 = rt.argument 0
  %1 = rt.argument 1
  // expected-error @+1 {{expects not to write argument 1}}
  rt.copy %0 to %1 bytes(16)
  rt.return
}

// -----

rt.arena @activation class(activation) bytes(128)
rt.kernel @k0 workspace(64) {
^bb0(%a: tensor<4xf32>):
  %y = dl.group kind(pointwise) [4] (%x = %a : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.neg %x : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  dl.yield %y : tensor<4xf32>
}
rt.program @workspace ("x": tensor<4xf32>) -> ("y": tensor<4xf32>) peak(0) {
  %0 = rt.argument 0
  %1 = rt.result 0
  // expected-error @+1 {{expects a workspace of 64 bytes}}
  rt.launch @k0 reads(%0) writes(%1)
  rt.return
}

// -----

rt.arena @activation class(activation) bytes(128)
rt.kernel @k0 workspace(0) {
^bb0(%a: tensor<4xf32>):
  %y = dl.group kind(pointwise) [4] (%x = %a : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.neg %x : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  dl.yield %y : tensor<4xf32>
}
rt.program @in_place ("x": tensor<4xf32>) -> () peak(0) {
  %0 = rt.argument 0
  %1 = rt.slice @activation[0, 16]
  rt.launch @k0 reads(%0) writes(%1)
  // expected-error @+1 {{expects write 0 and read 0 apart, or in place}}
  rt.launch @k0 reads(%1) writes(%1)
  rt.return
}

// -----

rt.arena @activation class(activation) bytes(128)
rt.kernel @k0 workspace(0) {
^bb0(%a: tensor<4xf32>):
  %y = dl.group kind(pointwise) [4] (%x = %a : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.neg %x : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  dl.yield %y : tensor<4xf32>
}
rt.program @size ("x": tensor<4xf32>) -> () peak(0) {
  %0 = rt.argument 0
  %1 = rt.slice @activation[0, 12]
  // expected-error @+1 {{expects a buffer of 16 bytes for 'tensor<4xf32>', got 12}}
  rt.launch @k0 reads(%0) writes(%1)
  rt.return
}
