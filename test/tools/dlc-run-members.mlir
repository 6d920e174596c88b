// A program of two members: in one process on the cpu and on sim, and in two. Files hold whole tensors; five rows are split
// into three and two.
// RUN: dlc compile %s --target=cpu,sim -o %t.so
// RUN: %python %S/Inputs/rows.py make %t.x.npy
// RUN: rm -f %t.y.npy %t.state
// RUN: dlc run %t.so --devices=cpu:2 --input %t.x.npy --output y=%t.y.npy --steps 3 --save-state %t.state | FileCheck %s
// RUN: %python %S/Inputs/rows.py check %t.y.npy
// RUN: dlc run %t.so --devices=cpu:2 --input %t.x.npy --state %t.state | FileCheck %s --check-prefix=RESUMED
// RUN: rm %t.y.npy
// RUN: dlc run %t.so --devices=sim:2 --input %t.x.npy --output y=%t.y.npy --steps 3 | FileCheck %s
// RUN: %python %S/Inputs/rows.py check %t.y.npy
// RUN: rm %t.y.npy
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_DEVICES=2 dlc run %t.so --devices=cuda:2 --input %t.x.npy --output y=%t.y.npy --steps 3 | FileCheck %s
// RUN: %python %S/Inputs/rows.py check %t.y.npy
// RUN: rm %t.y.npy
// RUN: env DLC_COMM=nccl DLC_GPU_LIBRARY=%fakegpu DLCFAKE_DEVICES=2 dlc run %t.so --devices=cuda:2 --input %t.x.npy --output y=%t.y.npy --steps 3 | FileCheck %s
// RUN: %python %S/Inputs/rows.py check %t.y.npy
// RUN: rm %t.y.npy
// RUN: env DLC_GPU_LIBRARY=%fakegpu dlc launch -n 2 --comm=nccl --devices=cuda:1 sh -c 'CUDA_VISIBLE_DEVICES=$LOCAL_RANK exec dlc run %t.so --input %t.x.npy --output y=%t.y.npy --steps 3' > %t.out
// RUN: FileCheck %s --input-file %t.out
// RUN: %python %S/Inputs/rows.py check %t.y.npy
// RUN: env DLCFAKE_COUNT=ncclAllReduce DLCFAKE_LEAKS=1 DLC_GPU_LIBRARY=%fakegpu dlc launch -n 2 --comm=nccl --devices=cuda:1 sh -c 'CUDA_VISIBLE_DEVICES=$LOCAL_RANK exec dlc run %t.so --input %t.x.npy --steps 6' 2>&1 | FileCheck %s --check-prefix=GRAPHS
// RUN: env DLC_COMM=auto DLC_COMM_REMARKS=1 DLCFAKE_COUNT=ncclAllReduce DLCFAKE_LEAKS=1 DLC_GPU_LIBRARY=%fakegpu DLCFAKE_DEVICES=2 dlc run %t.so --devices=cuda:2 --input %t.x.npy --steps 6 2>&1 | FileCheck %s --check-prefix=DIRECT
// RUN: not env DLC_COMM=nccl DLCFAKE_NCCL_FAIL=1:1 DLC_GPU_LIBRARY=%fakegpu DLCFAKE_DEVICES=2 dlc run %t.so --devices=cuda:2 --input %t.x.npy 2>&1 | FileCheck %s --check-prefix=NCCL
// RUN: rm %t.y.npy %t.state
// RUN: dlc launch -n 2 dlc run %t.so --input %t.x.npy --output y=%t.y.npy --steps 3 --save-state %t.state > %t.out
// RUN: FileCheck %s --input-file %t.out
// RUN: grep -c . %t.out | FileCheck %s --check-prefix=ONCE
// RUN: %python %S/Inputs/rows.py check %t.y.npy
// RUN: dlc run %t.so --devices=cpu:2 --input %t.x.npy --state %t.state | FileCheck %s --check-prefix=RESUMED
// RUN: not dlc run %t.so --input %t.x.npy 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not dlc run %t.so --devices=cpu:3 --input %t.x.npy 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: not dlc launch -n 3 --timeout 20 dlc run %t.so --input %t.x.npy 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: cp %t.so %t.rank0.so
// RUN: rm -f %t.rank1.so
// RUN: not dlc launch -n 2 --timeout 60 sh -c 'exec dlc run %t.rank$RANK.so --input %t.x.npy' 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not dlc run %t.so --devices=cpu:0 2>&1 | FileCheck %s --check-prefix=DEVICES

// 1 + 3 steps of 2 members; then 7 + 2.
// CHECK-DAG: w = 7
// CHECK-DAG: last = 1
// RESUMED: w = 9
// ONCE: 2
// ALONE: dlc: the program is compiled for 2 members (data = 2); run it with dlc launch -n 2, or with --devices=cpu:2
// THREE: dlc: the program is compiled for 2 members (data = 2), the job has 3: 1 ranks of 3
// RANKS: the program is compiled for 2 members (data = 2), the job has 3: 3 ranks of 1
// Two collectives, once by themselves and once noted in the graph that every later step is.
// GRAPHS-DAG: [0] fakegpu: ncclAllReduce: 4 calls
// GRAPHS-DAG: [1] fakegpu: ncclAllReduce: 4 calls
// GRAPHS-DAG: [0] fakegpu: alive: 0 allocations, 0 streams, 0 events, 0 modules, 0 graphs, 0 communicators
// GRAPHS-DAG: [1] fakegpu: alive: 0 allocations, 0 streams, 0 events, 0 modules, 0 graphs, 0 communicators
// Several devices of a process are never in graphs together with what waits for the others.
// DIRECT-DAG: remark: group 'data', channel {{[01]}}: 2 members use nccl
// DIRECT-DAG: fakegpu: ncclAllReduce: 24 calls
// DIRECT-DAG: fakegpu: alive: 0 allocations, 0 streams, 0 events, 0 modules, 0 graphs, 0 communicators
// NCCL: ncclSystemError: {{.*}} 1 fails by DLCFAKE_NCCL_FAIL
// What one rank lacks is everybody's reason.
// NOTHING-DAG: [1] dlc: {{.*}}rank1.so: {{.*}}No such file
// NOTHING-DAG: [0] dlc: rank 1 (host {{.*}}, cpu:0) has nothing to run: {{.*}}rank1.so
// DEVICES: --devices: expected devices such as cpu, cpu:4 or sim:2 (a kind and how many), got 'cpu:0'

module attributes {dl.local} {
  dl.mesh @mesh ["data" = 2]
  dl.variable @w : tensor<f32> role(parameter) init(#dl.constant<1.0>)
  dl.variable @mesh.data : tensor<i64> role(coordinate) init(#dl.zeros)
  func.func @step(%x: tensor<3x2xf32> {dl.name = "x", dl.sharding = #dl.sharding<[data(0, 3, 5), _]>, dl.global = tensor<5x2xf32>})
      -> (tensor<3x2xf32> {dl.name = "y", dl.sharding = #dl.sharding<[data(0, 3, 5), _]>, dl.global = tensor<5x2xf32>},
          tensor<f32> {dl.name = "w"}, tensor<i64> {dl.name = "last"}) attributes {dl.entry} {
    %w = dl.read @w : tensor<f32>
    %one = dl.constant dense<1.0> : tensor<f32>
    %two = dl.all_reduce sum(data) %one : tensor<f32>
    %new = dl.add %w, %two : tensor<f32>
    dl.write @w, %new : tensor<f32>
    %place = dl.read @mesh.data : tensor<i64>
    %last = dl.all_reduce max(data) %place : tensor<i64>
    %y = dl.add %x, %x : tensor<3x2xf32>
    return %y, %new, %last : tensor<3x2xf32>, tensor<f32>, tensor<i64>
  }
}
