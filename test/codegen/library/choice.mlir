// By size, element type and target; by default where both are at hand.
// RUN: dlc compile %s --target=cuda:sm_90 --emit=gpu | FileCheck %s --check-prefix=LARGE
// RUN: dlc compile %s --target=cuda:sm_80,cuda:sm_100 --emit=gpu | FileCheck %s --check-prefix=LARGE
// RUN: dlc compile %s --target=cuda:sm_90 --target=sim --emit=gpu | FileCheck %s --check-prefix=NONE
// RUN: dlc compile %s --target=cuda:sm_90 --matmul=generated --emit=gpu | FileCheck %s --check-prefix=NONE
// RUN: dlc compile %s --target=cuda:sm_90 --matmul=library --emit=gpu | FileCheck %s --check-prefix=ALL
// RUN: dlc compile %s --target=sim --matmul=library --emit=gpu | FileCheck %s --check-prefix=NONE
// On tensor cores a product must be larger.
// RUN: dlc compile %s --target=cuda:sm_90 --allow=tf32 --emit=gpu | FileCheck %s --check-prefix=NONE
// RUN: dlc compile %s --target=cuda:sm_90 --allow=tf32 --matmul=library --emit=gpu | FileCheck %s --check-prefix=TF32
// Where bits must not depend on the number of members, there are no libraries.
// RUN: dlc compile %s --target=cuda:sm_90 --matmul=library --mesh=data=2 --invariant=data:2 --emit=gpu 2>&1 | FileCheck %s --check-prefixes=NONE,ORDER
// What calls reach is checked, and they are shown.
// RUN: dlc compile %s --target=cuda:sm_90 --target=sim --matmul=library -o %t.so
// RUN: dlc inspect %t.so | FileCheck %s --check-prefix=INSPECT
// RUN: not dlc run %t.so --device=sim:0 --entry=small 2>&1 | FileCheck %s --check-prefix=SIM
// RUN: dlc compile %s --target=cuda:sm_90 --matmul=library --emit=gpu -o %t.mlir
// RUN: sed -e 's/rows = 8,/rows = 9,/' %t.mlir > %t.edited.mlir
// RUN: not dlc compile %t.edited.mlir --target=cuda:sm_90 -o %t.edited.so 2>&1 | FileCheck %s --check-prefix=REACH
// RUN: not dlc compile %s --target=cuda:sm_90 --matmul=cublas --emit=gpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// LARGE: rt.library @k0_0 {{.*}}rows = 512, columns = 1024, terms = 512,
// LARGE-NOT: rt.library
// NONE-NOT: rt.library
// ORDER: remark: a generated kernel, since no library has a call for sums whose order must not depend on the number of members
// ALL-COUNT-2: rt.library
// TF32: rt.library @k0_0 {{.*}}tf32 = true
// INSPECT: k0_0       cublaslt matmul 1x[512x512x1024] f32 -> f32, none, workspace 16777216 bytes  4 operands
// SIM: dlc: sim:0: kernel 'k0_0' is a call of cublaslt, and sim has no libraries; compile with --matmul=generated --conv=generated
// REACH: the call of kernel 'k1_0': left ends behind operand 0, which has 320 bytes
// UNKNOWN: --matmul: cublas not in {
func.func @large(%x: tensor<512x512xf32>, %w: tensor<512x1024xf32>) -> tensor<512x1024xf32> attributes {dl.entry} {
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<512x512xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %0 : tensor<512x1024xf32>
}

func.func @small(%x: tensor<8x10xf32>, %w: tensor<10x20xf32>) -> tensor<8x20xf32> attributes {dl.entry} {
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x10xf32>, tensor<10x20xf32>) -> tensor<8x20xf32>
  return %0 : tensor<8x20xf32>
}
