// An artifact whose product and convolution are calls of libraries, on a GPU (what stands in for one).
// RUN: dlc compile %s --target=cpu --target=cuda:sm_90 --target=sim --matmul=library --conv=library -o %t.so
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_LEAKS=1 dlc run %t.so --device cuda:0 --steps 3 2>%t.alive | FileCheck %s
// RUN: FileCheck %s --check-prefix=ALIVE < %t.alive
// RUN: dlc run %t.so --device cpu --steps 3 | FileCheck %s
// The second step is captured.
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_FAIL=cublasLtMatmul:2:13 %S/Inputs/expect_exit.sh 70 dlc run %t.so --device cuda:0 --steps 3 2>&1 | FileCheck %s --check-prefix=PRODUCT
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_FAIL=cudnnConvolutionForward:1 %S/Inputs/expect_exit.sh 70 dlc run %t.so --device cuda:0 2>&1 | FileCheck %s --check-prefix=CONVOLUTION
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_FAIL=cublasLtMatmulAlgoGetHeuristic:1 %S/Inputs/expect_exit.sh 70 dlc run %t.so --device cuda:0 2>&1 | FileCheck %s --check-prefix=LOAD
// A kernel's failure between calls is found where it is.
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLC_CUDA_SYNC=1 dlc run %t.so --device cuda:0 --steps 3 | FileCheck %s
// sim has no libraries.
// RUN: %S/Inputs/expect_exit.sh 1 dlc run %t.so --device sim:0 2>&1 | FileCheck %s --check-prefix=SIM

// 16 ones times weights of 0.5, plus 1, is 9, of 32 elements; ones under 3 x 3 twos are 18, of 36.
// CHECK: y = 288
// CHECK-NEXT: z = 648
// ALIVE: fakegpu: alive: 0 allocations, 0 streams, 0 events, 0 modules, 0 graphs, 0 communicators, 0 handles, 0 descriptors
// PRODUCT: dlc: {{.*}}cuda:0: step: {{.*}}dlc-run-library.mlir:{{[0-9]+}}: {{.*}}kernel 'k{{[^']*}}': cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED: run under compute-sanitizer; DLC_CUDA_GRAPHS=0 does without graphs
// CONVOLUTION: dlc: {{.*}}cuda:0: step: {{.*}}dlc-run-library.mlir:{{[0-9]+}}: {{.*}}kernel 'k{{[^']*}}': cudnnConvolutionForward: CUDNN_STATUS_EXECUTION_FAILED
// LOAD: dlc: {{.*}}cuda:0: {{.*}}dlc-run-library.mlir:{{[0-9]+}}: {{.*}}kernel 'k{{[^']*}}': cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED: compile with --matmul=generated
// SIM: dlc: sim:0: kernel 'k{{[^']*}}' is a call of cu{{.*}}, and sim has no libraries; compile with --matmul=generated --conv=generated

dl.variable @x : tensor<4x16xf32> role(buffer) init(#dl.constant<1.0>)
dl.variable @weight : tensor<16x8xf32> role(parameter) init(#dl.constant<0.5>)
dl.variable @bias : tensor<8xf32> role(parameter) init(#dl.constant<1.0>)
dl.variable @image : tensor<1x1x8x8xf32> role(buffer) init(#dl.constant<1.0>)
dl.variable @window : tensor<1x1x3x3xf32> role(parameter) init(#dl.constant<2.0>)

func.func @step() -> (tensor<f32> {dl.name = "y"}, tensor<f32> {dl.name = "z"}) attributes {dl.entry} {
  %x = dl.read @x : tensor<4x16xf32>
  %w = dl.read @weight : tensor<16x8xf32>
  %b = dl.read @bias : tensor<8xf32>
  %p = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %bs = dl.broadcast %b dims [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %s = dl.add %p, %bs : tensor<4x8xf32>
  %r = dl.relu %s : tensor<4x8xf32>
  %y = dl.reduce_sum %r over [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
  %i = dl.read @image : tensor<1x1x8x8xf32>
  %k = dl.read @window : tensor<1x1x3x3xf32>
  %c = dl.conv %i, %k strides [1, 1] padding_lo [0, 0] padding_hi [0, 0] : (tensor<1x1x8x8xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x6x6xf32>
  %z = dl.reduce_sum %c over [0, 1, 2, 3] : (tensor<1x1x6x6xf32>) -> tensor<f32>
  return %y, %z : tensor<f32>, tensor<f32>
}
