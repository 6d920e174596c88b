// RUN: dlc-opt %s -rt-check -split-input-file -verify-diagnostics

dl.mesh @mesh ["data" = 2]
rt.arena @activation class(activation) bytes(256)
rt.kernel @k0 workspace(0) {
^bb0(%x: tensor<16xf32>):
  %y = dl.group kind(pointwise) [16] (%a = %x : tensor<16xf32>) -> (tensor<16xf32>) {
    %0 = dl.neg %a : tensor<16xf32>
    dl.yield %0 : tensor<16xf32>
  }
  dl.yield %y : tensor<16xf32>
}
rt.collective @c0 kind(all_reduce) reduce(sum) axes(["data"]) element(f32) count(16) channel(0) tensors(["w"])
rt.collective @c1 kind(all_gather) axes(["data"]) element(f32) count(16) channel(1) tensors([])
rt.collective @c2 kind(reduce_scatter) reduce(max) axes(["data"]) element(f32) count(8) channel(1) tensors([])
rt.program @right ("x": tensor<16xf32>) -> ("y": tensor<8xf32>) peak(0) {
  %x = rt.argument 0
  %y = rt.result 0
  %a = rt.slice @activation[0, 64]
  %b = rt.slice @activation[64, 128]
  rt.launch @k0 reads(%x) writes(%a)
  rt.collective_start @c0 from(%a) to(%a)
  rt.collective_start @c1 from(%x) to(%b)
  rt.collective_wait @c0
  rt.collective_start @c2 from(%a) to(%y)
  rt.collective_wait @c1
  rt.collective_wait @c2
  rt.return
}

// -----

dl.mesh @mesh ["data" = 2]
rt.collective @c0 kind(all_gather) axes(["data"]) element(f32) count(16) channel(0) tensors([])
rt.program @no_wait ("x": tensor<16xf32>) -> ("y": tensor<32xf32>) peak(0) {
  %x = rt.argument 0
  %y = rt.result 0
  rt.collective_start @c0 from(%x) to(%y) // expected-error {{expects a wait behind it in the same block}}
  rt.return
}

// -----

dl.mesh @mesh ["data" = 2]
rt.collective @c0 kind(all_gather) axes(["data"]) element(f32) count(16) channel(0) tensors([])
rt.program @waits_twice ("x": tensor<16xf32>) -> ("y": tensor<32xf32>) peak(0) {
  %x = rt.argument 0
  %y = rt.result 0
  rt.collective_start @c0 from(%x) to(%y)
  rt.collective_wait @c0
  rt.collective_wait @c0 // expected-error {{expects a start of @c0 in front of it}}
  rt.return
}

// -----

dl.mesh @mesh ["data" = 2]
rt.collective @c0 kind(all_gather) axes(["data"]) element(f32) count(16) channel(0) tensors([])
rt.program @starts_twice ("x": tensor<16xf32>) -> ("y": tensor<32xf32>) peak(0) {
  %x = rt.argument 0
  %y = rt.result 0
  rt.collective_start @c0 from(%x) to(%y)
  rt.collective_wait @c0
  rt.collective_start @c0 from(%x) to(%y) // expected-error {{expects to be the only start of @c0}}
  rt.return
}

// -----

dl.mesh @mesh ["data" = 2]
rt.program @none ("x": tensor<16xf32>) -> ("y": tensor<32xf32>) peak(0) {
  %x = rt.argument 0
  %y = rt.result 0
  rt.collective_start @c0 from(%x) to(%y) // expected-error {{expects a collective, got @c0, which is none}}
  rt.return
}

// -----

dl.mesh @mesh ["data" = 3]
rt.collective @c0 kind(all_gather) axes(["data"]) element(f32) count(16) channel(0) tensors([])
rt.program @sizes ("x": tensor<16xf32>) -> ("y": tensor<32xf32>) peak(0) {
  %x = rt.argument 0
  %y = rt.result 0
  rt.collective_start @c0 from(%x) to(%y) // expected-error {{expects buffers of 64 and 192 bytes, got 64 and 128}}
  rt.return
}

// -----

// expected-error@+1 {{expects a dl.mesh with the axes ["data"]}}
rt.collective @c0 kind(all_gather) axes(["data"]) element(f32) count(16) channel(0) tensors([])
rt.program @no_mesh ("x": tensor<16xf32>) -> ("y": tensor<32xf32>) peak(0) {
  %x = rt.argument 0
  %y = rt.result 0
  rt.collective_start @c0 from(%x) to(%y)
  rt.return
}

// -----

dl.mesh @mesh ["data" = 2]
rt.arena @activation class(activation) bytes(256)
rt.collective @c0 kind(all_reduce) reduce(sum) axes(["data"]) element(f32) count(16) channel(0) tensors([])
rt.program @touches ("x": tensor<16xf32>) -> ("y": tensor<16xf32>) peak(0) {
  %x = rt.argument 0
  %y = rt.result 0
  %a = rt.slice @activation[0, 64]
  rt.copy %x to %a bytes(64)
  rt.collective_start @c0 from(%a) to(%a)
  rt.copy %a to %y bytes(64) // expected-error {{expects not to touch activation [0, 64) between the start and the wait of @c0}}
  rt.collective_wait @c0
  rt.return
}

// -----

dl.mesh @mesh ["data" = 2]
rt.arena @activation class(activation) bytes(256)
rt.collective @c0 kind(all_reduce) reduce(sum) axes(["data"]) element(f32) count(20) channel(0) tensors([])
rt.program @unwritten ("x": tensor<4xf32>) -> ("y": tensor<4xf32>) peak(0) {
  %x = rt.argument 0
  %y = rt.result 0
  %a = rt.slice @activation[0, 16]
  %b = rt.slice @activation[64, 16]
  %c = rt.slice @activation[0, 80]
  rt.copy %x to %a bytes(16)
  rt.collective_start @c0 from(%c) to(%c) // expected-error {{expects to read written bytes}}
  rt.collective_wait @c0
  rt.copy %b to %y bytes(16)
  rt.return
}

// -----

// expected-error@+1 {{expects reduce() of an all_reduce and a reduce_scatter alone}}
rt.collective @c0 kind(all_gather) reduce(sum) axes(["data"]) element(f32) count(16) channel(0) tensors([])
