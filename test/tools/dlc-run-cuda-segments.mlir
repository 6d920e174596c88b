// A step with branches and a loop is launched as graphs between the points where the host waits for a predicate: the values
// of plain launches, whatever the order in which a graph's parts are done.
// RUN: dlc compile %s --target=cpu,sim -o %t.so
// RUN: dlc run %t.so --device cpu --steps 12 --save-state %t.cpu.safetensors | FileCheck %s
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLC_CUDA_GRAPHS=0 DLCFAKE_COUNT=cuGraphLaunch dlc run %t.so --device cuda:0 --steps 12 --save-state %t.plain.safetensors 2>%t.plain | FileCheck %s
// RUN: FileCheck %s --check-prefix=PLAIN --input-file %t.plain
// RUN: cmp %t.cpu.safetensors %t.plain.safetensors
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_LEAKS=1 DLCFAKE_COUNT=cuGraphLaunch dlc run %t.so --device cuda:0 --steps 12 --save-state %t.late.safetensors 2>%t.late | FileCheck %s
// RUN: FileCheck %s --check-prefix=GRAPHS --input-file %t.late
// RUN: cmp %t.cpu.safetensors %t.late.safetensors
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_LEAKS=1 DLCFAKE_COUNT=cuGraphLaunch DLCFAKE_GRAPH=reverse DLC_SIM_STREAM=eager dlc run %t.so --device cuda:0 --steps 12 --save-state %t.eager.safetensors 2>%t.eager | FileCheck %s
// RUN: FileCheck %s --check-prefix=GRAPHS --input-file %t.eager
// RUN: cmp %t.cpu.safetensors %t.eager.safetensors
// A graph's failure names its kernels, at once or when the host waits.
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_FAIL=cuGraphLaunch:2 %S/Inputs/expect_exit.sh 70 dlc run %t.so --device cuda:0 --steps 12 2>&1 | FileCheck %s --check-prefix=LAUNCH
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_FAIL=cuGraphLaunch:2:700 %S/Inputs/expect_exit.sh 70 dlc run %t.so --device cuda:0 --steps 12 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_FAIL=cuStreamEndCapture:1 %S/Inputs/expect_exit.sh 70 dlc run %t.so --device cuda:0 --steps 12 2>&1 | FileCheck %s --check-prefix=CAPTURE

// PLAIN: fakegpu: cuGraphLaunch: 0 calls
// Six fetches a step make seven segments, 84 in 12 steps; nearly all of them come again.
// GRAPHS-DAG: fakegpu: cuGraphLaunch: {{[5-8][0-9]}} calls
// GRAPHS-DAG: fakegpu: alive: 0 allocations, 0 streams, 0 events, 0 modules, 0 graphs, 0 communicators
// LAUNCH: dlc: cuda:0: graph of step: {{.*}}kernel 'k{{.*}} to step: {{.*}}kernel 'k{{.*}}: cuGraphLaunch: CUDA_ERROR_OPERATING_SYSTEM: {{.*}}; DLC_CUDA_GRAPHS=0 does without graphs
// BROKEN: dlc: cuda:0: one of {{[0-9]+}} kernels (step: {{.*}}kernel 'k{{.*}} to step: {{.*}}); DLC_CUDA_SYNC=1 tells which: cuGraphLaunch: CUDA_ERROR_ILLEGAL_ADDRESS
// CAPTURE: dlc: cuda:0: cuStreamEndCapture: CUDA_ERROR_OPERATING_SYSTEM: {{.*}}; DLC_CUDA_GRAPHS=0 does without graphs

// w: 1 -> 3 -> 9 -> 27 while below 20, then less 10 each time: 17 -> 51 -> 41 -> 31 -> 21 -> 11 -> 33 -> 23 -> 13; the walk likewise,
// in Python.
// CHECK: sum = 52
// CHECK-NEXT: walk = 7.97176
dl.variable @w : tensor<4xf32> role(parameter) init(#dl.constant<1.0>)
dl.variable @h : tensor<4xf32> role(parameter) init(#dl.constant<0.5>)

func.func @step() -> (tensor<f32> {dl.name = "sum"}, tensor<f32> {dl.name = "walk"}) attributes {dl.entry} {
  %w = dl.read @w : tensor<4xf32>
  %s = dl.reduce_sum %w over [0] : (tensor<4xf32>) -> tensor<f32>
  %limit = dl.constant dense<80.0> : tensor<f32>
  %p = dl.compare lt, %s, %limit : tensor<f32>
  %new = dl.cond %p (%a = %w : tensor<4xf32>) -> tensor<4xf32> {
    %three = dl.constant dense<3.0> : tensor<4xf32>
    %0 = dl.mul %a, %three : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  } else (%a) {
    %ten = dl.constant dense<10.0> : tensor<4xf32>
    %0 = dl.sub %a, %ten : tensor<4xf32>
    dl.yield %0 : tensor<4xf32>
  }
  dl.write @w, %new : tensor<4xf32>
  // Five rounds, each of which turns back where the last one got too far.
  %h = dl.read @h : tensor<4xf32>
  %xs = dl.constant dense<[[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0], [0.5, 0.5, 0.5, 0.5], [7.0, 1.0, 7.0, 1.0], [1.0, 1.0, 1.0, 1.0]]> : tensor<5x4xf32>
  %last = dl.scan 5 carry(%c = %h : tensor<4xf32>) slices(%x = %xs : tensor<5x4xf32>) -> tensor<4xf32> {
    %sum = dl.reduce_sum %c over [0] : (tensor<4xf32>) -> tensor<f32>
    %far = dl.constant dense<30.0> : tensor<f32>
    %on = dl.compare lt, %sum, %far : tensor<f32>
    %next = dl.cond %on (%a = %c : tensor<4xf32>, %b = %x : tensor<4xf32>) -> tensor<4xf32> {
      %0 = dl.add %a, %b : tensor<4xf32>
      %1 = dl.mul %0, %b : tensor<4xf32>
      dl.yield %1 : tensor<4xf32>
    } else (%a, %b) {
      %half = dl.constant dense<0.125> : tensor<4xf32>
      %0 = dl.mul %a, %half : tensor<4xf32>
      %1 = dl.sub %0, %b : tensor<4xf32>
      dl.yield %1 : tensor<4xf32>
    }
    dl.yield %next : tensor<4xf32>
  }
  dl.write @h, %last : tensor<4xf32>
  %sum = dl.reduce_sum %new over [0] : (tensor<4xf32>) -> tensor<f32>
  %walk = dl.reduce_sum %last over [0] : (tensor<4xf32>) -> tensor<f32>
  return %sum, %walk : tensor<f32>, tensor<f32>
}
