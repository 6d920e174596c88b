// RUN: dlc compile %s --train=sgd --data-parallel --mesh data=2 --emit=local | FileCheck %s --check-prefix=LOCAL
// RUN: dlc compile %s --train=sgd --data-parallel --mesh data=2 --emit=fused | FileCheck %s --check-prefix=FUSED
// RUN: dlc compile %s --train=sgd --data-parallel --mesh data=2 -o %t.so
// RUN: dlc inspect %t.so | FileCheck %s
// RUN: dlc compile %s --train=sgd --data-parallel --mesh data=2 --emit=local -o %t.local.mlir
// RUN: dlc compile %t.local.mlir -o %t.local.so
// RUN: dlc inspect %t.local.so | FileCheck %s
// RUN: dlc compile %s --train=sgd --data-parallel --mesh data=2 --emit=rt -o %t.rt.mlir
// RUN: dlc compile %t.rt.mlir -o %t.rt.so
// RUN: dlc inspect %t.rt.so | FileCheck %s
// RUN: not dlc compile %t.local.mlir --mesh data=3 -o %t.other.so 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: dlc compile %s --train=sgd --emit=local | FileCheck %s --check-prefix=ONE

// Each member has half of the rows; one reduction of each gradient, one of the loss, one of the number of rows that count.
// All stages carry the fingerprint, so that programs compiled from them fit together.
// LOCAL: dl.mesh @mesh ["data" = 2]
// LOCAL: func.func @train(%{{.*}}: tensor<3x4xf32> {dl.global = tensor<6x4xf32>, dl.name = "x", dl.sharding = #dl.sharding<[data, _]>}
// LOCAL-COUNT-4: dl.all_reduce sum(data)
// LOCAL-NOT: dl.all_reduce
// FUSED: dl.group kind(collective)
// FUSED: tensors = ["w", "b"]
// FUSED: dl.group kind(wait)
// CHECK: train(x: f32[3,4] of f32[6,4], y: i64[3] of i64[6]) -> (loss: f32[])
// CHECK: mesh: data 2, 2 members
// CHECK: bucket 0: w, b
// OTHER: error: expects the mesh that was asked for, got another one; wanted data=3
// ONE-NOT: dl.all_reduce
dl.variable @w : tensor<5x4xf32> role(parameter) init(#dl.zeros)
dl.variable @b : tensor<5xf32> role(parameter) init(#dl.zeros)
func.func @train(%x: tensor<6x4xf32> {dl.name = "x"}, %y: tensor<6xi64> {dl.name = "y"}) -> (tensor<f32> {dl.name = "loss"}) attributes {dl.entry} {
  %w = dl.read @w : tensor<5x4xf32>
  %b = dl.read @b : tensor<5xf32>
  %h = dl.dot_general %x, %w batch [] x [] contract [1] x [1] : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
  %s = dl.broadcast %b dims [1] : (tensor<5xf32>) -> tensor<6x5xf32>
  %logits = dl.add %h, %s : tensor<6x5xf32>
  %loss = dl.cross_entropy %logits, %y : (tensor<6x5xf32>, tensor<6xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}
