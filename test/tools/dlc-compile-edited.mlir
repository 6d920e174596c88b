// The text of the gpu stage can be edited and compiled, and checks name the line of the edit.
// RUN: dlc compile %s --target=sim --emit=gpu -o %t.mlir
// RUN: dlc compile %t.mlir --target=sim --sim-check -o %t.so
// RUN: dlc run %t.so --device=sim:0 --sim-check --output %t.npy
// RUN: sed 's/arith.cmpi slt/arith.cmpi sle/' %t.mlir > %t.bad.mlir
// RUN: dlc compile %t.bad.mlir --target=sim --sim-check -o %t.bad.so
// RUN: not dlc run %t.bad.so --device=sim:0 --sim-check --output %t.npy 2>&1 | FileCheck %s
// CHECK: kernel 'k0_0', block (0,0,0), thread (75,0,0): reads 16 bytes at offset 1200 of operand 0, which has 1200 bytes;
// CHECK-SAME: at {{.*}}bad.mlir:{{[0-9]+}}:{{[0-9]+}}

// Past all passes, there is nothing left for the cpu.
// RUN: not dlc compile %t.mlir --target=cpu --target=sim -o %t.so 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: expects a module with GPU kernels to be compiled for sim and cuda targets alone, got the target cpu

// RUN: sed 's/rt.launch @k0/rt.launch @k7/' %t.mlir > %t.none.mlir
// RUN: not dlc compile %t.none.mlir --target=sim -o %t.so 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: none.mlir:{{[0-9]+}}:{{[0-9]+}}: error: 'rt.launch' op expects a kernel, got @k7, which is none
module {
  dl.variable @w : tensor<20x15xf32> role(parameter) init(#dl.uniform<-1.0, 1.0>)
  func.func @f() -> tensor<20x15xf32> attributes {dl.entry} {
    %w = dl.read @w : tensor<20x15xf32>
    %y = dl.tanh %w : tensor<20x15xf32>
    return %y : tensor<20x15xf32>
  }
}
