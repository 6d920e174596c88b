// An artifact on a GPU, by the driver's code; the library that stands in for the driver runs the kernels for sim.
// RUN: dlc compile %s --target=cpu --target=cuda:sm_90 --target=sim -o %t.so
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_LEAKS=1 dlc run %t.so --device cuda:0 --steps 3 --set rate=0.25 --save-state %t.cuda.safetensors 2>%t.alive | FileCheck %s --check-prefix=THREE
// RUN: FileCheck %s --check-prefix=ALIVE < %t.alive
// RUN: dlc run %t.so --device cpu --steps 3 --set rate=0.25 --save-state %t.cpu.safetensors
// RUN: cmp %t.cpu.safetensors %t.cuda.safetensors
// RUN: env DLC_GPU_LIBRARY=%fakegpu dlc run %t.so --device cuda:0 --state %t.cpu.safetensors | FileCheck %s --check-prefix=FOUR
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_MEMORY=4000 %S/Inputs/expect_exit.sh 3 dlc run %t.so --device cuda:0 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_FAIL=cuLaunchKernel:2 %S/Inputs/expect_exit.sh 70 dlc run %t.so --device cuda:0 2>&1 | FileCheck %s --check-prefix=LAUNCH
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_FAIL=cuStreamSynchronize:1:719 %S/Inputs/expect_exit.sh 70 dlc run %t.so --device cuda:0 2>&1 | FileCheck %s --check-prefix=LATER
// The second step is captured, the third replayed.
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_FAIL=cuGraphLaunch:2 %S/Inputs/expect_exit.sh 70 dlc run %t.so --device cuda:0 --steps 3 2>&1 | FileCheck %s --check-prefix=REPLAY
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_FAIL=cuGraphLaunch:1 DLC_CUDA_GRAPHS=0 dlc run %t.so --device cuda:0 --steps 3 --set rate=0.25 | FileCheck %s --check-prefix=THREE
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_DEVICES=2 %S/Inputs/expect_exit.sh 1 dlc run %t.so --device cuda:2 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: env DLC_GPU_LIBRARY=/nowhere.so %S/Inputs/expect_exit.sh 1 dlc run %t.so --device cuda:0 2>&1 | FileCheck %s --check-prefix=LIBRARY
// A driver takes neither a cubin for a newer device nor, as this one does, the PTX.
// RUN: dlc compile %s --target=cuda:sm_90 -o %t.cuda.so
// RUN: env DLC_GPU_LIBRARY=%fakegpu %S/Inputs/expect_exit.sh 1 dlc run %t.cuda.so --device cuda:0 2>&1 | FileCheck %s --check-prefix=IMAGE
// RUN: dlc compile %s --target=cuda:sm_100 -o %t.newer.so
// RUN: env DLC_GPU_LIBRARY=%fakegpu %S/Inputs/expect_exit.sh 1 dlc run %t.newer.so --device cuda:0 2>&1 | FileCheck %s --check-prefix=NEWER

// 8 * 0.25^3 = 0.125 in each of 1000 elements; the rate is part of the state, so a fourth step gives 0.03125.
// THREE: sum = 125
// THREE-NEXT: count = 3
// ALIVE: fakegpu: alive: 0 allocations, 0 streams, 0 events, 0 modules
// FOUR: sum = 31.25
// FOUR-NEXT: count = 4
// MEMORY: dlc: out of memory: arena '{{.*}}' needs {{[0-9]+}} bytes, cuda:0 has {{[0-9]+}} of its 4000 left: this program's {{.*}}, the driver and other programs {{[0-9]+}} (pid 2147483647); step plans {{[0-9]+}} bytes: {{[0-9]+}} of {{.*}}; a smaller batch
// LAUNCH: dlc: {{.*}}cuda:0: step: {{.*}}kernel 'k{{.*}}': cuLaunchKernel: CUDA_ERROR_OPERATING_SYSTEM
// LATER: dlc: cuda:0: one of 2 kernels (step: {{.*}}kernel 'k0_0' to step: {{.*}}); DLC_CUDA_SYNC=1 tells which: cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED
// REPLAY: dlc: cuda:0: graph of step: {{.*}}kernel 'k0_0' to step: {{.*}}: cuGraphLaunch: CUDA_ERROR_OPERATING_SYSTEM: {{.*}}; DLC_CUDA_GRAPHS=0 does without graphs
// MANY: dlc: cuda:2: there is no such device; 'cuda' has 2, counted from 0
// LIBRARY: dlc: cuda:0: DLC_GPU_LIBRARY: /nowhere.so: {{.+}}
// IMAGE: dlc: cuda:0: the driver takes none of the program's kernels ({{.*}}PTX for sm_90: cuda:0: cuModuleLoadDataEx: CUDA_ERROR_INVALID_IMAGE); compile it with --target=cuda:sm_90
// NEWER: dlc: cuda:0: the program was compiled for sm_100; compile it with --target=cuda:sm_90

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
