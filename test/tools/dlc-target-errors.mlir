// Targets, stages and flags that do not fit each other: one sentence with what to do.
// RUN: split-file %s %t
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/m.mlir --target=cuda:sm_70 -o %t/m.so 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/m.mlir --target=cuda:sm_80,cuda:sm_90 --emit=ptx 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/m.mlir --target=sim --emit=kernel-report 2>&1 | FileCheck %s --check-prefix=SIM
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/m.mlir --emit=gpu 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/m.mlir --target=sim --emit=llvm 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: %S/Inputs/expect_exit.sh 2 dlc compile %t/m.mlir --sim-check -o %t/m.so 2>&1 | FileCheck %s --check-prefix=CHECKS
// TARGET: dlc: unknown target 'cuda:sm_70'; expected cpu, sim, cuda:sm_80, cuda:sm_90 or cuda:sm_100
// TWO: dlc: expects one target of cuda:sm_80, cuda:sm_90 or cuda:sm_100 to show this stage for, got sm_80, sm_90
// SIM: dlc: expects one target of cuda:sm_80, cuda:sm_90 or cuda:sm_100 to show this stage for, got sim
// GPU: dlc: expects a target with GPU kernels to show this stage for; add --target=sim or one of cuda:sm_80,
// CPU: dlc: expects the target cpu to show this stage for; add --target=cpu
// CHECKS: --sim-check: expects the target sim; add --target=sim

// An option takes one value each time it is given, and the module may come after it.
// RUN: dlc compile --target sim %t/m.mlir -o %t/sim.so
// RUN: dlc compile %t/m.mlir -o %t/cpu.so
// RUN: %S/Inputs/expect_exit.sh 2 dlc run %t/cpu.so --sim-order=reverse 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: %S/Inputs/expect_exit.sh 1 dlc run %t/sim.so --device=sim --sim-check 2>&1 | FileCheck %s --check-prefix=UNCHECKED
// ORDER: --sim-check, --sim-order: expects a simulated device, got 'cpu'; add --device=sim:0
// UNCHECKED: sim.so: its kernels check nothing; compile it with --target=sim --sim-check

// A plan for other targets has too little workspace, and a module with GPU kernels is past the passes.
// RUN: dlc compile %t/m.mlir --emit=rt -o %t/cpu.rt
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/cpu.rt --target=sim -o %t/m.so 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: dlc compile %t/m.mlir --target=sim --emit=rt -o %t/sim.rt
// RUN: dlc compile %t/sim.rt --target=sim -o %t/m.so
// RUN: dlc compile %t/m.mlir --target=sim --emit=gpu -o %t/gpu.mlir
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/gpu.mlir --target=sim --train=sgd -o %t/m.so 2>&1 | FileCheck %s --check-prefix=PAST
// RUN: sed 's/ workspace(.*)//' %t/gpu.mlir > %t/few.mlir
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/few.mlir --target=sim -o %t/m.so 2>&1 | FileCheck %s --check-prefix=FEW
// PLAN: cpu.rt:{{[0-9]+}}:{{[0-9]+}}: error: 'rt.kernel' op expects a workspace of {{[0-9]+}} bytes for these targets, got 0; make the rt stage for the same targets
// PAST: dlc: a module with GPU kernels is past --train and the stages dl and fused
// FEW: few.mlir:{{[0-9]+}}:{{[0-9]+}}: error: 'rt.launch' op expects 3 operands, as many as @k0_0 has, got 2

// Kernels that nothing could launch.
// RUN: sed 's/) kernel attributes/) attributes/' %t/gpu.mlir > %t/plain.mlir
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/plain.mlir --target=sim -o %t/m.so 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: sed 's/known_block_size = array<i32: [0-9]*,/known_block_size = array<i32: 2048,/' %t/gpu.mlir > %t/large.mlir
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/large.mlir --target=sim -o %t/m.so 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: sed 's/known_grid_size = array<i32: [0-9]*,/known_grid_size = array<i32: 0,/' %t/gpu.mlir > %t/zero.mlir
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/zero.mlir --target=sim -o %t/m.so 2>&1 | FileCheck %s --check-prefix=ZERO
// PLAIN: plain.mlir:{{[0-9]+}}:{{[0-9]+}}: error: 'gpu.func' op expects a kernel with known_block_size and known_grid_size
// LARGE: large.mlir:{{[0-9]+}}:{{[0-9]+}}: error: 'gpu.func' op expects blocks of at most 1024 threads, got
// ZERO: zero.mlir:{{[0-9]+}}:{{[0-9]+}}: error: 'gpu.func' op expects sizes of at least 1, got 0

// RUN: env DLC_PTXAS=/bin/true %S/Inputs/expect_exit.sh 1 dlc compile %t/m.mlir --target=cuda:sm_90 -o %t/m.so 2>&1 | FileCheck %s --check-prefix=PTXAS
// PTXAS: dlc: /bin/true: wrote no cubin; set DLC_PTXAS to the ptxas of a CUDA toolkit

//--- m.mlir
func.func @products(%a: tensor<700x70xf32>) -> tensor<70x70xf32> attributes {dl.entry} {
  %b = dl.dot_general %a, %a batch [] x [] contract [0] x [0] : (tensor<700x70xf32>, tensor<700x70xf32>) -> tensor<70x70xf32>
  return %b : tensor<70x70xf32>
}
