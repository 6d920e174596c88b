// Variables of odd sizes, each updated in its own memory by a kernel that reads several: the same numbers on the cpu and on sim,
// where each access is checked.
// RUN: dlc compile %s --target=cpu -o %t.cpu.so
// RUN: dlc compile %s --target=sim --sim-check -o %t.sim.so
// RUN: rm -f %t.cpu.state %t.sim.state
// RUN: dlc run %t.cpu.so --entry step --steps 2 --save-state %t.cpu.state
// RUN: dlc run %t.sim.so --entry step --device sim --sim-check --steps 2 --save-state %t.sim.state
// RUN: cmp %t.cpu.state %t.sim.state
// RUN: dlc run %t.sim.so --entry step --device sim --sim-check --sim-order=warp-reverse --steps 2 --save-state %t.sim.state
// RUN: cmp %t.cpu.state %t.sim.state
// RUN: dlc run %t.cpu.so --entry sums --state %t.sim.state | FileCheck %s

// Twice a' = 2 a + b b, b' = |a'| - 4, from (1, 2, 3) and (0, 0, 0): (2, 4, 6), (-2, 0, 2); (8, 8, 16), (4, 4, 12).
// CHECK-DAG: a = 32
// CHECK-DAG: b = 20
// Of one element: c' = 2 c + d d, d' = |c'| - 4 from 3 and 0: 6 and 2, 16 and 12.
// CHECK-DAG: c = 16
// CHECK-DAG: d = 12
dl.variable @a : tensor<3xf32> role(parameter) init(dense<[1.0, 2.0, 3.0]> : tensor<3xf32>)
dl.variable @b : tensor<3xf32> role(parameter) init(#dl.zeros)
dl.variable @c : tensor<1xf64> role(parameter) init(#dl.constant<3.0>)
dl.variable @d : tensor<1xf64> role(parameter) init(#dl.zeros)

func.func @step() attributes {dl.entry} {
  %a = dl.read @a : tensor<3xf32>
  %b = dl.read @b : tensor<3xf32>
  %two = dl.constant dense<2.0> : tensor<3xf32>
  %four = dl.constant dense<4.0> : tensor<3xf32>
  %aa = dl.mul %a, %two : tensor<3xf32>
  %bb = dl.mul %b, %b : tensor<3xf32>
  %na = dl.add %aa, %bb : tensor<3xf32>
  %abs = dl.abs %na : tensor<3xf32>
  %nb = dl.sub %abs, %four : tensor<3xf32>
  dl.write @a, %na : tensor<3xf32>
  dl.write @b, %nb : tensor<3xf32>
  %c = dl.read @c : tensor<1xf64>
  %d = dl.read @d : tensor<1xf64>
  %two1 = dl.constant dense<2.0> : tensor<1xf64>
  %four1 = dl.constant dense<4.0> : tensor<1xf64>
  %cc = dl.mul %c, %two1 : tensor<1xf64>
  %dd = dl.mul %d, %d : tensor<1xf64>
  %nc = dl.add %cc, %dd : tensor<1xf64>
  %abs1 = dl.abs %nc : tensor<1xf64>
  %nd = dl.sub %abs1, %four1 : tensor<1xf64>
  dl.write @c, %nc : tensor<1xf64>
  dl.write @d, %nd : tensor<1xf64>
  return
}

func.func @sums() -> (tensor<f32> {dl.name = "a"}, tensor<f32> {dl.name = "b"}, tensor<f64> {dl.name = "c"}, tensor<f64> {dl.name = "d"})
    attributes {dl.entry} {
  %a = dl.read @a : tensor<3xf32>
  %sa = dl.reduce_sum %a over [0] : (tensor<3xf32>) -> tensor<f32>
  %b = dl.read @b : tensor<3xf32>
  %sb = dl.reduce_sum %b over [0] : (tensor<3xf32>) -> tensor<f32>
  %c = dl.read @c : tensor<1xf64>
  %sc = dl.reduce_sum %c over [0] : (tensor<1xf64>) -> tensor<f64>
  %d = dl.read @d : tensor<1xf64>
  %sd = dl.reduce_sum %d over [0] : (tensor<1xf64>) -> tensor<f64>
  return %sa, %sb, %sc, %sd : tensor<f32>, tensor<f32>, tensor<f64>, tensor<f64>
}
