// RUN: dlc compile %s -o %t.so
// RUN: dlc inspect %t.so | FileCheck %s
// RUN: dlc inspect %t.so --json | FileCheck %s --check-prefix=JSON
// RUN: dlc compile %s --bucket-mb=0.000001 -o %t.small.so
// RUN: dlc inspect %t.small.so | FileCheck %s --check-prefix=SMALL
// RUN: not dlc compile %s --mesh=data -o %t.so 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not dlc compile %s --mesh=data=0 -o %t.so 2>&1 | FileCheck %s --check-prefix=ZERO

// Two launches make the gradients; both are reduced when the second is done, and waited for behind the third, which needs
// neither. Two more copy what was reduced.
// CHECK: step(x: f32[3,8] of f32[6,8]) -> (y: f32[3,8] of f32[6,8])
// CHECK: mesh: data 2, 2 members
// CHECK-NEXT: program {{[0-9a-f]+}}  sequence {{[0-9a-f]+}}
// CHECK: collectives
// CHECK-NEXT: #0{{ +}}all_reduce sum(data){{ +}}288 bytes f32  channel 0  ready after launch 2 of 5, waited for after 3  bucket 0: a, b  {{.*}}dlc-inspect-mesh.mlir:[[# @LINE + 17]]: dl.all_reduce
// JSON: "axes":["data"],"channel":0,"count":72,"dtype":"f32","entry":0,"kind":"all_reduce","reduce":"sum"
// JSON: "sharding":{"dims":[{"axes":["data"],"borders":[0,3,6]},null],"global":[6,8]}
// JSON: "fingerprint":{"program":"
// JSON: "mesh":[{"name":"data","size":2}]
// SMALL: #0{{ +}}all_reduce sum(data){{ +}}256 bytes f32 {{.*}} bucket 0: a
// SMALL-NEXT: #1{{ +}}all_reduce sum(data){{ +}}32 bytes f32 {{.*}} bucket 1: b
// MESH: --mesh: expected axis=members, got 'data'
// ZERO: --mesh: expected axis=members, got 'data=0'
module attributes {dl.local} {
  dl.mesh @mesh ["data" = 2]
  dl.variable @a : tensor<8x8xf32> role(parameter) init(#dl.zeros)
  dl.variable @b : tensor<8xf32> role(parameter) init(#dl.zeros)
  func.func @step(%x: tensor<3x8xf32> {dl.name = "x", dl.sharding = #dl.sharding<[data, _]>, dl.global = tensor<6x8xf32>})
      -> (tensor<3x8xf32> {dl.name = "y", dl.sharding = #dl.sharding<[data, _]>, dl.global = tensor<6x8xf32>}) attributes {dl.entry} {
    %db = dl.reduce_sum %x over [0] : (tensor<3x8xf32>) -> tensor<8xf32>
    %da = dl.dot_general %x, %x batch [] x [] contract [0] x [0] : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<8x8xf32>
    %ga = dl.all_reduce sum(data) %da : tensor<8x8xf32>
    %gb = dl.all_reduce sum(data) %db : tensor<8xf32>
    %y = dl.exp %x : tensor<3x8xf32>
    dl.write @a, %ga : tensor<8x8xf32>
    dl.write @b, %gb : tensor<8xf32>
    return %y : tensor<3x8xf32>
  }
}
