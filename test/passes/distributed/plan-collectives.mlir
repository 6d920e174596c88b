// RUN: dlc-opt %s -dl-bucket-gradients -dl-fuse -dl-overlap-collectives -dl-layout-state -dl-plan-memory -dl-check-plan -split-input-file | FileCheck %s
// RUN: dlc-opt %s -dl-bucket-gradients -dl-fuse -dl-overlap-collectives -dl-backend-pipeline -split-input-file | FileCheck %s --check-prefix=RT

// A reduction starts as soon as its operands are there, in front of the work of the next one, though that is written first; it
// is waited for when nothing else is left. Its operands lie one behind the other from a multiple of 64 on, and stay there.
dl.mesh @mesh ["data" = 2]
dl.variable @a : tensor<5x5xf32> role(parameter) init(#dl.zeros)
dl.variable @b : tensor<5x5xf32> role(parameter) init(#dl.zeros)
dl.variable @c : tensor<5x5xf32> role(parameter) init(#dl.zeros)
// CHECK-LABEL: func.func @order
// CHECK: %[[B:.*]] = dl.group kind(contract){{.*}}slots = [#dl.slot<"activation", [[#%d,AT:]], 100>]
// CHECK: %[[C:.*]] = dl.group kind(contract){{.*}}slots = [#dl.slot<"activation", [[#AT+128]], 100>]
// CHECK: %[[BC:.*]]:2 = dl.group kind(collective) [] ({{.*}} = %[[B]] : tensor<5x5xf32>, {{.*}} = %[[C]] : tensor<5x5xf32>){{.*}} attributes {in_place = array<i64: 0, 1>, slots = [#dl.slot<"activation", [[#AT]], 100>, #dl.slot<"activation", [[#AT+128]], 100>]}
// CHECK: %[[A0:.*]] = dl.group kind(contract)
// CHECK: %[[A:.*]] = dl.group kind(contract) {{.*}} = %[[A0]]
// CHECK: %[[AR:.*]] = dl.group kind(collective) [] ({{.*}} = %[[A]] :
// CHECK: %[[W:.*]]:2 = dl.group kind(wait) [] ({{.*}} = %[[BC]]#0 : {{.*}} = %[[BC]]#1 :{{.*}}slots = [#dl.slot<"activation", [[#AT]], 100>, #dl.slot<"activation", [[#AT+128]], 100>]
// CHECK: kind(pointwise) {{.*}} = %[[W]]#0
// CHECK: kind(pointwise) {{.*}} = %[[W]]#1
// CHECK: %[[V:.*]] = dl.group kind(wait) [] ({{.*}} = %[[AR]] :
// CHECK: kind(pointwise) {{.*}} = %[[V]]
// RT: rt.collective @c0 kind(all_reduce) reduce({{ ?}}sum) axes(["data"]) element(f32) count(57) channel(0) tensors(["b", "c"])
// RT: rt.collective @c1 kind(all_reduce) reduce({{ ?}}sum) axes(["data"]) element(f32) count(25) channel(0) tensors(["a"])
// RT-LABEL: rt.program @order
// RT: rt.launch
// RT: rt.launch
// RT-NEXT: %[[SLICE:.*]] = rt.slice @activation[{{.*}}, 228]
// RT-NEXT: rt.collective_start @c0 from(%[[SLICE]]) to(%[[SLICE]])
// RT: rt.launch
// RT: rt.launch
// RT: rt.collective_start @c1 from(%[[OWN:.*]]) to(%[[OWN]])
// RT-NEXT: rt.collective_wait @c0
// RT: rt.launch
// RT: rt.launch
// RT-NEXT: rt.collective_wait @c1
// RT-NOT: rt.collective
// RT: rt.launch
// RT-NEXT: rt.return
func.func @order(%x: tensor<5x5xf32>, %y: tensor<5x5xf32>) attributes {dl.entry} {
  %a = dl.read @a : tensor<5x5xf32>
  %b = dl.read @b : tensor<5x5xf32>
  %c = dl.read @c : tensor<5x5xf32>
  %da0 = dl.dot_general %x, %y batch [] x [] contract [1] x [1] : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %db = dl.dot_general %x, %x batch [] x [] contract [1] x [0] : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %dc = dl.dot_general %y, %y batch [] x [] contract [1] x [0] : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %g:2 = dl.all_reduce sum(data) %db, %dc : tensor<5x5xf32>, tensor<5x5xf32>
  %da = dl.dot_general %da0, %x batch [] x [] contract [1] x [0] : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %h = dl.all_reduce sum(data) %da {dl.bucket = 0 : i64, tensors = ["a"]} : tensor<5x5xf32>
  %na = dl.sub %a, %h : tensor<5x5xf32>
  %nb = dl.sub %b, %g#0 : tensor<5x5xf32>
  %nc = dl.sub %c, %g#1 : tensor<5x5xf32>
  dl.write @a, %na : tensor<5x5xf32>
  dl.write @b, %nb : tensor<5x5xf32>
  dl.write @c, %nc : tensor<5x5xf32>
  return
}

// -----

// What a collective may not change it takes as a copy: an argument, a variable, a value twice. A value that something else
// reads is read before the start, or copied where that reader comes later.
dl.mesh @mesh ["data" = 2]
dl.variable @v : tensor<4xf32> role(buffer) init(#dl.zeros)
// CHECK-LABEL: func.func @copies
// CHECK: %[[E:.*]] = dl.group kind(pointwise) [4] (%[[A:.*]] = %arg0 : tensor<4xf32>)
// CHECK: dl.exp %[[A]]
// RT-LABEL: rt.program @copies
// RT: rt.copy
// RT: rt.copy
// RT: rt.copy
// RT: rt.collective_start @c0
func.func @copies(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {dl.entry} {
  %v = dl.read @v : tensor<4xf32>
  %e = dl.exp %x : tensor<4xf32>
  %r:4 = dl.all_reduce sum(data) %x, %v, %e, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %s = dl.add %r#0, %r#1 : tensor<4xf32>
  %t = dl.add %r#2, %r#3 : tensor<4xf32>
  dl.write @v, %t : tensor<4xf32>
  return %s, %t : tensor<4xf32>, tensor<4xf32>
}

// -----

dl.mesh @mesh ["data" = 2]
// CHECK-LABEL: func.func @read_otherwise
// CHECK: %[[E:.*]] = dl.group kind(pointwise)
// CHECK: dl.exp
// CHECK: %[[L:.*]] = dl.group kind(pointwise) [4] (%{{.*}} = %[[E]]
// CHECK: dl.log
// CHECK: dl.group kind(collective) [] (%{{.*}} = %[[E]]
// CHECK: return
// RT-LABEL: rt.program @read_otherwise
// RT-NOT: rt.copy
func.func @read_otherwise(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {dl.entry} {
  %e = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.exp %a : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  %r = dl.group kind(collective) [] (%a = %e : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.all_reduce sum(data) %a : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  %l = dl.group kind(pointwise) [4] (%a = %e : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.log %a : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  %n = dl.group kind(pointwise) [4] (%a = %r : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = dl.neg %a : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  return %n, %l : tensor<4xf32>, tensor<4xf32>
}

// -----

// The operand of a gather is in use until the wait: the variable gets its new value behind it.
dl.mesh @mesh ["data" = 2]
dl.variable @v : tensor<2x4xf32> role(buffer) init(#dl.zeros)
// CHECK-LABEL: func.func @gather
// CHECK: %[[R:.*]] = dl.group kind(collective) {{.*}} -> tensor<4x4xf32> attributes {slots = [#dl.slot<"result", 0, 64>]}
// CHECK: dl.group kind(wait)
// CHECK: dl.exp
// RT: rt.collective @c0 kind(all_gather) axes(["data"]) element(f32) count(8) channel(1) tensors([])
// RT-LABEL: rt.program @gather
// RT: rt.collective_start @c0 from(%[[V:.*]]) to(%[[R:.*]])
// RT: rt.collective_wait @c0
// RT: rt.launch {{.*}} writes(%[[V]])
func.func @gather(%x: tensor<2x4xf32>) -> tensor<4x4xf32> attributes {dl.entry} {
  %v = dl.read @v : tensor<2x4xf32>
  %r = dl.all_gather(data) %v dim(0) : tensor<2x4xf32> -> tensor<4x4xf32>
  %e = dl.exp %x : tensor<2x4xf32>
  dl.write @v, %e : tensor<2x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// A count that the backward pass needs is under way while the loss is computed: what gives it shares no kernel with what takes
// longer, though both read the same, and its reduction is its own.
dl.mesh @mesh ["data" = 2]
dl.variable @w : tensor<32xf32> role(parameter) init(#dl.zeros)
// RT-LABEL: rt.program @count
// RT: rt.launch
// RT-NOT: rt.launch
// RT: rt.collective_start @[[COUNT:c[0-9]+]]
// RT: rt.launch
// RT: rt.collective_wait @[[COUNT]]
// RT: rt.launch
// RT: rt.collective_start @[[GRADIENT:c[0-9]+]]
// RT: rt.collective_wait
// RT: rt.collective_wait @[[GRADIENT]]
func.func @count(%x: tensor<8x32xf32>, %mask: tensor<8xf32>) -> tensor<f32> attributes {dl.entry} {
  %e = dl.exp %x : tensor<8x32xf32>
  %rows = dl.reduce_sum %e over [1] : (tensor<8x32xf32>) -> tensor<8xf32>
  %masked = dl.mul %rows, %mask : tensor<8xf32>
  %l = dl.reduce_sum %masked over [0] : (tensor<8xf32>) -> tensor<f32>
  %loss = dl.all_reduce sum(data) %l : tensor<f32>
  %c = dl.reduce_sum %mask over [0] : (tensor<8xf32>) -> tensor<f32>
  %count = dl.all_reduce sum(data) %c : tensor<f32>
  %mean = dl.div %loss, %count : tensor<f32>
  %d = dl.broadcast %count dims [] : (tensor<f32>) -> tensor<8x32xf32>
  %q = dl.div %e, %d : tensor<8x32xf32>
  %dw = dl.reduce_sum %q over [0] : (tensor<8x32xf32>) -> tensor<32xf32>
  %g = dl.all_reduce sum(data) %dw : tensor<32xf32>
  dl.write @w, %g : tensor<32xf32>
  return %mean : tensor<f32>
}
