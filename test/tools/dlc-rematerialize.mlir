// Within a budget or a limit some kernels run again; the results are the same to the last bit, and dlc inspect says what.
// RUN: dlc compile %s -o %t.so && dlc compile %s --activation-budget 13824 -o %t.less.so && dlc compile %s --memory-limit 22016 -o %t.limit.so
// RUN: dlc inspect %t.less.so | FileCheck %s
// RUN: dlc inspect %t.limit.so | FileCheck %s
// RUN: dlc inspect %t.so | FileCheck %s --check-prefix=PLAIN
// RUN: dlc run %t.so --output y=%t.npy && dlc run %t.less.so --output y=%t.less.npy && cmp %t.npy %t.less.npy
// RUN: dlc run %t.limit.so --output y=%t.limit.npy && cmp %t.npy %t.limit.npy

// CHECK: computed again instead of kept
// CHECK-NEXT: dlc-rematerialize.mlir:[[#@LINE+6]]: computed again in f: 4096 bytes, about {{.*}} ms
// PLAIN-NOT: computed again
dl.variable @w : tensor<32x32xf32> role(parameter) init(#dl.uniform<-0.3, 0.3>)

func.func @f() -> (tensor<32x32xf32> {dl.name = "y"}) attributes {dl.entry} {
  %x = dl.read @w : tensor<32x32xf32>
  %0 = dl.exp %x : tensor<32x32xf32>
  %1 = dl.dot_general %0, %x batch [] x [] contract [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = dl.dot_general %1, %1 batch [] x [] contract [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %3 = dl.dot_general %2, %1 batch [] x [] contract [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %4 = dl.dot_general %3, %2 batch [] x [] contract [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %5 = dl.dot_general %4, %0 batch [] x [] contract [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %5 : tensor<32x32xf32>
}
