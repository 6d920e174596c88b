// RUN: dlc compile %s --target=cuda:sm_90 --matmul=library --emit=gpu -o %t.gpu.mlir 2> %t.remarks
// RUN: FileCheck %s < %t.gpu.mlir
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: dlc compile %t.gpu.mlir --target=cuda:sm_90 --emit=gpu | diff %t.gpu.mlir -
// RUN: dlc compile %s --target=cuda:sm_90 --matmul=generated --emit=gpu | FileCheck %s --check-prefix=GENERATED
// What the calls compute, of the library that stands in for the vendor's.
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLC_PTXAS=/nowhere dlc-check --libraries %s

// GENERATED-NOT: rt.library

// The library's epilogue is all there is: one launch, which writes the result.
// CHECK: rt.launch @[[LINEAR:k[0-9]+]] {{.*}} workspace
// CHECK: rt.program @gelu
// CHECK: rt.launch @[[GELU:k[0-9]+]]
func.func @linear(%x: tensor<8x10xf32>, %w: tensor<20x10xf32>, %b: tensor<20xf32>) -> tensor<8x20xf32> attributes {dl.entry} {
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [1] : (tensor<8x10xf32>, tensor<20x10xf32>) -> tensor<8x20xf32>
  %1 = dl.broadcast %b dims [1] : (tensor<20xf32>) -> tensor<8x20xf32>
  %2 = dl.add %1, %0 : tensor<8x20xf32>
  %3 = dl.relu %2 : tensor<8x20xf32>
  return %3 : tensor<8x20xf32>
}

// In two dims of rows, which are one; the tanh form alone is the library's.
func.func @gelu(%x: tensor<2x4x10xf32>, %w: tensor<10x24xf32>, %b: tensor<24xf32>) -> tensor<2x4x24xf32> attributes {dl.entry} {
  %0 = dl.dot_general %x, %w batch [] x [] contract [2] x [0] : (tensor<2x4x10xf32>, tensor<10x24xf32>) -> tensor<2x4x24xf32>
  %1 = dl.broadcast %b dims [2] : (tensor<24xf32>) -> tensor<2x4x24xf32>
  %2 = dl.add %0, %1 : tensor<2x4x24xf32>
  %3 = dl.gelu %2 approximate(tanh) : tensor<2x4x24xf32>
  return %3 : tensor<2x4x24xf32>
}

// CHECK: rt.program @exact_gelu
// CHECK: rt.launch @[[EXACT:k[0-9]+]]
func.func @exact_gelu(%x: tensor<8x10xf32>, %w: tensor<10x28xf32>) -> tensor<8x28xf32> attributes {dl.entry} {
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x10xf32>, tensor<10x28xf32>) -> tensor<8x28xf32>
  %1 = dl.gelu %0 : tensor<8x28xf32>
  return %1 : tensor<8x28xf32>
}

// CHECK: rt.program @two
// CHECK: rt.launch @[[TWO:k[0-9]+]]
func.func @two(%x: tensor<8x10xf32>, %w: tensor<10x32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) attributes {dl.entry} {
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x10xf32>, tensor<10x32xf32>) -> tensor<8x32xf32>
  %1 = dl.relu %0 : tensor<8x32xf32>
  return %0, %1 : tensor<8x32xf32>, tensor<8x32xf32>
}

// CHECK: rt.program @transposed
// CHECK: rt.launch @[[TRANSPOSED:k[0-9]+]]
func.func @transposed(%x: tensor<3x10x8xf32>, %w: tensor<3x36x10xf32>) -> tensor<3x8x36xf32> attributes {dl.entry} {
  %0 = dl.dot_general %x, %w batch [0] x [0] contract [1] x [2] : (tensor<3x10x8xf32>, tensor<3x36x10xf32>) -> tensor<3x8x36xf32>
  return %0 : tensor<3x8x36xf32>
}

// The rows of a product with a vector become columns, which lie side by side.
// CHECK: rt.program @vector
// CHECK: rt.launch @[[VECTOR:k[0-9]+]]
func.func @vector(%x: tensor<40x10xf32>, %v: tensor<10xf32>) -> tensor<40xf32> attributes {dl.entry} {
  %0 = dl.dot_general %x, %v batch [] x [] contract [1] x [0] : (tensor<40x10xf32>, tensor<10xf32>) -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// Of 16 bits: summed in f32, rounded once.
// CHECK: rt.program @narrow
// CHECK: rt.launch @[[NARROW:k[0-9]+]]
func.func @narrow(%x: tensor<8x10xbf16>, %w: tensor<44x10xbf16>, %b: tensor<44xbf16>) -> tensor<8x44xbf16> attributes {dl.entry} {
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [1] : (tensor<8x10xbf16>, tensor<44x10xbf16>) -> tensor<8x44xbf16>
  %1 = dl.broadcast %b dims [1] : (tensor<44xbf16>) -> tensor<8x44xbf16>
  %2 = dl.add %0, %1 : tensor<8x44xbf16>
  return %2 : tensor<8x44xbf16>
}

// A bias of another type is the second launch's.
// CHECK: rt.program @wide_bias
// CHECK: rt.launch @[[WIDE:k[0-9]+]]
func.func @wide_bias(%x: tensor<8x10xbf16>, %w: tensor<48x10xbf16>, %b: tensor<48xf32>) -> tensor<8x48xbf16> attributes {dl.entry} {
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [1] : (tensor<8x10xbf16>, tensor<48x10xbf16>) -> tensor<8x48xbf16>
  %1 = dl.broadcast %b dims [1] : (tensor<48xf32>) -> tensor<8x48xf32>
  %2 = dl.cast %0 : tensor<8x48xbf16> to tensor<8x48xf32>
  %3 = dl.add %2, %1 : tensor<8x48xf32>
  %4 = dl.cast %3 : tensor<8x48xf32> to tensor<8x48xbf16>
  return %4 : tensor<8x48xbf16>
}

// The slope of gelu at x, an operand, as dl.gelu's adjoint writes it. Not of the exact form.
// CHECK: rt.program @gelu_grad
// CHECK: rt.launch
// CHECK: rt.launch @[[SQUARE:k[0-9]+]]
// CHECK: rt.launch @[[SLOPE:k[0-9]+]]
func.func @gelu_grad(%x: tensor<16x32xf32>, %w: tensor<9x32xf32>) -> tensor<16x32xf32> attributes {dl.entry} {
  %0 = dl.gelu %x approximate(tanh) : tensor<16x32xf32>
  %1 = dl.dot_general %0, %w batch [] x [] contract [1] x [1] : (tensor<16x32xf32>, tensor<9x32xf32>) -> tensor<16x9xf32>
  %2 = dl.mul %1, %1 : tensor<16x9xf32>
  %3 = dl.reduce_sum %2 over [0, 1] : (tensor<16x9xf32>) -> tensor<f32>
  %4 = dl.gradient %3 wrt %x : tensor<f32>, tensor<16x32xf32>
  return %4 : tensor<16x32xf32>
}

// CHECK: rt.program @exact_gelu_grad
// CHECK: rt.launch
// CHECK: rt.launch
// CHECK: rt.launch @[[EXACT_SLOPE:k[0-9]+]]
func.func @exact_gelu_grad(%x: tensor<16x36xf32>, %w: tensor<9x36xf32>) -> tensor<16x36xf32> attributes {dl.entry} {
  %0 = dl.gelu %x : tensor<16x36xf32>
  %1 = dl.dot_general %0, %w batch [] x [] contract [1] x [1] : (tensor<16x36xf32>, tensor<9x36xf32>) -> tensor<16x9xf32>
  %2 = dl.mul %1, %1 : tensor<16x9xf32>
  %3 = dl.reduce_sum %2 over [0, 1] : (tensor<16x9xf32>) -> tensor<f32>
  %4 = dl.gradient %3 wrt %x : tensor<f32>, tensor<16x36xf32>
  return %4 : tensor<16x36xf32>
}

// cuBLASLt's gradient takes rows of a multiple of 8.
// CHECK: rt.program @odd_gelu_grad
// CHECK: rt.launch
// CHECK: rt.launch
// CHECK: rt.launch @[[ODD_SLOPE:k[0-9]+]]
func.func @odd_gelu_grad(%x: tensor<16x44xf32>, %w: tensor<9x44xf32>) -> tensor<16x44xf32> attributes {dl.entry} {
  %0 = dl.gelu %x approximate(tanh) : tensor<16x44xf32>
  %1 = dl.dot_general %0, %w batch [] x [] contract [1] x [1] : (tensor<16x44xf32>, tensor<9x44xf32>) -> tensor<16x9xf32>
  %2 = dl.mul %1, %1 : tensor<16x9xf32>
  %3 = dl.reduce_sum %2 over [0, 1] : (tensor<16x9xf32>) -> tensor<f32>
  %4 = dl.gradient %3 wrt %x : tensor<f32>, tensor<16x44xf32>
  return %4 : tensor<16x44xf32>
}

// CHECK-DAG: rt.library @[[LINEAR]]_0 call #rt.matmul<batch = 1, rows = 8, columns = 20, terms = 10, left = <operand = 0, offset = 0, element = f32, row_stride = 10, column_stride = 1, batch_stride = 0>, right = <operand = 1, offset = 0, element = f32, row_stride = 1, column_stride = 10, batch_stride = 0>, result = <operand = 3, offset = 0, element = f32, row_stride = 20, column_stride = 1, batch_stride = 0>, epilogue = relu_bias, bias = 2> workspace(4, at 0, 1048576)
// CHECK-DAG: rt.library @[[GELU]]_0 call #rt.matmul<batch = 1, rows = 8, columns = 24, {{.*}} epilogue = gelu_bias, bias = 2>
// CHECK-DAG: rt.library @[[EXACT]]_0 {{.*}}result = <operand = 3, {{.*}} epilogue = none> workspace(3, at 1024, 1048576)
// CHECK-DAG: gpu.func @[[EXACT]]_1(
// CHECK-DAG: rt.library @[[TWO]]_0 {{.*}}result = <operand = 4, {{.*}} epilogue = none> workspace(4, at 1024, 1048576)
// CHECK-DAG: gpu.func @[[TWO]]_1(
// CHECK-DAG: rt.library @[[TRANSPOSED]]_0 call #rt.matmul<batch = 3, rows = 8, columns = 36, terms = 10, left = <operand = 0, offset = 0, element = f32, row_stride = 1, column_stride = 8, batch_stride = 80>, right = <operand = 1, offset = 0, element = f32, row_stride = 1, column_stride = 10, batch_stride = 360>, result = <operand = 2, offset = 0, element = f32, row_stride = 36, column_stride = 1, batch_stride = 288>, epilogue = none>
// CHECK-DAG: rt.library @[[VECTOR]]_0 call #rt.matmul<batch = 1, rows = 1, columns = 40, terms = 10, left = <operand = 1, {{.*}} row_stride = 10, column_stride = 1, batch_stride = 0>, right = <operand = 0, {{.*}} row_stride = 1, column_stride = 10, {{.*}}result = <operand = 2,
// CHECK-DAG: rt.library @[[NARROW]]_0 {{.*}}element = bf16{{.*}}element = bf16{{.*}}result = <operand = 3, offset = 0, element = bf16, {{.*}} epilogue = bias, bias = 2>
// CHECK-DAG: rt.library @[[WIDE]]_0 {{.*}}element = bf16{{.*}}result = <operand = 4, offset = 0, element = f32, {{.*}} epilogue = none>
// CHECK-DAG: gpu.func @[[WIDE]]_1(
// CHECK-DAG: gpu.func @[[SQUARE]]_1(
// CHECK-DAG: rt.library @[[SLOPE]]_0 {{.*}}rows = 16, columns = 32, terms = 9, {{.*}} epilogue = gelu_grad, aux = 2>
// CHECK-DAG: gpu.func @[[EXACT_SLOPE]]_1(
// CHECK-DAG: gpu.func @[[ODD_SLOPE]]_1(

// What libraries have no call for is generated.
// REMARK-DAG: matmul.mlir:[[#@LINE+2]]:{{[0-9]+}}: remark: a generated kernel, since no library has a call for dimensions that are not one matrix
func.func @two_matrices(%x: tensor<4x10x3xf32>, %w: tensor<10x52xf32>) -> tensor<4x3x52xf32> attributes {dl.entry} {
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x10x3xf32>, tensor<10x52xf32>) -> tensor<4x3x52xf32>
  return %0 : tensor<4x3x52xf32>
}

// REMARK-DAG: matmul.mlir:[[#@LINE+2]]:{{[0-9]+}}: remark: a generated kernel, since no library has a call for elements that are not f32, f16 or bf16
func.func @double(%x: tensor<8x10xf64>, %w: tensor<10x12xf64>) -> tensor<8x12xf64> attributes {dl.entry} {
  %0 = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x10xf64>, tensor<10x12xf64>) -> tensor<8x12xf64>
  return %0 : tensor<8x12xf64>
}

// REMARK-DAG: matmul.mlir:[[#@LINE+3]]:{{[0-9]+}}: remark: a generated kernel, since no library has a call for factors of two types
func.func @mixed(%x: tensor<8x10xbf16>, %w: tensor<10x16xf32>) -> tensor<8x16xf32> attributes {dl.entry} {
  %0 = dl.cast %x : tensor<8x10xbf16> to tensor<8x10xf32>
  %1 = dl.dot_general %0, %w batch [] x [] contract [1] x [0] : (tensor<8x10xf32>, tensor<10x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
