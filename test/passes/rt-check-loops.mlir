// RUN: dlc-opt %s -rt-check -split-input-file -verify-diagnostics

// Steps read a slice and what the step before wrote, and write the next; branches both write.
rt.arena @activation class(activation) bytes(256)
rt.kernel @k0 workspace(0) {
^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
  %y = dl.group kind(pointwise) [4] (%x = %a : tensor<4xf32>, %z = %b : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.add %x, %z : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  dl.yield %y : tensor<4xf32>
}
rt.program @right ("xs": tensor<3x4xf32>, "h": tensor<4xf32>, "p": tensor<i1>) -> ("y": tensor<4xf32>) peak(0) {
  %xs = rt.argument 0
  %h = rt.argument 1
  %p = rt.argument 2
  %y = rt.result 0
  %last = rt.slice @activation[0, 16]
  %other = rt.slice @activation[64, 16]
  rt.loop 3 slices(%xs) first(%h) last(%last) other(%other) {
  ^bb0(%x: !rt.buffer, %before: !rt.buffer, %next: !rt.buffer):
    rt.launch @k0 reads(%before, %x) writes(%next)
    rt.return
  }
  rt.if %p {
    rt.launch @k0 reads(%last, %h) writes(%y)
    rt.return
  } else {
    rt.copy %last to %y bytes(16)
    rt.return
  }
  rt.return
}

// -----

rt.arena @activation class(activation) bytes(256)
rt.program @carried ("h": tensor<4xf32>) -> () peak(0) {
  %h = rt.argument 0
  %last = rt.slice @activation[0, 16]
  %other = rt.slice @activation[64, 16]
  // expected-error @+1 {{expects to read written bytes, got step buffer 1 [0, 16), not all of which are}}
  rt.loop 3 slices() first(%h) last(%last) other(%other) {
  ^bb0(%before: !rt.buffer, %next: !rt.buffer):
    rt.return
  }
  rt.return
}

// -----

rt.arena @activation class(activation) bytes(256)
rt.program @overlap ("h": tensor<4xf32>) -> () peak(0) {
  %h = rt.argument 0
  %last = rt.slice @activation[0, 16]
  // expected-error @+1 {{expects what its steps write apart from all else it is given, got activation twice}}
  rt.loop 3 slices() first(%h) last(%last) other(%last) {
  ^bb0(%before: !rt.buffer, %next: !rt.buffer):
    rt.copy %before to %next bytes(16)
    rt.return
  }
  rt.return
}

// -----

rt.arena @activation class(activation) bytes(256)
rt.program @handed ("h": tensor<4xf32>) -> () peak(0) {
  %h = rt.argument 0
  %last = rt.slice @activation[0, 16]
  %other = rt.slice @activation[64, 16]
  rt.loop 3 slices() first(%h) last(%last) other(%other) {
  ^bb0(%before: !rt.buffer, %next: !rt.buffer):
    rt.copy %before to %next bytes(16)
    // expected-error @+1 {{expects not to write activation, which a loop around it hands to its steps}}
    rt.copy %before to %other bytes(16)
    rt.return
  }
  rt.return
}

// -----

// Where only one branch writes.
rt.arena @activation class(activation) bytes(256)
rt.program @branch ("p": tensor<i1>, "h": tensor<4xf32>) -> ("y": tensor<4xf32>) peak(0) {
  %p = rt.argument 0
  %h = rt.argument 1
  %y = rt.result 0
  %a = rt.slice @activation[0, 16]
  rt.if %p {
    rt.copy %h to %a bytes(16)
    rt.return
  } else {
    rt.return
  }
  // expected-error @+1 {{expects to read written bytes, got activation [0, 16), not all of which are}}
  rt.copy %a to %y bytes(16)
  rt.return
}

// -----

// A collective of each step ends in it.
dl.mesh @mesh ["data" = 2]
rt.arena @activation class(activation) bytes(256)
rt.collective @c0 kind(all_reduce) reduce(sum) axes(["data"]) element(f32) count(4) channel(1) tensors([])
rt.collective @c1 kind(all_reduce) reduce(sum) axes(["data"]) element(f32) count(4) channel(1) tensors([])
rt.program @exchange ("h": tensor<4xf32>) -> () peak(0) {
  %h = rt.argument 0
  %a = rt.slice @activation[0, 16]
  %last = rt.slice @activation[64, 16]
  %other = rt.slice @activation[128, 16]
  rt.loop 3 slices() first(%h) last(%last) other(%other) {
  ^bb0(%before: !rt.buffer, %next: !rt.buffer):
    rt.copy %before to %a bytes(16)
    rt.collective_start @c0 from(%a) to(%a)
    rt.collective_wait @c0
    rt.copy %a to %next bytes(16)
    rt.return
  }
  rt.loop 3 slices() first(%h) last(%last) other(%other) {
  ^bb0(%before: !rt.buffer, %next: !rt.buffer):
    rt.copy %before to %next bytes(16)
    rt.copy %before to %a bytes(16)
    rt.collective_start @c1 from(%a) to(%a) // expected-error {{expects a wait behind it in the same block}}
    rt.return
  }
  rt.return
}
