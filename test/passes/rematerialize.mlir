// RUN: dlc-opt %s -dl-fuse -dl-layout-state -dl-rematerialize=activation-budget=12800 -split-input-file | FileCheck %s
// RUN: dlc-opt %s -dl-fuse -dl-layout-state -dl-rematerialize=activation-budget=12800 -dl-plan-memory -dl-check-plan -split-input-file | FileCheck %s --check-prefix=PLAN
// RUN: dlc-opt %s -dl-fuse -dl-layout-state -dl-rematerialize=memory-limit=21248 -dl-plan-memory -dl-check-plan -split-input-file | FileCheck %s --check-prefix=PLAN
// RUN: dlc-opt %s -dl-fuse -dl-layout-state -dl-rematerialize -split-input-file | FileCheck %s --check-prefix=NONE

// %0 waits for its second reader while %1 … %3 follow each other. It is cheap: computed again, behind %3.
// CHECK-LABEL: func.func @cheap
// CHECK-SAME: dl.kept = 16384
// CHECK-SAME: dl.recomputed = [{bytes = 4096 : i64, milliseconds = {{.*}}, place = {{.*}}}]
// CHECK: dl.exp
// CHECK: %[[D:.*]] = dl.group kind(contract)
// CHECK: %[[B:.*]] = dl.group kind(pointwise) [32, 32] ({{.*}} = %arg0 : tensor<32x32xf32>, {{.*}} = %{{.*}} : tensor<32x32xf32>)
// CHECK-NEXT: dl.barrier_value
// CHECK: dl.group kind(pointwise) [32, 32] ({{.*}} = %[[B]]
// CHECK-NEXT: dl.exp
// CHECK: dl.group kind(contract)
// PLAN-LABEL: func.func @cheap
// NONE-LABEL: func.func @cheap
// NONE-NOT: dl.barrier_value
func.func @cheap(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = dl.exp %x : tensor<32x32xf32>
  %1 = dl.dot_general %0, %x batch [] x [] contract [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = dl.dot_general %1, %1 batch [] x [] contract [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %3 = dl.dot_general %2, %1 batch [] x [] contract [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %4 = dl.dot_general %3, %2 batch [] x [] contract [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %5 = dl.dot_general %4, %0 batch [] x [] contract [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %5 : tensor<32x32xf32>
}
