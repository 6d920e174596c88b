// Devices are listed with what they are, or why there is none; asking for one that is not there is one sentence.
// RUN: env DLC_SIM_DEVICES=3 DLC_SIM_MEMORY=1073741824 dlc devices | FileCheck %s --check-prefix=LIST
// RUN: env DLC_SIM_DEVICES=0 dlc devices | FileCheck %s --check-prefix=NONE
// RUN: dlc compile %s -o %t.so
// RUN: dlc run %t.so --device cpu | FileCheck %s --check-prefix=HOST
// RUN: %S/Inputs/expect_exit.sh 1 dlc run %t.so --device gpu 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: %S/Inputs/expect_exit.sh 1 dlc run %t.so --device sim:one 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: env DLC_SIM_DEVICES=3 %S/Inputs/expect_exit.sh 1 dlc run %t.so --device sim:3 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: %S/Inputs/expect_exit.sh 1 dlc run %t.so --device cuda:99 2>&1 | FileCheck %s --check-prefix=CUDA
// RUN: %S/Inputs/expect_exit.sh 1 dlc run %t.so --device sim 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: %S/Inputs/expect_exit.sh 1 dlc run %t.so --device sim --sim-order=sideways 2>&1 | FileCheck %s --check-prefix=ORDER

// LIST: {{^}}cpu {{.*}} GiB, {{[0-9]+}} processor
// LIST-NEXT: {{^}}sim:0 - sim:2 {{ *}}1.0 GiB, simulated on the cpu
// LIST-NEXT: {{^}}cuda
// NONE: {{^}}sim {{ *}}none: DLC_SIM_DEVICES asks for none
// HOST: x = 3
// KIND: dlc: --device: expected a device, one of cpu, sim:N, cuda:N; got 'gpu'
// NUMBER: dlc: --device: expected a device, one of cpu, sim:N, cuda:N; got 'sim:one'
// MANY: dlc: sim:3: there is no such device; 'sim' has 3, counted from 0
// CUDA: dlc: cuda:99: {{.+}}
// TARGET: dlc: sim:0: the program was compiled for cpu; compile it with --target=sim
// ORDER: dlc: sim:0: DLC_SIM_ORDER: {{.*}}'sideways'

func.func @three() -> (tensor<f32> {dl.name = "x"}) attributes {dl.entry} {
  %x = dl.constant dense<3.0> : tensor<f32>
  return %x : tensor<f32>
}
