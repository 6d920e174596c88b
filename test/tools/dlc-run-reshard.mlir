// Parts of sums and of other dims between members: in one process on the cpu and on sim, and in three.
// RUN: dlc compile %s --target=cpu,sim -o %t.so
// RUN: dlc inspect %t.so | FileCheck %s --check-prefix=INSPECT
// RUN: %python %S/Inputs/rows.py make %t.x.npy
// RUN: rm -f %t.y.npy
// RUN: dlc run %t.so --devices=cpu:3 --input %t.x.npy --output y=%t.y.npy | FileCheck %s
// RUN: %python %S/Inputs/rows.py check %t.y.npy
// RUN: rm %t.y.npy
// RUN: dlc run %t.so --devices=sim:3 --input %t.x.npy --output y=%t.y.npy | FileCheck %s
// RUN: %python %S/Inputs/rows.py check %t.y.npy
// RUN: rm %t.y.npy
// RUN: dlc launch -n 3 dlc run %t.so --input %t.x.npy --output y=%t.y.npy > %t.out
// RUN: FileCheck %s --input-file %t.out
// RUN: %python %S/Inputs/rows.py check %t.y.npy

// INSPECT-DAG: reduce_scatter sum(data) {{.*}} f32
// INSPECT-DAG: all_to_all (data) {{.*}} f32
// INSPECT-DAG: all_reduce sum(data) {{.*}} f32

// Columns 0, 2, 4, 6, 8 and 1, 3, 5, 7, 9: products 120, 140, 140, 165, their squares added.
// CHECK: norm = 80825
dl.mesh @mesh ["data" = 3]
func.func @step(%x: tensor<5x2xf32> {dl.name = "x", dl.sharding = #dl.sharding<[data, _]>})
    -> (tensor<5x2xf32> {dl.name = "y"}, tensor<f32> {dl.name = "norm"}) attributes {dl.entry} {
  %g = dl.dot_general %x, %x batch [] x [] contract [0] x [0] : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<2x2xf32>
  %rows = dl.reshard %g to <[data, _]> : tensor<2x2xf32>
  %columns = dl.reshard %rows to <[_, data]> : tensor<2x2xf32>
  %squares = dl.mul %columns, %columns : tensor<2x2xf32>
  %norm = dl.reduce_sum %squares over [0, 1] : (tensor<2x2xf32>) -> tensor<f32>
  %other = dl.reshard %x to <[_, data]> : tensor<5x2xf32>
  %y = dl.add %other, %other : tensor<5x2xf32>
  return %y, %norm : tensor<5x2xf32>, tensor<f32>
}
