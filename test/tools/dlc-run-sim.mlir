// One artifact, two devices: the same numbers, and checkpoints that go from one to the other.
// RUN: dlc compile %s --target=cpu --target=sim -o %t.so
// RUN: dlc inspect %t.so | FileCheck %s --check-prefix=INSPECT
// RUN: dlc run %t.so --device cpu --steps 3 --set rate=0.25 --save-state %t.cpu.safetensors | FileCheck %s --check-prefix=THREE
// RUN: dlc run %t.so --device sim:1 --steps 3 --set rate=0.25 --save-state %t.sim.safetensors | FileCheck %s --check-prefix=THREE
// RUN: cmp %t.cpu.safetensors %t.sim.safetensors
// RUN: dlc run %t.so --device cpu --state %t.sim.safetensors | FileCheck %s --check-prefix=FOUR
// RUN: dlc run %t.so --device sim --state %t.cpu.safetensors | FileCheck %s --check-prefix=FOUR
// RUN: env DLC_SIM_MEMORY=4000 %S/Inputs/expect_exit.sh 3 dlc run %t.so --device sim 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: dlc compile %s --target=sim --sim-check -o %t.check.so
// RUN: dlc run %t.check.so --device sim --sim-check --sim-order=warp-reverse --steps 3 --set rate=0.25 | FileCheck %s --check-prefix=THREE
// RUN: %S/Inputs/expect_exit.sh 1 dlc run %t.check.so 2>&1 | FileCheck %s --check-prefix=TARGET

// INSPECT: compiled by dlc {{.*}} for cpu, sim (host code:
// INSPECT: {{^}}kernels
// INSPECT-NEXT: blocks of {{.*}} threads
// 8 * 0.25^3 = 0.125 in each of 1000 elements; the rate is part of the state, so a fourth step gives 0.03125.
// THREE: sum = 125
// THREE-NEXT: count = 3
// FOUR: sum = 31.25
// FOUR-NEXT: count = 4
// MEMORY: dlc: out of memory: arena '{{.*}}' needs {{[0-9]+}} bytes, sim:0 has 4000 of its 4000 left
// TARGET: dlc: cpu: the program was compiled for sim; compile it with --target=cpu

dl.variable @weight : tensor<1000xf32> role(parameter) init(#dl.constant<8.0>)
dl.variable @opt.rate : tensor<f64> role(hyper) init(#dl.constant<0.5>)
dl.variable @count : tensor<i64> role(counter) init(#dl.zeros)

func.func @step() -> (tensor<f32> {dl.name = "sum"}, tensor<i64> {dl.name = "count"}) attributes {dl.entry} {
  %w = dl.read @weight : tensor<1000xf32>
  %rate = dl.read @opt.rate : tensor<f64>
  %r = dl.cast %rate : tensor<f64> to tensor<f32>
  %b = dl.broadcast %r dims [] : (tensor<f32>) -> tensor<1000xf32>
  %new = dl.mul %w, %b : tensor<1000xf32>
  dl.write @weight, %new : tensor<1000xf32>
  %n = dl.read @count : tensor<i64>
  %one = dl.constant dense<1> : tensor<i64>
  %next = dl.add %n, %one : tensor<i64>
  dl.write @count, %next : tensor<i64>
  %sum = dl.reduce_sum %new over [0] : (tensor<1000xf32>) -> tensor<f32>
  return %sum, %next : tensor<f32>, tensor<i64>
}
